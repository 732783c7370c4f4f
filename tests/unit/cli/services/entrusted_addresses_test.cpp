// Which address the user has entrusted a key to.
#include "project_trust_fixture.hpp"

#include <heddle/fs/local_tree.hpp>

namespace heddle::cli {
namespace {

using entrusted_addresses = project_trust;

TEST_F(entrusted_addresses, a_host_alone_means_the_same_port_to_who_judges_and_who_connects) {
    set["OLLAMA_API_KEY"] = "sk-ollama";
    project("[providers.mine]\ntype = \"ollama\"\nbase_url = \"127.0.0.1\"\n");
    // The answer to another question is none to this one.
    allow("http://127.0.0.1:80", "OLLAMA_API_KEY");
    configured_service found = service("mine");
    EXPECT_TRUE(found.provider);
    EXPECT_TRUE(found.key.empty());
    EXPECT_EQ(found.base_url, "http://127.0.0.1:11434");
    EXPECT_THAT(found.identity, HasSubstr("http://127.0.0.1:11434"));
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
    // Another key elsewhere says nothing about this one.
    set["WORK_KEY"] = "sk-work";
    user(
        "[providers.gate]\ntype = \"openai\"\nbase_url = \"http://gateway.test/v1\"\n"
        "api_key_env = \"WORK_KEY\"\n");
    project("[providers.x]\ntype = \"openai\"\n");
    expect_sent("x", official, users_key);
    // The service that is there without any file stays as it is without the project's.
    user("[providers.gate]\ntype = \"openai\"\nbase_url = \"http://gateway.test/v1\"\n");
    project("[providers.openai]\nmax_in_flight = 2\n");
    expect_sent("openai", official, users_key);
}

TEST_F(entrusted_addresses, nor_by_the_model_that_a_project_names) {
    const auto workers = fs::make_worker_pool(loop, 1);
    user("[providers.openai]\nbase_url = \"http://gateway.test/v1\"\n");
    project("model = \"openai-responses:gpt-4o\"\n");
    const auto set_up = [&](const workflow_options& options) {
        const auto found = load();
        EXPECT_TRUE(found) << found.error().message();
        const auto outcome = set_up_models(
            {options, *found, variables, loop, *http, *workers, null_log(), &consents});
        return outcome ? std::string() : outcome.error().message();
    };
    workflow_options options;
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
} // namespace heddle::cli
