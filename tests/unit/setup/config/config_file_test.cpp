#include <heddle/setup/config/config_file.hpp>

#include <gmock/gmock.h>
#include <hang_guard.hpp>

#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

namespace heddle::setup {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

configuration read(std::string_view text, config_trust trust = config_trust::user) {
    auto result = read_config(text, "heddle.toml", "/work/here", trust);
    EXPECT_TRUE(result) << result.error().message();
    return result ? *std::move(result) : configuration{};
}

std::vector<std::string> mistakes(std::string_view text, config_trust trust = config_trust::user) {
    const auto read = read_config(text, "heddle.toml", "/work/here", trust);
    if (read) return {};
    const auto* report = dynamic_cast<const config_report*>(read.error().info().payload.get());
    return report ? report->lines : std::vector<std::string>{read.error().message()};
}

TEST(config_file, reads_every_setting) {
    const configuration result = read(R"(
model = "fast"
concurrency = 500
prices = "prices.json"
tasks = ["tasks", "/shared/tasks"]
aider = ["aider", "--no-git"]

[providers.mine]
type = "vllm"
base_url = "http://127.0.0.1:8000/v1"
api_key_env = "MINE_KEY"
api_version = "v1beta"
organization = "org"
project = "p"
models = ["llama-", "qwen-"]
max_in_flight = 64
requests_per_minute = 1000
tokens_per_minute = 400000
input_tokens_per_minute = 300000
output_tokens_per_minute = 100000
connect_timeout = "500ms"
first_byte_timeout = "10m"
idle_timeout = 30
total_timeout = "1.5h"
max_retries = 2
share_prompt_prefixes = false

[aliases]
fast = "mine:llama-8b"

[routes.safe]
models = ["mine:llama-8b", "openai:gpt-4o-mini"]
hedge_after = "2s"
hedge_share = 0.05
on_authentication_failure = true

[cache]
enabled = true
file = "answers.db"
keep_for = "7d"
max_size = "500MB"

[http]
http_proxy = "http://proxy:3128"
https_proxy = "http://proxy:3128"
no_proxy = "localhost,.corp"
ca_file = "/etc/ca.pem"
ca_directory = "ca"
max_connections = 1000
user_agent = "mine/1"
)");
    EXPECT_EQ(result.model, "fast");
    EXPECT_EQ(result.concurrency, 500);
    EXPECT_EQ(result.prices, "/work/here/prices.json");
    EXPECT_THAT(result.tasks, ElementsAre("/work/here/tasks", "/shared/tasks"));
    EXPECT_THAT(result.aider, ElementsAre("aider", "--no-git"));
    const provider_config* mine = result.provider("mine");
    ASSERT_TRUE(mine);
    EXPECT_EQ(mine->type, "vllm");
    EXPECT_EQ(mine->place.line, 8U);
    EXPECT_EQ(mine->api_key_env, "MINE_KEY");
    EXPECT_THAT(mine->models.value(), ElementsAre("llama-", "qwen-"));
    EXPECT_EQ(mine->max_in_flight, 64);
    EXPECT_EQ(mine->output_tokens_per_minute, 100'000);
    EXPECT_EQ(mine->connect_timeout, 500ms);
    EXPECT_EQ(mine->first_byte_timeout, 10min);
    EXPECT_EQ(mine->idle_timeout, 30s);
    EXPECT_EQ(mine->total_timeout, 90min);
    EXPECT_EQ(mine->max_retries, 2);
    EXPECT_EQ(mine->share_prompt_prefixes, false);
    ASSERT_EQ(result.aliases.size(), 1U);
    EXPECT_EQ(result.aliases[0].model, "mine:llama-8b");
    ASSERT_EQ(result.routes.size(), 1U);
    EXPECT_THAT(result.routes[0].models, ElementsAre("mine:llama-8b", "openai:gpt-4o-mini"));
    EXPECT_EQ(result.routes[0].hedge_after, 2s);
    EXPECT_EQ(result.routes[0].hedge_share, 0.05);
    EXPECT_EQ(result.cache.enabled, true);
    EXPECT_EQ(result.cache.file, "/work/here/answers.db");
    EXPECT_EQ(result.cache.keep_for, 24h * 7);
    EXPECT_EQ(result.cache.max_bytes, 500'000'000U);
    EXPECT_EQ(result.http.https_proxy, "http://proxy:3128");
    EXPECT_EQ(result.http.ca_directory, "/work/here/ca");
    EXPECT_EQ(result.http.max_connections, 1000);
}

TEST(config_file, reports_all_mistakes_with_their_places) {
    EXPECT_THAT(mistakes("modle = \"x\"\nconcurrency = 0\n[cache]\nkeep_for = \"soon\"\n"
                         "[providers.a]\nmax_retries = \"two\"\ntypo = 1\n"),
                ElementsAre(HasSubstr("heddle.toml:1: there is no setting 'modle'"),
                            HasSubstr("heddle.toml:2: concurrency must be a whole number from 1 to "
                                      "1000000, not 0"),
                            HasSubstr("heddle.toml:4: cache.keep_for"),
                            HasSubstr("heddle.toml:6: providers.a.max_retries"),
                            HasSubstr("heddle.toml:7: providers.a has no setting 'typo'")));
}

TEST(config_file, no_alias_or_route_takes_the_place_of_a_model_of_a_service) {
    EXPECT_THAT(
        mistakes("[aliases]\nfast = \"office:qwen\"\n\"office:qwen\" = \"cloud:x\"\n"
                 "[routes.\"office:safe\"]\nmodels = [\"cloud:x\"]\n"),
        ElementsAre("heddle.toml:3: aliases.office:qwen: the name of an alias or a route has "
                    "no colon",
                    "heddle.toml:4: routes.office:safe: the name of an alias or a route has "
                    "no colon"));
}

TEST(config_file, aliases_that_lead_in_a_circle_are_named) {
    EXPECT_THAT(mistakes("[aliases]\nfast = \"openai:m\"\na = \"b\"\nb = \"c\"\nc = \"b\"\n"
                         "self = \"self\"\nquick = \"fast\"\n"),
                ElementsAre("heddle.toml:4: the aliases lead in a circle: b -> c -> b",
                            "heddle.toml:6: the aliases lead in a circle: self -> self"));
}

TEST(config_file, a_service_that_does_not_exist_is_reported_with_the_other_mistakes) {
    EXPECT_THAT(mistakes("modle = \"x\"\n[providers.x]\ntype = \"opnai\"\nmax_retries = -1\n"
                         "[providers.y]\ntype = \"a service of ours\"\n"),
                ElementsAre(HasSubstr("heddle.toml:1: there is no setting 'modle'"),
                            HasSubstr("heddle.toml:3: providers.x.type: there is no service "
                                      "'opnai'; did you mean 'openai'"),
                            HasSubstr("heddle.toml:4: providers.x.max_retries"),
                            "heddle.toml:6: providers.y.type: there is no service 'a service of "
                            "ours'"));
    EXPECT_EQ(mistakes("[providers.x]\ntype = 1\n").size(), 1U);
}

TEST(config_file, reports_what_is_expected) {
    EXPECT_THAT(mistakes("modle = \"x\""), ElementsAre(HasSubstr("did you mean")));
    EXPECT_THAT(mistakes("concurrency = 0"),
                ElementsAre(HasSubstr("concurrency must be a whole number from 1 to 1000000")));
    EXPECT_THAT(mistakes("[cache]\nkeep_for = \"soon\""),
                ElementsAre("heddle.toml:2: cache.keep_for must be a time: seconds, or text such "
                            "as \"500ms\", \"30s\", \"10m\", \"12h\", \"7d\""));
    EXPECT_THAT(mistakes("[cache]\nmax_size = \"1 furlong\""), ElementsAre(HasSubstr("a size")));
    EXPECT_THAT(mistakes("[providers.a]\nbase_url = 3"),
                ElementsAre("heddle.toml:2: providers.a.base_url must be a string, not 3"));
    EXPECT_THAT(mistakes("providers = 3"), ElementsAre(HasSubstr("must be a table")));
    EXPECT_THAT(mistakes("[routes.r]\nhedge_share = 2\nmodels = [\"a\"]"),
                ElementsAre(HasSubstr("a number from 0 to 1")));
    EXPECT_THAT(mistakes("[routes.r]\nhedge_after = 2"), ElementsAre(HasSubstr("names no models")));
    EXPECT_THAT(mistakes("tasks = [1]"), ElementsAre(HasSubstr("list of strings")));
    EXPECT_THAT(mistakes("[providers.\"a:b\"]\n"), ElementsAre(HasSubstr("no colon")));
}

TEST(config_file, refuses_a_key_in_the_file_without_showing_it) {
    const auto reported = mistakes("[providers.openai]\napi_key = \"sk-secret\"\n");
    EXPECT_THAT(reported, ElementsAre(HasSubstr("api_key_env")));
    EXPECT_EQ(reported[0].find("sk-secret"), std::string::npos);
}

TEST(config_file, refuses_two_places_for_one_key) {
    EXPECT_THAT(mistakes("[providers.a]\napi_key_env = \"A\"\napi_key_file = \"b\"\n"),
                ElementsAre(HasSubstr("more than one place for its key")));
}

TEST(config_file, takes_no_commands_and_key_files_from_a_project) {
    EXPECT_THAT(mistakes("aider = [\"sh\"]\n[providers.a]\napi_key_command = [\"sh\", \"-c\", "
                         "\"x\"]\n",
                         config_trust::project),
                ElementsAre(HasSubstr("aider is taken from your own"),
                            HasSubstr("api_key_command is taken from your own")));
}

TEST(config_file, takes_no_account_that_pays_from_a_project) {
    EXPECT_THAT(mistakes("[providers.openai]\norganization = \"o\"\nproject = \"p\"\n",
                         config_trust::project),
                ElementsAre(HasSubstr("organization is taken from your own"),
                            HasSubstr("project is taken from your own")));
}

TEST(config_file, many_services_are_read_in_the_time_of_their_number) {
    // With squares of the number this took minutes.
    std::string text;
    for (int i = 0; i < 40'000; ++i) text += "[providers.p" + std::to_string(i) + "]\n";
    const auto began = std::chrono::steady_clock::now();
    configuration result = read(text);
    lay_over(result, read(text));
    EXPECT_EQ(result.providers.size(), 40'000U);
    EXPECT_LT(std::chrono::steady_clock::now() - began, hang_guard::limit);
}

TEST(config_file, settings_of_requests_are_those_of_the_language) {
    const configuration result = read(R"(
[providers.mine]
type = "vllm"
[providers.mine.request]
temperature = 0.5
max_tokens = 100
top_p = 1
seed = -3
stop = ["END", "STOP"]
tool_choice = "auto"
parallel_tool_calls = false
reasoning_effort = "low"
reasoning_tokens = 0
prompt_cache = false
park = true
extra_parameters = { top_k = 40, nested = { a = [1, "b"] } }
)");
    EXPECT_EQ(tasks::parameters_json(result.providers.at(0).request),
              R"({"temperature":5E-1,"max_tokens":100,"top_p":1E0,"seed":-3,)"
              R"("stop":["END","STOP"],"tool_choice":"auto","parallel_tool_calls":false,)"
              R"("reasoning_effort":"low","reasoning_tokens":0,"prompt_cache":false,"park":true,)"
              R"("extra_parameters":{"nested":{"a":[1,"b"]},"top_k":40}})");
    EXPECT_THAT(mistakes("[providers.a.request]\ntemperature = nan\ntop_p = -inf\n"),
                ElementsAre(HasSubstr("not NaN"), HasSubstr("not infinity")));
    EXPECT_THAT(mistakes("[providers.a.request]\ntop_p = 2\nseed = 1.5\nstop = []\n"
                         "reasoning_effort = 3\ntop-p = 0.5\nextra_parameters = \"x\"\n"),
                ElementsAre(HasSubstr("2: providers.a.request.top_p must be a number from 0 to 1"),
                            HasSubstr("3: providers.a.request.seed must be a whole number"),
                            HasSubstr("4: providers.a.request.stop must be"),
                            HasSubstr("5: providers.a.request.reasoning_effort must be a string"),
                            HasSubstr("6: providers.a.request has no setting 'top-p'"),
                            HasSubstr("7: providers.a.request.extra_parameters must be a map")));
}

TEST(config_file, the_user_agent_is_a_text_or_false) {
    EXPECT_EQ(read("[http]\nuser_agent = \"mine/1\"\n").http.user_agent, "mine/1");
    EXPECT_EQ(read("[http]\nuser_agent = false\n").http.user_agent, "");
    for (const char* wrong : {"true", "1", "\"\"", "\"a\\r\\nb: c\"", "\"\u00e4\""}) {
        EXPECT_THAT(mistakes(std::string("[http]\nuser_agent = ") + wrong + "\n"),
                    ElementsAre(HasSubstr("http.user_agent must be false, or a text")))
            << wrong;
    }
}

TEST(config_file, survives_hostile_text) {
    // Each of these ended the program: parsers take tables apart by recursion.
    std::string dots;
    for (int i = 0; i < 200'000; ++i) dots += "a.";
    for (const std::string& deep :
         {"[" + dots + "b]", dots + "b = 1", "x = {" + dots + "b = 1}", "[[" + dots + "b]]",
          "[x]\n" + dots + "b = 1", std::string(100'000, '['), "x = " + std::string(100'000, '['),
          "x = " + std::string(100'000, '{'), "\"quoted\"." + dots + "b = 1"}) {
        EXPECT_THAT(mistakes(deep), ElementsAre(HasSubstr("nested deeper than 16")));
    }
    EXPECT_FALSE(mistakes("a = \"\xff\xfe\"").empty());
    EXPECT_FALSE(mistakes(std::string("a = \0", 5)).empty());
    std::string many;
    for (int i = 0; i < 1000; ++i) many += "k" + std::to_string(i) + " = 1\n";
    EXPECT_EQ(mistakes(many).size(), 50U);
    EXPECT_TRUE(mistakes("").empty());
}

class config_folders : public ::testing::Test {
protected:
    config_folders() {
        std::string name = (std::filesystem::temp_directory_path() / "heddle-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
        root = name;
        std::filesystem::create_directories(root / "project" / "deep" / "er");
        std::filesystem::create_directories(root / "user" / "heddle");
    }
    ~config_folders() override {
        std::error_code ignored;
        std::filesystem::remove_all(root, ignored);
    }
    void write(const std::string& file, const std::string& text) const {
        std::ofstream(root / file) << text;
    }
    [[nodiscard]] result<configuration> find(std::optional<std::string> named = {}) const {
        return find_config(
            {named, (root / "project" / "deep" / "er").string(), (root / "user").string()});
    }
    std::filesystem::path root;
};

TEST_F(config_folders, no_file_is_an_empty_configuration) {
    const auto found = find().value();
    EXPECT_TRUE(found.files.empty());
    EXPECT_FALSE(found.model);
}

// They were taken for absent: prompts and the key went to the official address.
TEST_F(config_folders, what_is_in_the_place_of_a_file_is_not_passed_over) {
    const auto message = [&] {
        const auto found = find();
        return found ? "no error" : found.error().message() + "; " + found.error().info().hint;
    };
    for (const char* folder : {"project", "user/heddle"}) {
        SCOPED_TRACE(folder);
        const auto file = root / folder / "heddle.toml";
        std::filesystem::create_directory(file);
        EXPECT_THAT(message(), HasSubstr(file.string() + ": is a directory; "));
        EXPECT_THAT(message(), HasSubstr("name another file as the configuration"));
        std::filesystem::remove(file);
        ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
        EXPECT_THAT(message(), HasSubstr(file.string() + ": is not a regular file"));
        std::filesystem::remove(file);
        std::filesystem::create_symlink("gone.toml", file);
        EXPECT_THAT(message(), HasSubstr(file.string() + ": is a link that leads nowhere"));
        std::filesystem::remove(file);
        std::filesystem::create_symlink("heddle.toml", file);
        EXPECT_THAT(message(), HasSubstr(file.string() + ": cannot be found: "));
        std::filesystem::remove(file);
        EXPECT_EQ(message(), "no error");
    }
    std::filesystem::remove(root / "user" / "heddle");
    EXPECT_EQ(message(), "no error");
    std::filesystem::create_symlink(root / "gone", root / "user" / "heddle");
    EXPECT_THAT(message(), HasSubstr("heddle is a link that leads nowhere"));
    std::filesystem::remove(root / "user" / "heddle");
    write("user/heddle", "a file");
    EXPECT_EQ(message(), "no error");
}

TEST_F(config_folders, a_folder_without_permission_is_not_passed_over) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may look everywhere";
    write("user/heddle/heddle.toml", "model = \"mine\"\n");
    std::filesystem::permissions(root / "user" / "heddle", std::filesystem::perms::none);
    const auto found = find();
    std::filesystem::permissions(root / "user" / "heddle", std::filesystem::perms::owner_all);
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().message(), HasSubstr("whether there is a file: Permission"));
}

TEST_F(config_folders, the_project_goes_over_the_user) {
    write("project/heddle.toml",
          "model = \"project\"\n[providers.a]\nmax_in_flight = 3\n"
          "[aliases]\nx = \"a:1\"\n");
    write("user/heddle/heddle.toml",
          "model = \"user\"\nconcurrency = 7\n[providers.a]\nmax_in_flight = 5\n"
          "api_key_file = \"key\"\n[providers.b]\n[aliases]\nx = \"b:1\"\ny = \"b:2\"\n");
    const auto found = find().value();
    EXPECT_EQ(found.model, "project");
    EXPECT_EQ(found.concurrency, 7);
    EXPECT_EQ(found.provider("a")->max_in_flight, 3);
    EXPECT_EQ(found.provider("a")->api_key_file, (root / "user" / "heddle" / "key").string());
    EXPECT_TRUE(found.provider("b"));
    ASSERT_EQ(found.aliases.size(), 2U);
    EXPECT_EQ(found.files.size(), 2U);
}

TEST_F(config_folders, what_the_users_names_refer_to_keeps_its_meaning) {
    write("project/heddle.toml",
          "[aliases]\ncheap = \"dear:opus\"\nother = \"dear:opus\"\ntheirs = \"dear:opus\"\n"
          "[routes.small]\nmodels = [\"dear:opus\"]\n[providers.dear]\ntype = \"openai\"\n");
    write("user/heddle/heddle.toml",
          "model = \"small\"\n[aliases]\nfast = \"cheap\"\n[routes.both]\n"
          "models = [\"other\", \"a:m\"]\n[providers.a]\ntype = \"openai\"\n");
    const auto found = find().value();
    std::vector<std::string> names;
    for (const alias_config& each : found.aliases) names.push_back(each.name);
    EXPECT_THAT(names, testing::UnorderedElementsAre("fast", "theirs"));
    ASSERT_EQ(found.routes.size(), 1U);
    EXPECT_EQ(found.routes[0].name, "both");
}

TEST_F(config_folders, a_project_loosens_no_limit_of_the_user) {
    const std::string limits =
        "max_in_flight = 2\nrequests_per_minute = 60\n"
        "tokens_per_minute = 50\ninput_tokens_per_minute = 40\n"
        "output_tokens_per_minute = 30\nmax_retries = 1\nconnect_timeout = 1\n"
        "first_byte_timeout = 2\nidle_timeout = 3\ntotal_timeout = 4\n";
    const std::string high =
        "max_in_flight = 9\nrequests_per_minute = 9000\n"
        "tokens_per_minute = 9000\ninput_tokens_per_minute = 9000\n"
        "output_tokens_per_minute = 9000\nmax_retries = 9\nconnect_timeout = \"1d\"\n"
        "first_byte_timeout = \"1d\"\nidle_timeout = \"1d\"\ntotal_timeout = \"1d\"\n";
    const std::string run = "concurrency = 4\nmemory_limit = \"30MB\"\nstep_limit = 1000\n";
    const std::string high_run = "concurrency = 400\nmemory_limit = \"4GiB\"\nstep_limit = 9000\n";
    for (const bool project_is_high : {true, false}) {
        write("project/heddle.toml", (project_is_high ? high_run : run) + "[providers.a]\n" +
                                         (project_is_high ? high : limits));
        write("user/heddle/heddle.toml", (project_is_high ? run : high_run) + "[providers.a]\n" +
                                             (project_is_high ? limits : high));
        const auto found = find().value();
        EXPECT_EQ(found.concurrency, 4);
        EXPECT_EQ(found.memory_limit, 30'000'000);
        EXPECT_EQ(found.step_limit, 1000);
        const provider_config& service = *found.provider("a");
        EXPECT_EQ(service.max_in_flight, 2);
        EXPECT_EQ(service.requests_per_minute, 60);
        EXPECT_EQ(service.tokens_per_minute, 50);
        EXPECT_EQ(service.input_tokens_per_minute, 40);
        EXPECT_EQ(service.output_tokens_per_minute, 30);
        EXPECT_EQ(service.max_retries, 1);
        EXPECT_EQ(service.connect_timeout, 1s);
        EXPECT_EQ(service.first_byte_timeout, 2s);
        EXPECT_EQ(service.idle_timeout, 3s);
        EXPECT_EQ(service.total_timeout, 4s);
    }
}

// The list of the project took the place of the user's, and so any model was paid for.
TEST_F(config_folders, a_project_adds_no_models_to_those_of_the_user) {
    const auto models_of = [&](const std::string& project, const std::string& user) {
        write("project/heddle.toml", "[providers.a]\n" + project);
        write("user/heddle/heddle.toml", "[providers.a]\n" + user);
        return find().value().provider("a")->models;
    };
    const std::string mini = "models = [\"gpt-4o-mini\"]\n";
    EXPECT_THAT(models_of("models = [\"gpt\"]\n", mini).value(), ElementsAre("gpt-4o-mini"));
    EXPECT_THAT(models_of(mini, "models = [\"o1\", \"gpt\"]\n").value(),
                ElementsAre("gpt-4o-mini"));
    EXPECT_THAT(models_of(mini, "").value(), ElementsAre("gpt-4o-mini"));
    EXPECT_THAT(models_of("", mini).value(), ElementsAre("gpt-4o-mini"));
    EXPECT_FALSE(models_of("", ""));
    EXPECT_THAT(models_of("models = [\"gpt-5\"]\n", mini).value(), IsEmpty());
}

TEST_F(config_folders, names_that_the_user_has_given_keep_their_meaning) {
    const std::string services = "[providers.a]\n[providers.b]\n";
    write("project/heddle.toml", services +
                                     "[aliases]\nfast = \"a:dear\"\nnew = \"a:1\"\n[routes.safe]\n"
                                     "models = [\"a:1\", \"a:2\"]\n");
    write("user/heddle/heddle.toml", services +
                                         "[aliases]\nfast = \"b:cheap\"\n[routes.safe]\n"
                                         "models = [\"b:1\", \"b:2\"]\n");
    const auto found = find().value();
    ASSERT_EQ(found.aliases.size(), 2U);
    for (const alias_config& each : found.aliases) {
        EXPECT_EQ(each.model, each.name == "fast" ? "b:cheap" : "a:1");
    }
    ASSERT_EQ(found.routes.size(), 1U);
    EXPECT_EQ(found.routes[0].models.front(), "b:1");
}

TEST_F(config_folders, a_route_of_the_user_is_no_alias_of_a_project) {
    const std::string services = "[providers.a]\n[providers.b]\n";
    write("project/heddle.toml", services +
                                     "[aliases]\nsafe = \"a:dear\"\n[routes.fast]\n"
                                     "models = [\"a:1\", \"a:2\"]\n");
    write("user/heddle/heddle.toml", services +
                                         "[aliases]\nfast = \"b:cheap\"\n[routes.safe]\n"
                                         "models = [\"b:1\", \"b:2\"]\n");
    const auto found = find().value();
    ASSERT_EQ(found.aliases.size(), 1U);
    EXPECT_EQ(found.aliases[0].model, "b:cheap");
    ASSERT_EQ(found.routes.size(), 1U);
    EXPECT_EQ(found.routes[0].models.front(), "b:1");
}

TEST_F(config_folders, aliases_of_two_files_cannot_lead_in_a_circle) {
    write("project/heddle.toml", "[aliases]\nx = \"y\"\n");
    write("user/heddle/heddle.toml", "[aliases]\ny = \"x\"\n");
    const auto found = find().value();
    ASSERT_EQ(found.aliases.size(), 1U);
    EXPECT_EQ(found.aliases[0].name, "y");
}

TEST_F(config_folders, a_named_file_is_used_alone) {
    write("project/heddle.toml", "model = \"project\"");
    write("other.toml", "concurrency = 2");
    const auto found = find((root / "other.toml").string()).value();
    EXPECT_FALSE(found.model);
    EXPECT_EQ(found.concurrency, 2);
    EXPECT_FALSE(find((root / "none.toml").string()));
}

} // namespace
} // namespace heddle::setup
