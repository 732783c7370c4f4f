#include <heddle/setup/service_set.hpp>

#include <heddle/coro/spawn.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/setup/config/config_file.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

#include <gmock/gmock.h>
#include <sanitizers.hpp>

#include <ctime>
#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace heddle::setup {
namespace {

using ::testing::HasSubstr;

/// A folder with the rules of a scripted model, and what an embedding program does with a set.
class service_set_test : public ::testing::Test {
protected:
    service_set_test() {
        std::string name = (std::filesystem::temp_directory_path() / "heddle-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
        folder = std::filesystem::canonical(name);
        write("rules.json",
              R"({"rules": [{"match": "^Shout: (?P<t>.*)$", "template": "{{t}}!"}]})");
        options.folder = folder.string();
        options.workspace = folder.string();
        options.config_text = "model = \"scripted:" + (folder / "rules.json").string() + "\"\n";
    }
    ~service_set_test() override {
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder / name) << text;
    }
    /// The value of an expression, or "error: …"; with a set of its own, which is closed.
    std::string evaluate(const std::string& source) {
        auto set = service_set::create(loop, null_log(), options);
        if (!set) return "error: " + set.error().message();
        host::engine_parts parts = (*set)->engine_parts();
        parts.operators = tasks::operators((*set)->task_parts());
        host::engine engine(loop, std::move(parts));
        std::string shown;
        coro::spawn(loop, run(&engine, set->get(), source, &shown), [](std::exception_ptr) {});
        io.restart();
        io.run();
        return shown;
    }
    static coro::task<void> run(host::engine* engine, service_set* set, std::string source,
                                std::string* shown) {
        {
            auto session = engine->new_session().value();
            auto value = co_await session->evaluate("test", std::move(source), set->bounds());
            if (!value) *shown = "error: " + value.error().message();
            else *shown = lang::string_bytes(*value);
        }
        co_await set->close();
    }

    std::filesystem::path folder;
    boost::asio::io_context io{1};
    coro::event_loop loop{io};
    service_set_options options;
};

constexpr const char* shout =
    "(defatom shout (params text) (instructions \"Shout: {{text}}\")) (content (shout \"hey\"))";

TEST_F(service_set_test, a_workflow_runs_with_the_services_of_a_text) {
    EXPECT_EQ(evaluate(shout), "hey!");
}

TEST_F(service_set_test, templates_files_and_imports_are_those_of_the_folder) {
    write("loud.heddle", "(define (twice text) (string-append text text))");
    write("said.txt", "ho");
    std::filesystem::create_directory(folder / "tasks");
    write("tasks/shout.xml",
          "<task name=\"shout\" type=\"atomic\"><description>Shouts</description>"
          "<inputs><input name=\"text\">What</input></inputs>"
          "<instructions>Shout: {{text}}</instructions></task>");
    options.default_tasks = (folder / "tasks").string();
    EXPECT_EQ(evaluate("(import \"loud.heddle\") "
                       "(twice (content (shout (read-file \"said.txt\"))))"),
              "ho!ho!");
}

TEST_F(service_set_test, mistakes_of_a_text_have_their_line) {
    options.config_text = "model = \"scripted:x\"\nmodle = 1\n";
    const auto set = service_set::create(loop, null_log(), options);
    ASSERT_FALSE(set);
    const auto* report = dynamic_cast<const config_report*>(set.error().info().payload.get());
    ASSERT_TRUE(report);
    EXPECT_THAT(report->lines.front(), HasSubstr("heddle.toml:2"));
}

TEST_F(service_set_test, a_text_takes_the_place_of_the_files) {
    write("heddle.toml", "modle = 1\n");
    EXPECT_EQ(evaluate(shout), "hey!");
    options.config_text.reset();
    EXPECT_THAT(evaluate(shout), HasSubstr("modle"));
}

TEST_F(service_set_test, bounds_are_those_of_the_options_before_those_of_the_text) {
    *options.config_text += "concurrency = 7\nstep_limit = 1000\n";
    EXPECT_EQ(service_set::create(loop, null_log(), options).value()->bounds().concurrency, 7u);
    EXPECT_THAT(evaluate("(let loop ((n 100000)) (if (= n 0) \"done\" (loop (- n 1))))"),
                HasSubstr("step limit"));
    options.concurrency = 9;
    options.step_limit = 10'000'000;
    EXPECT_EQ(service_set::create(loop, null_log(), options).value()->bounds().concurrency, 9u);
    EXPECT_EQ(evaluate("(let loop ((n 100000)) (if (= n 0) \"done\" (loop (- n 1))))"), "done");
}

TEST_F(service_set_test, calls_are_counted_against_the_limit_of_the_options) {
    options.max_calls = 0;
    EXPECT_THAT(evaluate(std::string(shout)), HasSubstr("error: "));
}

TEST_F(service_set_test, files_are_not_written_if_they_are_only_to_be_read) {
    EXPECT_EQ(evaluate("(write-file \"new.txt\" \"text\") \"written\""), "written");
    options.read_only = true;
    EXPECT_THAT(evaluate("(write-file \"newer.txt\" \"text\") \"written\""),
                HasSubstr("is not written"));
    EXPECT_FALSE(std::filesystem::exists(folder / "newer.txt"));
}

/// Counts what is sent.
class sent_requests final : public request_watch {
public:
    std::optional<error> on_request(const seen_request&) override {
        ++count;
        return std::nullopt;
    }
    int count = 0;
};

TEST_F(service_set_test, the_next_set_finds_the_responses_in_the_cache) {
    sent_requests sent;
    options.of_sent = &sent;
    options.services.cache = true;
    options.services.cache_file = (folder / "cache.sqlite").string();
    EXPECT_EQ(evaluate(shout), "hey!");
    EXPECT_EQ(evaluate(shout), "hey!");
    EXPECT_EQ(sent.count, 1);
}

TEST_F(service_set_test, a_recording_plays_without_the_rules) {
    options.services.record = (folder / "calls.jsonl").string();
    EXPECT_EQ(evaluate(shout), "hey!");
    std::filesystem::remove(folder / "rules.json");
    options.services.record.reset();
    EXPECT_THAT(evaluate(shout), HasSubstr("error: "));
    options.services.replay = (folder / "calls.jsonl").string();
    EXPECT_EQ(evaluate(shout), "hey!");
}

TEST_F(service_set_test, many_services_are_made_in_the_time_of_their_number) {
    constexpr int many = 100'000;
    for (int i = 0; i < many; ++i)
        *options.config_text += "[providers.p" + std::to_string(i) + "]\n";
    *options.config_text += "[providers.openai.request.extra_parameters]\n";
    for (int i = 0; i < many; ++i) *options.config_text += "p" + std::to_string(i) + " = 1\n";
    const std::clock_t began = std::clock();
    const auto set = service_set::create(loop, null_log(), options);
    EXPECT_TRUE(set) << set.error().message();
    // Generous: with squares of the number it was half a minute.
    EXPECT_LT((std::clock() - began) / CLOCKS_PER_SEC, 10 * sanitizers::slowed_down);
}

TEST_F(service_set_test, a_project_does_not_make_a_service_of_the_users_free) {
    options.config_text.reset();
    options.variables.config_home = (folder / "home").string();
    std::filesystem::create_directories(folder / "home" / "heddle");
    write("home/heddle/heddle.toml",
          "[providers.office]\ntype = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\n");
    ports::token_usage million;
    million.input = 1'000'000;
    for (const char* project : {"", "[providers.office]\ntype = \"vllm\"\n"}) {
        write("heddle.toml", project);
        const auto set = service_set::create(loop, null_log(), options);
        ASSERT_TRUE(set) << set.error().message();
        EXPECT_GT((*set)->prices().cost_usd("office", "gpt-4o", million).value_or(0), 0) << project;
        EXPECT_FALSE((*set)->prices().cost_usd("office", "unheard-of", million)) << project;
    }
}

TEST_F(service_set_test, a_project_does_not_make_a_paid_service_free_by_a_name) {
    options.config_text.reset();
    options.variables.config_home = (folder / "home").string();
    std::filesystem::create_directories(folder / "home" / "heddle");
    write("home/heddle/heddle.toml",
          "[providers.local]\ntype = \"ollama\"\n[providers.vllm]\ntype = \"llama.cpp\"\n");
    // No permission is needed for the usual address of a type.
    write("heddle.toml",
          "[providers.local]\ntype = \"openai\"\n[providers.ollama]\ntype = \"openai\"\n");
    ports::token_usage million;
    million.input = 1'000'000;
    const auto set = service_set::create(loop, null_log(), options);
    ASSERT_TRUE(set) << set.error().message();
    for (const char* name : {"local", "ollama"}) {
        EXPECT_GT((*set)->prices().cost_usd(name, "gpt-4o", million).value_or(0), 0) << name;
        EXPECT_FALSE((*set)->prices().cost_usd(name, "unheard-of", million)) << name;
    }
    EXPECT_EQ((*set)->prices().cost_usd("vllm", "any", million), 0.0);
}

TEST_F(service_set_test, another_name_of_a_project_has_the_prices_of_the_users_service) {
    options.config_text.reset();
    options.variables.config_home = (folder / "home").string();
    std::filesystem::create_directories(folder / "home" / "heddle");
    write("home/heddle/prices.json",
          R"({"figures_as_of": "2026-11-30", "providers": [
              {"names": ["gate"], "models": {"gpt-4o": {"input": 100, "output": 100}}}]})");
    write("home/heddle/heddle.toml",
          "prices = \"prices.json\"\n"
          "[providers.gate]\ntype = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\n");
    ports::token_usage million;
    million.input = 1'000'000;
    for (const char* type : {"openai", "vllm"}) {
        write("heddle.toml", std::string("[providers.again]\ntype = \"") + type +
                                 "\"\nbase_url = \"http://localhost:9/v1\"\n");
        const auto set = service_set::create(loop, null_log(), options);
        ASSERT_TRUE(set) << set.error().message();
        EXPECT_EQ((*set)->prices().cost_usd("again", "gpt-4o", million), 100.0) << type;
        EXPECT_FALSE((*set)->prices().cost_usd("again", "unheard-of", million)) << type;
    }
    // Another format at the same gateway, and a paid type where the user has a free one.
    for (const char* own : {"anthropic", "vllm"}) {
        write("home/heddle/heddle.toml", std::string("[providers.gate]\ntype = \"") + own +
                                             "\"\nbase_url = \"http://127.0.0.1:9/a\"\n");
        write("heddle.toml",
              "[providers.again]\ntype = \"openai\"\n"
              "base_url = \"http://127.0.0.1:9/v1\"\n");
        const auto set = service_set::create(loop, null_log(), options);
        ASSERT_TRUE(set) << set.error().message();
        EXPECT_EQ((*set)->prices().cost_usd("again", "gpt-4o", million), 2.5) << own;
    }
    // The user's section has the name of its type, of which they have set no price.
    write("home/heddle/heddle.toml",
          "[providers.anthropic]\nbase_url = \"http://127.0.0.1:9/a\"\n");
    const auto set = service_set::create(loop, null_log(), options);
    ASSERT_TRUE(set) << set.error().message();
    EXPECT_EQ((*set)->prices().cost_usd("again", "gpt-4o", million), 2.5);
}

// The user has no section for the account, which costs money.
TEST_F(service_set_test, a_project_makes_no_account_free_that_a_variable_names) {
    options.config_text.reset();
    options.variables.config_home = (folder / "home").string();
    options.variables.openai_base_url = "http://127.0.0.1:9/v1";
    std::filesystem::create_directories(folder / "home" / "heddle");
    write("home/heddle/heddle.toml", "model = \"openai:gpt-4o\"\n");
    write("heddle.toml",
          "[providers.again]\ntype = \"vllm\"\nbase_url = \"http://localhost:9/v1\"\n");
    const auto set = service_set::create(loop, null_log(), options);
    ASSERT_TRUE(set) << set.error().message();
    ports::token_usage million;
    million.input = 1'000'000;
    EXPECT_EQ((*set)->prices().cost_usd("again", "gpt-4o", million), 2.5);
}

TEST_F(service_set_test, a_workspace_must_exist) {
    options.workspace = (folder / "nowhere").string();
    EXPECT_THAT(evaluate(shout), HasSubstr("nowhere"));
}

} // namespace
} // namespace heddle::setup
