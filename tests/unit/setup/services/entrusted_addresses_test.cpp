// Which address the user has entrusted a key to.
#include "project_trust_fixture.hpp"

namespace heddle::setup {
namespace {

using entrusted_addresses = project_trust;

TEST_F(entrusted_addresses, a_host_alone_means_the_same_port_to_who_judges_and_who_connects) {
    set["OLLAMA_API_KEY"] = "sk-ollama";
    project("[providers.mine]\ntype = \"ollama\"\nbase_url = \"127.0.0.2\"\n");
    // The answer to another question is none to this one.
    allow("http://127.0.0.2:80", "OLLAMA_API_KEY");
    configured_service found = service("mine");
    EXPECT_TRUE(found.provider);
    EXPECT_TRUE(found.key.empty());
    EXPECT_EQ(found.base_url, "http://127.0.0.2:11434");
    EXPECT_THAT(found.identity, HasSubstr("http://127.0.0.2:11434"));
    project("[providers.mine]\ntype = \"ollama\"\nbase_url = \"gpu-box/ai\"\n");
    expect_refused("mine", "http://gpu-box:11434/ai", "OLLAMA_API_KEY");
    allow("http://gpu-box:11434/ai", "OLLAMA_API_KEY");
    expect_sent("mine", "http://gpu-box:11434/ai", "sk-ollama");
    EXPECT_EQ(consents.revoke(project_file()).value(), 2U);
    // The user's variable means another port than the project's URL.
    set["OLLAMA_HOST"] = "127.0.0.1";
    project("[providers.ours]\ntype = \"ollama\"\nbase_url = \"http://127.0.0.1\"\n");
    found = service("ours");
    EXPECT_TRUE(found.key.empty());
    EXPECT_EQ(found.withheld_key, "OLLAMA_API_KEY");
    set["OLLAMA_HOST"] = "gpu-box";
    project("[providers.ours]\ntype = \"ollama\"\nbase_url = \"http://gpu-box\"\n");
    expect_refused("ours", "http://gpu-box:80", "OLLAMA_API_KEY");
    project("[providers.ours]\ntype = \"ollama\"\nbase_url = \"http://GPU-box:11434\"\n");
    expect_sent("ours", "http://GPU-box:11434", "sk-ollama");
    expect_sent("ollama", "http://gpu-box:11434", "sk-ollama");
}

TEST_F(entrusted_addresses, no_key_moves_from_the_users_address_to_the_official_one) {
    const std::string gateway = "base_url = \"http://gateway.test/v1\"\n";
    for (const std::string& own :
         {"[providers.openai]\n" + gateway, "[providers.gate]\ntype = \"openai\"\n" + gateway,
          "[providers.openai-responses]\n" + gateway,
          "[providers.gate]\ntype = \"vllm\"\napi_key_env = \"OPENAI_API_KEY\"\n" + gateway}) {
        SCOPED_TRACE(own);
        user(own);
        const std::string there = "base_url = \"" + official + "\"\n";
        for (const std::string type : {"\"openai\"\n", "\"openai-responses\"\n"}) {
            for (const std::string& url : {std::string(), there}) {
                project("[providers.x]\ntype = " + type + url);
                expect_refused("x", "https://api.openai.com:443/v1", "OPENAI_API_KEY");
            }
        }
        allow("https://api.openai.com:443/v1", "OPENAI_API_KEY");
        project("[providers.x]\ntype = \"openai\"\n");
        expect_sent("x", official, users_key);
        EXPECT_EQ(consents.revoke(project_file()).value(), 1U);
    }
    user("[providers.openai]\n" + gateway);
    project("[providers.openai]\nbase_url = \"" + official + "\"\n");
    expect_refused("openai", "https://api.openai.com:443/v1", "OPENAI_API_KEY");
    project("[providers.openai-responses]\nmax_in_flight = 3\n");
    expect_refused("openai-responses", "https://api.openai.com:443/v1", "OPENAI_API_KEY");
    expect_sent("openai", "http://gateway.test/v1", users_key);
    // A variable is the user's word as well.
    user("");
    variables.openai_base_url = "http://gateway.test/v1";
    project("[providers.x]\ntype = \"openai\"\nbase_url = \"" + official + "\"\n");
    expect_refused("x", "https://api.openai.com:443/v1", "OPENAI_API_KEY");
    project("[providers.x]\ntype = \"openai-responses\"\n");
    expect_sent("x", "http://gateway.test/v1", users_key);
}

TEST_F(entrusted_addresses, what_the_user_sends_to_both_addresses_is_not_asked_about) {
    user(
        "[providers.openai]\nmax_in_flight = 9\n"
        "[providers.gate]\ntype = \"openai\"\nbase_url = \"http://gateway.test/v1\"\n");
    project("[providers.x]\ntype = \"openai\"\n[providers.gate]\nmax_in_flight = 2\n");
    expect_sent("x", official, users_key);
    expect_sent("gate", "http://gateway.test/v1", users_key);
    expect_sent("openai", official, users_key);
    // Another key elsewhere is irrelevant for this one.
    set["WORK_KEY"] = "sk-work";
    user(
        "[providers.gate]\ntype = \"openai\"\nbase_url = \"http://gateway.test/v1\"\n"
        "api_key_env = \"WORK_KEY\"\n");
    project("[providers.x]\ntype = \"openai\"\n");
    expect_sent("x", official, users_key);
}

TEST_F(entrusted_addresses, a_key_in_a_variable_is_no_word_about_the_official_address) {
    const std::string gateway =
        "[providers.gate]\ntype = \"openai\"\nbase_url = \"http://gateway.test/v1\"\n";
    for (const char* asks :
         {"[providers.openai]\nmax_in_flight = 2\n", "model = \"openai:gpt-4o\"\n",
          "model = \"gpt-4o\"\n", "model = \"gpt:4o\"\n", "[aliases]\nfast = \"openai:gpt-4o\"\n",
          "[aliases]\nfast = \"gpt-4o\"\n",
          "[routes.safe]\nmodels = [\"gate:x\", \"openai:gpt-4o\"]\n"}) {
        SCOPED_TRACE(asks);
        project(asks);
        user(gateway);
        expect_refused("openai", "https://api.openai.com:443/v1", "OPENAI_API_KEY");
        allow("https://api.openai.com:443/v1", "OPENAI_API_KEY");
        expect_sent("openai", official, users_key);
        EXPECT_EQ(consents.revoke(project_file()).value(), 1U);
        user(""); // who sends the key nowhere else is not asked
        expect_sent("openai", official, users_key);
    }
    set["GEMINI_API_KEY"] = "g-of-the-user";
    user("[providers.gate]\ntype = \"gemini\"\nbase_url = \"http://gateway.test\"\n");
    project("model = \"gemini:x\"\n");
    expect_refused("gemini", "https://generativelanguage.googleapis.com:443", "GEMINI_API_KEY");
    expect_sent("openai", official, users_key);
}

TEST_F(entrusted_addresses, what_the_user_names_as_well_is_the_users_word) {
    const std::string gateway =
        "[providers.gate]\ntype = \"openai\"\nbase_url = \"http://gateway.test/v1\"\n";
    project("model = \"openai:gpt-4o\"\n");
    for (const std::string& own :
         {"model = \"openai:gpt-5\"\n" + gateway, gateway + "[aliases]\nbig = \"openai:gpt-5\"\n",
          gateway + "[routes.safe]\nmodels = [\"gate:x\", \"openai:gpt-5\"]\n"}) {
        SCOPED_TRACE(own);
        user(own);
        expect_sent("openai", official, users_key);
    }
    user(gateway);
    variables.model = "openai:gpt-5";
    expect_sent("openai", official, users_key);
    variables.model.reset();
    // No setting of the project leads there.
    project("model = \"gate:x\"\n[aliases]\nfast = \"gate:y\"\nquick = \"fast\"\n");
    expect_sent("openai", official, users_key);
    expect_sent("gate", "http://gateway.test/v1", users_key);
}

TEST_F(entrusted_addresses, an_alias_of_the_project_cannot_lead_a_run_elsewhere) {
    user(
        "model = \"fast\"\n[providers.gate]\ntype = \"openai\"\n"
        "base_url = \"http://gateway.test/v1\"\n[aliases]\nfast = \"gate:gpt\"\n");
    EXPECT_EQ(set_up({}), "");
    // What the user calls fast stays that; a name of its own asks first.
    project("[aliases]\nfast = \"openai:gpt-4o\"\n");
    EXPECT_EQ(set_up({}), "");
    expect_sent("gate", "http://gateway.test/v1", users_key);
    project("model = \"quick\"\n[aliases]\nquick = \"openai:gpt-4o\"\n");
    EXPECT_THAT(set_up({}),
                AllOf(HasSubstr(project_file() + ":3: provider 'openai'"),
                      HasSubstr("OPENAI_API_KEY and prompts sent to https://api.openai.com:443")));
}

TEST_F(entrusted_addresses, a_service_that_an_alias_names_needs_no_section) {
    set["GROQ_API_KEY"] = "gsk-of-the-user";
    const std::string asks =
        "model = \"fast\"\n[aliases]\nfast = \"safe\"\n"
        "[routes.safe]\nmodels = [\"groq:llama\"]\n";
    user(asks);
    EXPECT_EQ(set_up({}), "");
    expect_sent("groq", "https://api.groq.com/openai/v1", "gsk-of-the-user");
    user("");
    project(asks);
    EXPECT_EQ(set_up({}), "");
    user("[providers.gate]\ntype = \"groq\"\nbase_url = \"http://gateway.test/v1\"\n");
    expect_refused("groq", "https://api.groq.com:443/openai/v1", "GROQ_API_KEY");
    EXPECT_THAT(set_up({}), HasSubstr(project_file() + ":4: provider 'groq'"));
}

TEST_F(entrusted_addresses, nor_by_the_model_that_a_project_names) {
    user("[providers.openai]\nbase_url = \"http://gateway.test/v1\"\n");
    project("model = \"openai-responses:gpt-4o\"\n");
    service_request options;
    EXPECT_THAT(set_up(options),
                AllOf(HasSubstr(project_file() + ":1: provider 'openai-responses'"),
                      HasSubstr("OPENAI_API_KEY and prompts sent to https://api.openai.com:443")));
    // Whoever types it means it.
    options.model = "openai-responses:gpt-4o";
    EXPECT_EQ(set_up(options), "");
    options.model.reset();
    allow("https://api.openai.com:443/v1", "OPENAI_API_KEY");
    EXPECT_EQ(set_up(options), "");
    EXPECT_EQ(consents.revoke(project_file()).value(), 1U);
    user(
        "model = \"openai-responses:gpt-4o\"\n"
        "[providers.openai]\nbase_url = \"http://gateway.test/v1\"\n");
    EXPECT_EQ(set_up(options), "");
}

TEST_F(entrusted_addresses, the_official_address_gets_nothing_without_a_key_however_it_is_written) {
    variables.openai_api_key = secret();
    project("[providers.x]\ntype = \"openai\"\nbase_url = \"https://API.openai.com:443/v1/\"\n");
    const configured_service found = service("x");
    EXPECT_FALSE(found.provider);
    ASSERT_TRUE(found.failure);
    EXPECT_THAT(found.failure->message(), HasSubstr("no API key"));
}

} // namespace
} // namespace heddle::setup
