// A project that refers to the user's account by another name than the user does.
#include "services/account_bounds.hpp"
#include "project_trust_fixture.hpp"

namespace heddle::setup {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class account_bounds_test : public project_trust {
protected:
    /// `name` with all layers, and bounded by the sections of the user.
    [[nodiscard]] provider_config bounded(const std::string& name) const {
        const auto found = load();
        EXPECT_TRUE(found) << found.error().message();
        provider_config settings;
        settings.name = name;
        if (const provider_config* said = found->provider(name)) settings = *said;
        account_bounds bounds(variables);
        for (const provider_config& each : found->without_project->providers) bounds.add(each);
        bounds.restrict(settings);
        return settings;
    }
    [[nodiscard]] std::optional<std::vector<std::string>> models_of(const std::string& name) {
        return service(name).models;
    }
};

TEST_F(account_bounds_test, another_name_has_the_bounds_of_the_users_name) {
    user(
        "[providers.work]\ntype = \"openai\"\nmodels = [\"gpt-4o-mini\"]\ntotal_timeout = 1\n"
        "idle_timeout = 2\nmax_retries = 0\nmax_in_flight = 3\nrequests_per_minute = 9\n");
    for (
        const char* theirs :
        {"[providers.again]\ntype = \"openai\"\n",
         "[providers.again]\ntype = \"openai\"\n"
         "total_timeout = 100\nmax_in_flight = 50\n",
         "[providers.again]\ntype = \"openai\"\nbase_url = \"HTTPS://API.OpenAI.com:443/v1/\"\n"}) {
        project(theirs);
        const provider_config again = bounded("again");
        EXPECT_THAT(again.models.value(), ElementsAre("gpt-4o-mini")) << theirs;
        EXPECT_EQ(again.total_timeout, 1s) << theirs;
        EXPECT_EQ(again.idle_timeout, 2s);
        EXPECT_EQ(again.max_retries, 0);
        EXPECT_EQ(again.max_in_flight, 3);
        EXPECT_EQ(again.requests_per_minute, 9);
        EXPECT_THAT(service("again").models.value(), ElementsAre("gpt-4o-mini")) << theirs;
    }
    project(
        "[providers.again]\ntype = \"openai\"\nmax_in_flight = 2\n"
        "models = [\"gpt-4o-mini-2024\", \"gpt-5\"]\n");
    EXPECT_EQ(bounded("again").max_in_flight, 2);
    EXPECT_THAT(bounded("again").models.value(), ElementsAre("gpt-4o-mini-2024"));
}

TEST_F(account_bounds_test, so_has_the_name_of_the_type) {
    user("[providers.work]\ntype = \"openai\"\nmodels = [\"gpt-4o-mini\"]\n");
    project("model = \"openai:gpt-5\"\n");
    EXPECT_THAT(service("openai").models.value(), ElementsAre("gpt-4o-mini"));
    const auto found = load();
    const auto models = set_up_models(
        {service_request{}, *found, variables, loop, *http, *workers, null_log(), &consents});
    ASSERT_TRUE(models) << models.error().message();
    EXPECT_TRUE((*models)->registry().resolve("openai:gpt-4o-mini", ""));
    const auto refused = (*models)->registry().resolve("openai:gpt-5", "");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(),
                AllOf(HasSubstr("gpt-5"), HasSubstr("(models in " + variables.config_home.value() +
                                                    "/heddle/heddle.toml:3)")));
    // A workflow may name it, too.
    project("");
    EXPECT_THAT(service("openai").models.value(), ElementsAre("gpt-4o-mini"));
    // So has a section of the project.
    project("[providers.openai]\nmax_in_flight = 50\n");
    EXPECT_THAT(service("openai").models.value(), ElementsAre("gpt-4o-mini"));
}

TEST_F(account_bounds_test, what_the_user_refers_to_is_theirs) {
    const std::string work = "[providers.work]\ntype = \"openai\"\nmodels = [\"gpt-4o-mini\"]\n";
    for (const char* theirs : {"concurrency = 3\n", "[providers.openai]\nmax_in_flight = 50\n",
                               "[providers.again]\ntype = \"openai\"\n"}) {
        project(theirs);
        for (const char* own :
             {"[aliases]\nbig = \"openai:gpt-5\"\n", "[aliases]\nbig = \"gpt-5\"\n",
              "[routes.safe]\nmodels = [\"openai:gpt-5\"]\n"}) {
            user(work + own);
            EXPECT_FALSE(models_of("openai")) << theirs << own;
            EXPECT_EQ(set_up({}), "") << theirs << own;
        }
        for (const char* model : {"model = \"gpt-5\"\n", "model = \"openai:gpt-5\"\n"}) {
            user(model + work);
            EXPECT_FALSE(models_of("openai")) << theirs << model;
        }
        user(work);
        EXPECT_TRUE(models_of("openai")) << theirs;
        for (const char* model : {"gpt-5", "openai:gpt-5"}) {
            variables.model = model;
            EXPECT_FALSE(models_of("openai")) << theirs << model;
        }
        variables.model.reset();
    }
    EXPECT_TRUE(models_of("again"));
    variables.model = "openai:gpt-5"; // the user's own name for the account is not bounded
    EXPECT_FALSE(models_of("again"));
}

// A section of the project became the first service, and so the user's own name for the account.
TEST_F(account_bounds_test, a_section_of_the_project_is_not_the_first_service) {
    variables.openai_api_key = secret();
    user(
        "model = \"cheap\"\n[providers.mine]\ntype = \"openai\"\n"
        "base_url = \"http://127.0.0.1:8000/v1\"\nmodels = [\"cheap\"]\nmax_retries = 0\n");
    for (const char* theirs : {"[providers.vllm]\n", "[providers.vllm]\nmax_in_flight = 9\n"}) {
        project(theirs);
        EXPECT_THAT(models_of("vllm").value(), ElementsAre("cheap")) << theirs;
        const auto found = load();
        const auto services = configured_services(
            *found, flag, {*http, loop, null_log(), limiters, variables, *found, 0, &consents});
        EXPECT_EQ(services.front().name, "mine") << theirs;
    }
}

TEST_F(account_bounds_test, the_loosest_of_the_users_own_names_is_the_bound) {
    user(
        "[providers.quick]\ntype = \"openai\"\nmodels = [\"gpt-4o-mini\"]\ntotal_timeout = 1\n"
        "[providers.slow]\ntype = \"openai\"\nmodels = [\"o3\"]\ntotal_timeout = 60\n"
        "max_retries = 0\n");
    project("[providers.again]\ntype = \"openai\"\n");
    const provider_config again = bounded("again");
    EXPECT_THAT(again.models.value(), ElementsAre("gpt-4o-mini", "o3"));
    EXPECT_EQ(again.total_timeout, 60s);
    EXPECT_FALSE(again.max_retries);
    // Their own names keep their own.
    EXPECT_EQ(bounded("quick").total_timeout, 1s);
    EXPECT_THAT(bounded("quick").models.value(), ElementsAre("gpt-4o-mini"));
    // One of them at the address of the other has the bounds of both.
    user(
        "[providers.work]\ntype = \"openai\"\nmodels = [\"gpt-4o-mini\"]\n"
        "[providers.home]\ntype = \"openai\"\nbase_url = \"https://home.test/v1\"\n"
        "api_key_env = \"HOME_KEY\"\n[providers.openai]\n");
    project("[providers.home]\nbase_url = \"https://api.openai.com/v1\"\n");
    set["HOME_KEY"] = users_key;
    EXPECT_FALSE(bounded("home").models); // [providers.openai] has no list
}

TEST_F(account_bounds_test, another_account_is_not_bounded) {
    user(
        "[providers.work]\ntype = \"openai\"\nbase_url = \"https://work.test/v1\"\n"
        "models = [\"m\"]\ntotal_timeout = 1\n"
        "[providers.second]\ntype = \"openai\"\napi_key_env = \"SECOND\"\nmodels = [\"n\"]\n");
    set["SECOND"] = "sk-another";
    project(
        "[providers.again]\ntype = \"openai\"\n"
        "[providers.mine]\ntype = \"openai\"\nbase_url = \"http://localhost:8000/v1\"\n"
        "[providers.other]\ntype = \"anthropic\"\n");
    for (const char* name : {"again", "mine", "other"}) {
        EXPECT_FALSE(bounded(name).models) << name;
        EXPECT_FALSE(bounded(name).total_timeout) << name;
    }
    for (const std::string& same : {users_key, users_key + " "}) {
        set["SECOND"] = same; // the same one after all
        EXPECT_THAT(bounded("again").models.value(), ElementsAre("n"));
    }
}

// Whether it is the same is not known before the file is read, or the command run.
TEST_F(account_bounds_test, a_key_of_a_file_may_be_that_of_the_variable) {
    for (const char* key : {"api_key_file = \"key\"\n", "api_key_command = [\"cat\", \"key\"]\n"}) {
        user(std::string("[providers.work]\ntype = \"openai\"\nmodels = [\"m\"]\n") + key);
        project("[providers.again]\ntype = \"openai\"\n");
        EXPECT_THAT(bounded("again").models.value(), ElementsAre("m"));
    }
}

TEST_F(account_bounds_test, another_spelling_is_the_same_place) {
    user(
        "[providers.work]\ntype = \"openai\"\nbase_url = \"http://127.0.0.1:8000/v1\"\n"
        "models = [\"m\"]\n");
    for (const char* url :
         {"http://localhost:8000/v1", "HTTP://127.0.0.1:8000//v1", "http://[::1]:8000/v1/.",
          "http://127.0.0.1:8000/x/../v1", "http://127.0.0.1:8000/%761"}) {
        project(std::string("[providers.again]\ntype = \"vllm\"\nbase_url = \"") + url + "\"\n");
        EXPECT_THAT(bounded("again").models.value(), ElementsAre("m")) << url;
    }
    project("[providers.again]\ntype = \"vllm\"\nbase_url = \"http://127.0.0.1:8001/v1\"\n");
    EXPECT_FALSE(bounded("again").models);
}

TEST_F(account_bounds_test, without_a_project_names_are_the_users) {
    user("[providers.work]\ntype = \"openai\"\nmodels = [\"gpt-4o-mini\"]\n");
    EXPECT_FALSE(service("openai").models);
    project("");
    EXPECT_TRUE(service("openai").models);
    // The address is the user's word, the model is not.
    flag = official;
    EXPECT_TRUE(service("openai").models);
    flag = "https://flag.test/v1";
    EXPECT_FALSE(service("openai").models);
}

} // namespace
} // namespace heddle::setup
