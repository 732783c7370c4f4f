#include <heddle/fs/local_tree.hpp>
#include <heddle/http/client.hpp>
#include <heddle/setup/model_setup.hpp>

#include <gmock/gmock.h>

#include <map>

namespace heddle::setup {
namespace {

using ::testing::HasSubstr;

class model_setup_test : public ::testing::Test {
protected:
    model_setup_test() {
        variables.lookup = [this](const std::string& name) -> std::optional<std::string> {
            const auto found = set.find(name);
            if (found == set.end()) return std::nullopt;
            return found->second;
        };
    }
    result<std::unique_ptr<model_setup>> make() {
        return set_up_models({options, settings, variables, loop, *http, *workers, null_log()});
    }
    std::string message() {
        const auto result = make();
        return result ? "no error" : result.error().message() + "; " + result.error().info().hint;
    }
    void configure(std::string name, std::string type, std::string url) {
        provider_config config;
        config.name = std::move(name);
        config.type = std::move(type);
        config.place = {"heddle.toml", 1};
        if (!url.empty()) config.base_url = std::move(url);
        settings.providers.push_back(std::move(config));
    }

    boost::asio::io_context io{1};
    coro::event_loop loop{io};
    std::shared_ptr<ports::http_port> http = http::make_http_client(loop);
    std::unique_ptr<ports::worker_port> workers = fs::make_worker_pool(loop, 1);
    service_request options;
    configuration settings;
    environment variables;
    std::map<std::string, std::string> set;
};

TEST_F(model_setup_test, without_anything_there_is_no_model) {
    const auto result = make().value();
    EXPECT_FALSE(result->any());
    EXPECT_FALSE(result->registry().resolve("", ""));
}

TEST_F(model_setup_test, a_key_of_openai_is_enough) {
    variables.openai_api_key = secret("sk-x");
    const auto result = make().value();
    EXPECT_EQ(result->default_model(), "openai:gpt-4o-mini");
    const auto chosen = result->registry().resolve("gpt-5", "").value();
    EXPECT_EQ(chosen.provider->provider_name(), "openai");
    EXPECT_EQ(chosen.model, "gpt-5");
}

TEST_F(model_setup_test, the_keys_of_other_services_make_them_known) {
    set = {{"ANTHROPIC_API_KEY", "a"}, {"GEMINI_API_KEY", "g"}, {"OLLAMA_HOST", "127.0.0.1"}};
    options.model = "anthropic:claude";
    const auto result = make().value();
    EXPECT_EQ(result->default_model(), "anthropic:claude");
    for (const char* name : {"anthropic", "gemini", "ollama"}) {
        EXPECT_TRUE(result->registry().find(name)) << name;
    }
    EXPECT_FALSE(result->registry().find("openai"));
}

TEST_F(model_setup_test, a_service_that_is_asked_for_by_name_must_work) {
    options.model = "anthropic:claude";
    EXPECT_THAT(message(), HasSubstr("no API key; set ANTHROPIC_API_KEY"));
    options.model = "groq:llama-3";
    EXPECT_THAT(message(), HasSubstr("set GROQ_API_KEY"));
    options.model = "ollama:llama3:8b"; // a server of one's own needs no key
    EXPECT_EQ(make().value()->default_model(), "ollama:llama3:8b");
}

TEST_F(model_setup_test, a_service_that_nobody_asks_for_may_be_broken) {
    variables.openai_api_key = secret("sk-x");
    configure("other", "anthropic", "");
    const auto result = make().value();
    EXPECT_EQ(result->default_model(), "openai:gpt-4o-mini");
    ASSERT_TRUE(result->registry().find("other"));
    std::optional<error> failure;
    for (const configured_service& each : result->services()) {
        if (each.name == "other") failure = each.failure;
    }
    ASSERT_TRUE(failure);
    EXPECT_THAT(failure->message(), HasSubstr("heddle.toml:1: provider 'other': no API key"));
}

// Another service got the prompts, and its key was used.
TEST_F(model_setup_test, no_other_service_takes_the_place_of_one_without_a_key) {
    set = {{"ANTHROPIC_API_KEY", "a"}};
    configure("openai", "", "");
    settings.providers[0].api_key_file = "/nonexistent/key";
    settings.aliases = {{"fast", "gpt-4o-mini", {}}};
    for (const char* model : {"", "gpt-4o-mini", "fast"}) {
        options.model =
            std::string(model).empty() ? std::nullopt : std::optional<std::string>(model);
        const auto result = make().value();
        for (const char* named : {"", "gpt-4o-mini", "fast"}) {
            const auto chosen = result->registry().resolve(named, "").value();
            EXPECT_EQ(chosen.provider->provider_name(), "openai") << model << " " << named;
        }
        EXPECT_EQ(result->registry().resolve("anthropic:claude", "").value().model, "claude");
    }
    // Without any openai the first service there is.
    settings.providers.clear();
    options.model = "claude";
    EXPECT_EQ(make().value()->registry().resolve("", "").value().provider->provider_name(),
              "anthropic");
    // One that only an alias names is not yet configured.
    settings.aliases = {{"fast", "openai:gpt-4o-mini", {}}};
    options.model.reset();
    EXPECT_EQ(make().value()->registry().resolve("claude", "").value().provider->provider_name(),
              "anthropic");
}

TEST_F(model_setup_test, a_provider_of_another_name_has_a_type) {
    configure("mine", "vllm", "http://127.0.0.1:9000/v1");
    settings.model = "mine:qwen";
    EXPECT_EQ(make().value()->default_model(), "mine:qwen");
    settings.providers[0].type = "vlm";
    EXPECT_THAT(message(), HasSubstr("there is no service 'vlm'; did you mean 'vllm'"));
}

TEST_F(model_setup_test, settings_that_a_service_does_not_have_are_refused) {
    configure("gemini", "", "http://127.0.0.1:9000");
    options.model = "gemini:x";
    settings.providers[0].api_version = "v2";
    EXPECT_THAT(message(), HasSubstr("api_version must be \"v1\" or \"v1beta\""));
    settings.providers[0].api_version = "v1beta";
    EXPECT_TRUE(make());
    settings.providers[0].organization = "o";
    EXPECT_THAT(message(), HasSubstr("no organization"));
}

TEST_F(model_setup_test, the_flag_goes_before_the_variable_before_the_file) {
    configure("mine", "vllm", "");
    settings.model = "mine:file";
    EXPECT_EQ(make().value()->default_model(), "mine:file");
    variables.model = "mine:variable";
    EXPECT_EQ(make().value()->default_model(), "mine:variable");
    options.model = "mine:flag";
    EXPECT_EQ(make().value()->default_model(), "mine:flag");
}

TEST_F(model_setup_test, unknown_providers_are_reported_with_a_hint) {
    options.model = "anthropc:claude";
    EXPECT_THAT(message(), HasSubstr("did you mean 'anthropic'"));
    options.model = "gpt-4o";
    EXPECT_THAT(message(), HasSubstr("no service is configured for the model 'gpt-4o'"));
    options.model = "scripted:";
    EXPECT_THAT(message(), HasSubstr("names no file with rules"));
}

// A request for another service went to the one that had a key.
TEST_F(model_setup_test, unknown_providers_are_reported_where_another_one_has_a_key) {
    variables.openai_api_key = secret("sk-x");
    for (const char* model : {"opanai:x", "llama3:8b"}) {
        options.model = model;
        EXPECT_THAT(message(), HasSubstr("there is no model provider '")) << model;
        EXPECT_THAT(message(), HasSubstr(std::string("is written openai:") + model));
    }
    options.model = "opanai:x";
    EXPECT_THAT(message(), HasSubstr("did you mean 'openai'?"));
    options.model = "ft:gpt-4o-mini:me::1";
    EXPECT_TRUE(make());
    options.model = "gpt-5";
    EXPECT_FALSE(make().value()->registry().resolve("opanai:x", "")); // of a template
}

TEST_F(model_setup_test, a_list_of_models_without_any_accepts_none) {
    variables.openai_api_key = secret("sk-x");
    configure("openai", "", "");
    settings.providers[0].models.emplace();
    const auto result = make().value();
    EXPECT_FALSE(result->registry().resolve("gpt-5", ""));
    settings.providers[0].models = {{"gpt-4o"}};
    EXPECT_TRUE(make().value()->registry().resolve("gpt-4o-mini", ""));
}

TEST_F(model_setup_test, models_of_local_servers_have_colons) {
    set = {{"OLLAMA_HOST", "127.0.0.1"}};
    for (const char* model : {"llama3:8b", "llama:7b", "mixtral:8x7b"}) {
        options.model = model;
        const auto result = make().value();
        const auto chosen = result->registry().resolve("", "").value();
        EXPECT_EQ(chosen.provider->provider_name(), "ollama");
        EXPECT_EQ(chosen.model, model);
    }
    set = {};
    variables.openai_api_key = secret("sk-x");
    options.base_url = "http://127.0.0.1:9000/v1";
    EXPECT_EQ(make().value()->registry().resolve("", "").value().model, "mixtral:8x7b");
    options.model = "opanai:x";
    EXPECT_THAT(message(), HasSubstr("did you mean 'openai'?"));
}

} // namespace
} // namespace heddle::setup
