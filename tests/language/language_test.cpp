// Runs the files of this folder: every expression has the value or the error that is written after
// it.
#include "language_file.hpp"
#include "test_paths.hpp"

#include <heddle/coro/spawn.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

#include <step_watch.hpp>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace heddle::language_test {
namespace {

namespace fs = std::filesystem;

const fs::path folder = fs::path(heddle::test_paths::source_folder()) / "tests/language";

std::string text_of(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::string> files() {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.path().extension() == ".heddle") {
            found.push_back(fs::relative(entry.path(), folder).generic_string());
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

/// How expressions are evaluated. What they mean does not depend on it.
struct manner {
    std::uint32_t slice = 2000; ///< 1: every call and back-edge ends a slice
    bool moved = false;         ///< stacks move at every step
    std::size_t concurrency = 64;
    std::uint64_t seed = 0; ///< of the order of branches; 0: as they become ready
};

/// A file in a session of its own, on virtual time.
class file_session {
public:
    file_session(const std::string& path, const std::string& text, const manner& how) : how_(how) {
        host::engine_parts parts;
        parts.random_seed = 1;
        parts.operators = tasks::operators({});
        engine_.emplace(loop_, std::move(parts));
        session_ = engine_->new_session().value();
        session_->realm().set_moves_stacks(how.moved);
        const std::uint32_t position = session_->realm().sources().add(path, text);
        read = read_language_file(session_->memory(), text, position);
    }

    [[nodiscard]] result<lang::value> evaluate(const example& one, testing::step_watch& watch) {
        host::run_options options;
        options.slice = how_.slice;
        options.concurrency = how_.concurrency;
        options.schedule_seed = how_.seed;
        options.observer = &watch;
        options.cancel = &watch.cancel;
        std::optional<result<lang::value>> ended;
        coro::clock::time_point at;
        coro::spawn(loop_, keep(session_->evaluate_forms({one.form}, options), &ended),
                    [&](std::exception_ptr) { at = loop_.now(); });
        context_.restart();
        loop_.run();
        if (!ended) return error(errc::internal, "it does not end");
        EXPECT_EQ(session_->counters().fibers, 0U) << one.text;
        EXPECT_EQ(at, loop_.now()) << "something still ran after the end of " << one.text;
        return *std::move(ended);
    }

    [[nodiscard]] std::string render(const error& failure) { return session_->render(failure); }

    language_file read;

private:
    static coro::task<void> keep(coro::task<result<lang::value>> work,
                                 std::optional<result<lang::value>>* into) {
        result<lang::value> ended = co_await std::move(work);
        into->emplace(std::move(ended));
    }

    const manner how_;
    boost::asio::io_context context_{1};
    coro::event_loop loop_{context_, coro::event_loop::time::virtual_};
    std::optional<host::engine> engine_;
    std::unique_ptr<host::session> session_;
};

bool as_expected(const example& one, const result<lang::value>& ended) {
    switch (one.expects) {
    case example::outcome::not_shown: return ended.has_value();
    case example::outcome::value: return ended && lang::print_value(*ended) == one.expected;
    case example::outcome::failure: break;
    }
    return !ended && lang::error_kind_name(ended.error()) == one.kind &&
           ended.error().message().find(one.expected) != std::string::npos;
}

std::string written(const example& one) {
    switch (one.expects) {
    case example::outcome::not_shown: return "a value";
    case example::outcome::value: return one.expected;
    case example::outcome::failure: break;
    }
    return one.kind + ": " + one.expected;
}

class language : public ::testing::TestWithParam<std::string> {
protected:
    void report(file_session& in, const example& one, const result<lang::value>& ended) const {
        ADD_FAILURE_AT(path.c_str(), static_cast<int>(std::max(one.line, one.expected_line)))
            << one.text << "\n  expected: " << written(one)
            << "\n  actual:   " << (ended ? lang::print_value(*ended) : in.render(ended.error()));
    }

    void run(const manner& how) const {
        file_session session(path, text, how);
        for (const mistake& found : session.read.mistakes) {
            ADD_FAILURE_AT(path.c_str(), static_cast<int>(found.line)) << found.what;
        }
        for (const example& one : session.read.examples) {
            testing::step_watch watch;
            const auto ended = session.evaluate(one, watch);
            if (!as_expected(one, ended)) report(session, one, ended);
        }
    }

    /// A session in which the first `count` expressions were evaluated.
    [[nodiscard]] std::unique_ptr<file_session> session_after(std::size_t count) const {
        auto object = std::make_unique<file_session>(path, text, manner{.slice = 1});
        for (std::size_t i = 0; i < count; ++i) {
            testing::step_watch watch;
            (void)object->evaluate(object->read.examples[i], watch);
        }
        return object;
    }

    /// Evaluates an expression, which `watch` may cancel after some steps. A cancellation after its
    /// last wait and safe point comes too late: then the expression ends as written.
    void run_one(file_session& in, std::size_t at, testing::step_watch& watch) const {
        const example& one = in.read.examples[at];
        const auto ended = in.evaluate(one, watch);
        const bool cancelled = watch.cancels() && !ended && ended.error().is_cancelled();
        if (!cancelled && !as_expected(one, ended)) report(in, one, ended);
    }

    const std::string name = GetParam();
    const std::string path = "tests/language/" + name;
    const std::string text = text_of(folder / name);
};

TEST_P(language, is_as_written) { run({}); }

TEST_P(language, does_not_depend_on_slices) { run({.slice = 1}); }

// Longer than a step: the machine loads its registers anew at the end of a slice.
TEST_P(language, does_not_depend_on_where_stacks_are) { run({.slice = 7, .moved = true}); }

TEST_P(language, does_not_depend_on_concurrency) { run({.slice = 1, .concurrency = 1}); }

TEST_P(language, does_not_depend_on_the_order_of_branches) { run({.slice = 1, .seed = 7}); }

TEST_P(language, is_cancelled_at_any_step) {
    constexpr std::uint64_t samples = 8;
    // An expression that assigns a variable may have done so when it is cancelled: the next attempt
    // gets a session in which it has not.
    const bool assigns = text.find("set!") != std::string::npos;
    const auto session = session_after(0);
    for (std::size_t i = 0; i < session->read.examples.size(); ++i) {
        testing::step_watch whole;
        run_one(*session, i, whole);
        std::uint64_t last = UINT64_MAX;
        for (std::uint64_t sample = 0; sample <= samples; ++sample) {
            const std::uint64_t at = whole.place(sample, samples);
            if (std::exchange(last, at) == at) continue;
            SCOPED_TRACE("cancelled after " + std::to_string(at) + " steps");
            testing::step_watch watch(at);
            if (assigns) run_one(*session_after(i), i, watch);
            else run_one(*session, i, watch);
        }
    }
}

std::string name_of_file(const ::testing::TestParamInfo<std::string>& file) {
    std::string name = file.param.substr(0, file.param.rfind('.'));
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(files, language, ::testing::ValuesIn(files()), name_of_file);

/// The mistakes of a file, as "line: what".
std::vector<std::string> mistakes_of(std::string_view text) {
    lang::heap_owner memory{lang::heap::create()};
    std::vector<std::string> found;
    for (const mistake& one : read_language_file(*memory, text, 1).mistakes) {
        found.push_back(std::to_string(one.line) + ": " + one.what);
    }
    return found;
}

using strings = std::vector<std::string>;

TEST(language_files, are_expressions_with_expectations) {
    lang::heap_owner memory{lang::heap::create()};
    const auto file = read_language_file(*memory,
                                         "; What it shows.\n\n"
                                         "(define x ; a comment\n  1)\n\n"
                                         "(+ x\n   1)\n;=> 2  \n; Then.\n;; More.\n"
                                         "(f)\n;!! UnboundSymbolError: symbol 'f'\n"
                                         "(define y 2)\n;=> 2\n",
                                         1);
    EXPECT_TRUE(file.mistakes.empty());
    ASSERT_EQ(file.examples.size(), 4U);
    EXPECT_EQ(file.examples[0].expects, example::outcome::not_shown);
    EXPECT_EQ(file.examples[1].text, "(+ x\n   1)");
    EXPECT_EQ(file.examples[1].line, 6U);
    EXPECT_EQ(file.examples[1].expected_line, 8U);
    EXPECT_EQ(file.examples[1].expected, "2");
    EXPECT_EQ(file.examples[2].kind, "UnboundSymbolError");
    EXPECT_EQ(file.examples[2].expected, "symbol 'f'");
    EXPECT_EQ(file.examples[3].expected, "2");
}

TEST(language_files, with_mistakes_are_refused) {
    EXPECT_EQ(mistakes_of("1\n;=> 1\n"),
              strings{"1: the first line must say what the file shows: ; …"});
    EXPECT_EQ(mistakes_of("; Nothing.\n"), strings{"1: there is no expression"});
    EXPECT_EQ(mistakes_of("; X.\n\n(+ 1\n"),
              strings{"3: unbalanced (: the list opened at line 3, column 1 is never closed"});
    EXPECT_EQ(mistakes_of("; X.\n1\n2\n;=> 2\n"), strings{"2: the expression has no expectation"});
    EXPECT_EQ(mistakes_of("; X.\n1 2\n;=> 2\n"), strings{"2: the expression has no expectation"});
    EXPECT_EQ(mistakes_of("; X.\n(list 1)\n"), strings{"2: the expression has no expectation"});
    const std::string misplaced = "an expectation must be on the line after its expression";
    EXPECT_EQ(mistakes_of("; X.\n;=> 1\n1\n;=> 1\n"), strings{"2: " + misplaced});
    EXPECT_EQ(mistakes_of("; X.\n1\n;=> 1\n;=> 1\n"), strings{"4: " + misplaced});
    EXPECT_EQ(mistakes_of("; X.\n1\n\n;=> 1\n"),
              (strings{"2: the expression has no expectation", "4: " + misplaced}));
    EXPECT_EQ(mistakes_of("; X.\n(define x 1) ;=> 1\n"),
              strings{"2: an expectation must be on its own line"});
    EXPECT_EQ(mistakes_of("; X.\n(list 1\n;=> 1\n2)\n;=> (1 2)\n"),
              strings{"3: an expectation inside an expression"});
    EXPECT_EQ(mistakes_of("; X.\n(define x 1)\n;-> 1\n"), strings{"3: unknown marker: ;-> 1"});
    EXPECT_EQ(mistakes_of("; X.\n1\n;=>\n"), strings{"3: the value is missing"});
    EXPECT_EQ(mistakes_of("; X.\n(f)\n;!! UnboundSymbolError\n"),
              strings{"3: expected ;!! Kind: part of the message"});
}

} // namespace
} // namespace heddle::language_test
