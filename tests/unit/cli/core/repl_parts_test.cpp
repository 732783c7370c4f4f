// The parts of the prompt that need no terminal.
#include "repl/completion.hpp"
#include "repl/display.hpp"
#include "repl/history_file.hpp"

#include <heddle/lang/heap.hpp>
#include <heddle/lang/reader.hpp>

#include <limited_file_size.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace heddle::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(completion, offers_names_that_begin_alike) {
    lang::realm harness;
    harness.define("my-list", lang::value::integer(1));
    constexpr std::array<std::string_view, 2> commands{":help", ":load"};
    const auto of = [&](std::string_view text) { return complete_word(harness, commands, text); };
    EXPECT_THAT(of("(f (my-l").candidates, ElementsAre("my-list"));
    EXPECT_EQ(of("(f (my-l").word_bytes, 4U);
    EXPECT_THAT(of("(whe").candidates, ElementsAre("when"));
    EXPECT_THAT(of("'(str").candidates, Contains("string-append"));
    EXPECT_THAT(of(":").candidates, ElementsAre(":help", ":load"));
    EXPECT_THAT(of("(f :").candidates, IsEmpty());
    EXPECT_THAT(of("\"my-l").candidates, IsEmpty());
    EXPECT_THAT(of("\"a\\\"\" my-l").candidates, ElementsAre("my-list"));
    EXPECT_THAT(of("(%").candidates, IsEmpty());
    EXPECT_EQ(of("(my-list ").word_bytes, 0U);
}

TEST(completion, knows_inputs_modules_and_files) {
    /// A host with one task.
    class one_task final : public lang::host_names {
    public:
        const lang::builtin* find_effect(std::string_view) const override { return nullptr; }
        std::optional<lang::operator_info> find_operator(lang::heap&,
                                                         std::string_view name) const override {
            if (name != "ask") return std::nullopt;
            lang::operator_info info;
            info.inputs = {"thing", "tone"};
            return info;
        }
        std::optional<lang::operator_info> describe_callable(
            const lang::host_object&) const override {
            return std::nullopt;
        }
        bool is_reserved_key(std::string_view) const override { return false; }
        double now() const override { return 0; }
        void collect_names(std::vector<std::string>& names) const override {
            names.emplace_back("ask");
        }
    };
    const one_task host;
    lang::realm harness(host);
    const auto of = [&](std::string_view text) {
        return complete_word(harness, {}, text).candidates;
    };
    EXPECT_THAT(of("(ask (thi"), Contains("thing"));
    EXPECT_THAT(of("(list \"(f\" (ask (tone 1)\n (thi"), Contains("thing"));
    EXPECT_THAT(of("(list (thi"), Not(Contains("thing")));
    EXPECT_THAT(of("(ask thi"), Not(Contains("thing")));
    EXPECT_THAT(of("(import std/li"), ElementsAre("std/lists"));

    namespace fs = std::filesystem;
    const fs::path folder =
        fs::temp_directory_path() / ("heddle-completion-" + std::to_string(::getpid()));
    fs::create_directories(folder / "some");
    std::ofstream(folder / "so me.heddle") << "1";
    std::ofstream(folder / ".source") << "1";
    const std::string typed = ":load " + (folder / "so").string();
    EXPECT_THAT(of(typed),
                ElementsAre((folder / "so me.heddle").string(), (folder / "some").string() + "/"));
    fs::remove_all(folder);
    EXPECT_THAT(of(typed), IsEmpty());
}

TEST(history, does_not_store_what_looks_secret) {
    for (const char* line : {"(call \"sk-12\")", "export OPENAI_API_KEY=1", "(f 'Api-Key)",
                             "the PASSWORD is", "Authorization: x", "Bearer abc"})
        EXPECT_TRUE(looks_secret(line)) << line;
    for (const char* line : {"(map f xs)", "(sky 1)", "key"})
        EXPECT_FALSE(looks_secret(line)) << line;
}

TEST(history, is_found_by_the_variables) {
    setup::environment variables;
    EXPECT_FALSE(history_path(variables));
    variables.home = "/nest/ada";
    EXPECT_EQ(history_path(variables), "/nest/ada/.local/state/heddle/history");
    variables.state_home = "relative";
    EXPECT_EQ(history_path(variables), "/nest/ada/.local/state/heddle/history");
    variables.state_home = "/state";
    EXPECT_EQ(history_path(variables), "/state/heddle/history");
}

TEST(history, is_cut_when_it_has_grown_long) {
    namespace fs = std::filesystem;
    const fs::path folder =
        fs::temp_directory_path() / ("heddle-history-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    const std::string path = (folder / "history").string();
    {
        std::ofstream stream(path);
        for (std::size_t i = 0; i < 2 * history_file::max_entries + 1; ++i)
            stream << "(f " << i << ")\n";
    }
    history_file file(path);
    const auto lines = file.load();
    EXPECT_EQ(lines.size(), history_file::max_entries);
    EXPECT_EQ(lines.back(), "(f " + std::to_string(2 * history_file::max_entries) + ")");
    file.add("(new)");
    file.add("(new)");
    EXPECT_EQ(file.load().back(), "(new)");
    EXPECT_EQ(file.load()[history_file::max_entries - 2],
              "(f " + std::to_string(2 * history_file::max_entries) + ")");
    file.add("(define (f)\n  1)");
    EXPECT_EQ(file.load().back(), "(define (f)\n  1)") << "one entry";
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    fs::remove_all(folder);

    history_file nowhere(std::string("/dev/null/history"));
    nowhere.add("(f)");
    EXPECT_THAT(nowhere.load(), IsEmpty());
}

TEST(history, is_kept_whole_when_it_cannot_be_cut) {
    namespace fs = std::filesystem;
    const fs::path folder =
        fs::temp_directory_path() / ("heddle-full-history-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    const std::string path = (folder / "history").string();
    constexpr std::size_t entries = 2 * history_file::max_entries + 1;
    {
        std::ofstream stream(path);
        for (std::size_t i = 0; i < entries; ++i) stream << "(f " << i << ")\n";
    }
    const auto size = fs::file_size(path);
    const history_file file(path);
    std::vector<std::string> lines;
    {
        const heddle::testing::limited_file_size limited(1000);
        lines = file.load();
    }
    EXPECT_EQ(lines.size(), history_file::max_entries);
    EXPECT_EQ(fs::file_size(path), size);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1) << "nothing else is left";
    fs::remove_all(folder);
}

TEST(display, colours_a_written_form) {
    EXPECT_EQ(coloured("(a \"s\\\"t\" -1.5 nil - #<function f>)"),
              "(a \x1b[32m\"s\\\"t\"\x1b[0m \x1b[36m-1.5\x1b[0m \x1b[35mnil\x1b[0m - "
              "\x1b[2m#<function f>\x1b[0m)");
    EXPECT_EQ(coloured("\"cut…"), "\x1b[32m\"cut…\x1b[0m");
    EXPECT_EQ(coloured("#<cut"), "\x1b[2m#<cut\x1b[0m");
    EXPECT_EQ(coloured(""), "");
}

TEST(display, cuts_what_is_long) {
    const lang::heap_owner memory(lang::heap::create());
    const auto read = lang::read_one(*memory, "(1 2 3 4 5 6 7 8)");
    EXPECT_FALSE(show_value(read->content, 100, false).was_cut);
    const shown_value cut = show_value(read->content, 5, false);
    EXPECT_TRUE(cut.was_cut);
    EXPECT_EQ(cut.text, "(1 2 …");
}

TEST(display, lays_out_what_is_longer_than_a_line) {
    const lang::heap_owner memory(lang::heap::create());
    const auto read = lang::read_one(*memory, R"(((row "one" 1) (row "two" 2) (row "three" 3)))");
    EXPECT_EQ(show_value(read->content, 100, false, 80).text,
              R"(((row "one" 1) (row "two" 2) (row "three" 3)))");
    const shown_value narrow = show_value(read->content, 100, false, 20);
    EXPECT_EQ(narrow.text, "((row \"one\" 1)\n (row \"two\" 2)\n (row \"three\" 3))");
    EXPECT_FALSE(narrow.was_cut);
    const shown_value cut = show_value(read->content, 35, false, 20);
    EXPECT_EQ(cut.text, "((row \"one\" 1)\n (row \"two\" 2)\n…");
    EXPECT_TRUE(cut.was_cut);
}

} // namespace
} // namespace heddle::cli
