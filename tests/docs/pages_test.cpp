// The code of every page has the results that the page shows.
#include "child_process.hpp"
#include "file_text.hpp"
#include "page_blocks.hpp"
#include "page_command.hpp"
#include "scratch_directory.hpp"
#include "test_paths.hpp"

#include <heddle/coro/spawn.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace heddle::docs_test {
namespace {

namespace fs = std::filesystem;

/// Pages whose blocks are run. docs/reference/scripted-model.md has blocks of its own kinds, which
/// the tests of the scripted model read. The figures of docs/tutorial/03-packages.md vary with the
/// machine: packages_page_test.cpp runs it.
std::vector<std::string> pages() {
    const fs::path root = heddle::test_paths::source_folder();
    std::vector<std::string> found{"README.md"};
    for (const auto& entry : fs::recursive_directory_iterator(root / "docs")) {
        if (entry.path().extension() == ".md" && entry.path().filename() != "03-packages.md") {
            found.push_back(fs::relative(entry.path(), root).string());
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

coro::task<void> evaluate(host::session* harness, std::string text, result<lang::value>* ended) {
    result<lang::value> value = co_await harness->evaluate("page", std::move(text));
    *ended = std::move(value);
}

class page : public testing::TestWithParam<std::string> {
protected:
    page() {
        parts.operators = tasks::operators({});
        engine = std::make_unique<host::engine>(loop, parts);
        harness = engine->new_session().value();
    }

    void run(const page_step& step) {
        switch (step.what) {
        case page_step::kind::evaluate: return run_evaluation(step);
        case page_step::kind::write_file: scratch.file(step.name, step.text); return;
        case page_step::kind::command: return run_command(step);
        case page_step::kind::session: return run_session(step);
        }
    }

    void run_session(const page_step& step) {
        cli_test::child_options options;
        options.directory = scratch.path();
        options.input = step.text;
        const auto ended =
            cli_test::child_process(
                {"sh", "-c", std::string(heddle::test_paths::program_file()) + " repl 2>&1"},
                options)
                .wait();
        EXPECT_TRUE(output_matches(step.expected, ended.out))
            << "the page shows:\n"
            << step.expected << "the session prints:\n"
            << ended.out;
    }

    void run_evaluation(const page_step& step) {
        result<lang::value> ended = lang::value();
        coro::spawn(loop, evaluate(harness.get(), step.text, &ended), [](std::exception_ptr) {});
        context.restart();
        context.run();
        constexpr std::string_view failing = "error: ";
        if (step.checked && step.expected.starts_with(failing)) {
            ASSERT_FALSE(ended) << lang::print_value(*ended);
            EXPECT_NE(ended.error().message().find(step.expected.substr(failing.size())),
                      std::string::npos)
                << harness->render(ended.error());
            return;
        }
        ASSERT_TRUE(ended) << harness->render(ended.error());
        if (step.checked) {
            EXPECT_EQ(lang::print_value(*ended), step.expected);
        }
    }

    void run_command(const page_step& step) {
        std::string command = step.text;
        const std::string of_build = "build/dev/bin/heddle";
        if (command.starts_with(of_build)) command.replace(0, of_build.size(), "heddle");
        // A script is one of the page's own files.
        if (!command.starts_with("heddle ") && !command.starts_with("sh ")) return;
        const std::string printed = output_of(command, scratch.path());
        EXPECT_TRUE(output_matches(step.expected, printed))
            << "the page shows:\n"
            << step.expected << "the command prints:\n"
            << printed;
    }

    cli_test::scratch_directory scratch;
    boost::asio::io_context context;
    coro::event_loop loop{context};
    host::engine_parts parts;
    std::unique_ptr<host::engine> engine;
    std::unique_ptr<host::session> harness;
};

TEST_P(page, does_what_it_shows) {
    const auto text = text_of(fs::path(heddle::test_paths::source_folder()) / GetParam());
    ASSERT_FALSE(text.empty());
    for (const page_step& step : steps_of_page(text)) {
        SCOPED_TRACE(GetParam() + ":" + std::to_string(step.line) + ":\n" + step.text);
        run(step);
    }
}

std::string name_of_page(const testing::TestParamInfo<std::string>& page_info) {
    std::string name = page_info.param;
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(all, page, testing::ValuesIn(pages()), name_of_page);

TEST(page_blocks, are_cut_into_steps) {
    const auto steps = steps_of_page(
        "# x\n```heddle\n(define a 1)\na ;=> 1\n(b) ;=> error: b\n(c)\n"
        "```\n```sh\nrm\n```\n```json file=r.json\n{}\n```\n"
        "```console\n$ heddle eval 1\n1\n$ heddle x\n…\n```\n"
        "```repl\nheddle> (+ 1\n   ...> 2)\n3\n```\n");
    ASSERT_EQ(steps.size(), 7U);
    EXPECT_EQ(steps[0].text, "(define a 1)\na \n");
    EXPECT_EQ(steps[0].expected, "1");
    EXPECT_EQ(steps[1].expected, "error: b");
    EXPECT_EQ(steps[1].line, 5U);
    EXPECT_FALSE(steps[2].checked);
    EXPECT_EQ(steps[3].name, "r.json");
    EXPECT_EQ(steps[4].text, "heddle eval 1");
    EXPECT_EQ(steps[4].expected, "1\n");
    EXPECT_EQ(steps[5].expected, "…\n");
    EXPECT_EQ(steps[6].text, "(+ 1\n2)\n");
    EXPECT_EQ(steps[6].expected, "3\n");
}

TEST(page_blocks, compare_output_with_gaps) {
    EXPECT_TRUE(output_matches("a\nb\n", "a\nb\n"));
    EXPECT_FALSE(output_matches("a\nb\n", "a\nb\nc\n"));
    EXPECT_TRUE(output_matches("a\n…\nc\n", "a\nb\nb\nc\n"));
    EXPECT_FALSE(output_matches("a\n…\nc\n", "a\nb\n"));
    EXPECT_TRUE(output_matches("…\n", "anything\n"));
    EXPECT_FALSE(output_matches("b\n…\n", "a\nb\n"));
}

} // namespace
} // namespace heddle::docs_test
