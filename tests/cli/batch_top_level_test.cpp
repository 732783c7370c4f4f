// What the file of a batch does outside of main: a batch evaluates it several times.
#include "batch_fixture.hpp"
#include "model_thread.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include <csignal>
#include <set>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class batch_top_level : public batch_fixture {};

// Each session paid for the call, and no budget counted it.
TEST_F(batch_top_level, calls_no_model) {
    model_thread model(R"({"rules": [{"match": ".*", "text": "x"}]})");
    rows_file(3);
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define head (content (ask \"first\")))\n"
                 "(define (main text) (list head text))\n");
    for (const std::vector<std::string>& more :
         std::vector<std::vector<std::string>>{{}, {"--plan"}, {"--dry-run"}}) {
        const auto ended = run_heddle(asking(model.url(), more));
        EXPECT_EQ(ended.code, 2) << ended.err;
        EXPECT_THAT(ended.err, AllOf(HasSubstr("calls a task outside of main"),
                                     HasSubstr("w.heddle:2"), HasSubstr("hint: ")));
    }
    EXPECT_EQ(model.counters().requests, 0U);
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main text) (content (ask text)))\n");
    EXPECT_EQ(run_heddle(asking(model.url())).code, 0);
    EXPECT_EQ(model.counters().requests, 3U);
}

// Rows of one run were of two versions of the program.
TEST_F(batch_top_level, reads_an_imported_file_once) {
    rows_file(3);
    scratch.file("lib.heddle", "(define version 1)");
    // A row that changes a variable of the program gives up its session, so the next row has one
    // that evaluates the file again.
    scratch.file("w.heddle",
                 "(import \"lib.heddle\")\n"
                 "(define count (let ((n 0)) (lambda () (set! n (+ n 1)) n)))\n"
                 "(define (main text)\n"
                 "  (system:run_script (command \"echo '(define version 2)' > lib.heddle\"))\n"
                 "  (list version (count)))\n");
    child_options there;
    there.directory = scratch.path();
    const auto ended = run_heddle(command({"--allow-shell", "-c", "1"}), there);
    EXPECT_EQ(ended.code, 0) << ended.err;
    ASSERT_EQ(scratch.text_of("lib.heddle"), "(define version 2)\n");
    for (const auto& line : lines_of("out.jsonl"))
        EXPECT_EQ(boost::json::serialize(line.at("value")), "[1,1]");
    expect_each_row_once(3);
    const auto edited = run_heddle(command({"--allow-shell", "-c", "1"}), there);
    EXPECT_THAT(edited.err, HasSubstr("have changed since the run began"));
}

/// What a killed process leaves: a row whose first call was answered, and whose second one was not.
constexpr const char* stuck_at_second = R"json({"rules": [
    {"match": "^second", "text": "x", "delay_ms": 600000},
    {"match": "(?s)(?P<asked>.*)", "template": "<{{asked}}>"}]})json";
constexpr const char* echoing =
    R"json({"rules": [{"match": "(?s)(?P<asked>.*)", "template": "<{{asked}}>"}]})json";

class killed_top_level : public batch_top_level {
protected:
    void kill_at_second_call() {
        model_thread model(stuck_at_second);
        child_process child(heddle_command(asking(model.url())), there);
        ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests == 2; }));
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    /// The prompts that the only row has asked, without the words that begin them.
    void expect_same_head() {
        const auto lines = lines_of("out.jsonl");
        ASSERT_EQ(lines.size(), 1U);
        const auto& values = lines.front().at("value").as_array();
        const std::string first(values.at(0).as_string());
        const std::string second(values.at(1).as_string());
        EXPECT_EQ(first.substr(first.find(' ')), second.substr(second.find(' ')));
    }
    void write_workflow(const std::string& head) {
        scratch.file("w.heddle",
                     "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                     "(define head " +
                         head +
                         ")\n"
                         "(define (main text)\n"
                         "  (let* ((a (content (ask (format \"first {}\" head))))\n"
                         "         (b (content (ask (format \"second {}\" head)))))\n"
                         "    (list a b)))\n");
    }

    child_options there = [this] {
        child_options options = at_home();
        options.directory = scratch.path();
        return options;
    }();
};

// Its first response was of the earlier file, its second one of the later.
TEST_F(killed_top_level, has_rows_that_follow_one_version_of_a_file) {
    rows_file(1);
    scratch.file("head.txt", "old");
    write_workflow("(read-file \"head.txt\")");
    kill_at_second_call();
    scratch.file("head.txt", "new");
    model_thread model(echoing);
    const auto ended = run_heddle(asking(model.url()), there);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("have changed since the run began"));
    EXPECT_EQ(model.counters().requests, 2U);
    expect_same_head();
    EXPECT_THAT(scratch.text_of("out.jsonl"), HasSubstr("first new"));
}

// The second process had another time: the row started over, and its first call was paid for twice.
TEST_F(killed_top_level, has_rows_that_see_one_time) {
    rows_file(1);
    write_workflow("(now)");
    kill_at_second_call();
    model_thread model(echoing);
    const auto ended = run_heddle(asking(model.url()), there);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, Not(HasSubstr("starts over")));
    EXPECT_EQ(model.counters().requests, 1U) << "the response to the first is kept";
    expect_same_head();
}

// Chance is that of the run.
TEST_F(killed_top_level, draws_the_same_in_each_process) {
    rows_file(1);
    write_workflow("(random 1000000000)");
    kill_at_second_call();
    model_thread model(echoing);
    const auto ended = run_heddle(asking(model.url()), there);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(model.counters().requests, 1U) << "the response to the first is kept";
    expect_same_head();
}

// Each session has one that reads the file again.
TEST_F(batch_top_level, reads_a_file_once) {
    rows_file(4);
    scratch.file("version.txt", "1");
    scratch.file("w.heddle",
                 "(define version (read-file \"version.txt\"))\n"
                 "(define began (now))\n"
                 "(define count (let ((n 0)) (lambda () (set! n (+ n 1)) n)))\n"
                 "(define (main text)\n"
                 "  (write-file \"version.txt\" \"2\")\n"
                 "  (list version (count) began))\n");
    child_options there;
    there.directory = scratch.path();
    const auto ended = run_heddle(command({"-c", "1"}), there);
    EXPECT_EQ(ended.code, 0) << ended.err;
    ASSERT_EQ(scratch.text_of("version.txt"), "2");
    std::set<std::string> values;
    for (const auto& line : lines_of("out.jsonl"))
        values.insert(boost::json::serialize(line.at("value")));
    EXPECT_EQ(values.size(), 1U) << *values.begin() << " " << *values.rbegin();
    EXPECT_THAT(*values.begin(), HasSubstr("[\"1\",1,"));
    const auto edited = run_heddle(command({"-c", "1"}), there);
    EXPECT_THAT(edited.err, HasSubstr("have changed since the run began"));
    EXPECT_THAT(run_heddle(command({"-c", "1"}), there).err, Not(HasSubstr("have changed")));
}

// It was found row by row, when the calls before it were paid for.
TEST_F(batch_top_level, has_no_unknown_names_in_functions) {
    model_thread model(echoing);
    rows_file(3);
    const std::string tasks = "(defatom ask (params q) (instructions \"{{q}}\"))\n";
    scratch.file("w.heddle", tasks + "(define (main text) (shorten (content (ask text))))\n");
    for (const std::vector<std::string>& more :
         std::vector<std::vector<std::string>>{{}, {"--dry-run"}, {"--json"}}) {
        const auto ended = run_heddle(asking(model.url(), more));
        EXPECT_EQ(ended.code, 2) << ended.err;
        EXPECT_THAT(ended.err + ended.out, AllOf(HasSubstr("shorten"), HasSubstr("w.heddle:2")));
    }
    EXPECT_EQ(model.counters().requests, 0U);
    // What an import or another form defines is known; what is only doubtful is not an obstacle.
    scratch.file("lib.heddle", "(define (shorten s) s)");
    scratch.file("w.heddle", "(import \"lib.heddle\")\n(eval '(define (also s) s))\n" + tasks +
                                 "(define (main text) (let ((unused 1))\n"
                                 "  (shorten (also (content (ask text))))))\n");
    const auto ended = run_heddle(asking(model.url()));
    EXPECT_EQ(ended.code, 0) << ended.err;
}

// Each row failed at a place in the file that was imported, and only a hint spoke of imports.
TEST_F(batch_top_level, is_where_files_are_imported) {
    rows_file(1);
    scratch.file("lib.heddle", "(define (shorten s) s)");
    for (const char* text : {"(define (main text)\n  (import \"lib.heddle\")\n  text)\n",
                             "(define (load)\n  (import \"lib.heddle\"))\n"
                             "(define (main text) (load) text)\n"}) {
        scratch.file("w.heddle", text);
        const auto ended = batch({"--force"});
        EXPECT_EQ(ended.code, 3) << ended.err;
        const auto letter = lines_of("out.jsonl.failed.jsonl").at(0).at("error").as_object();
        EXPECT_THAT(std::string(letter.at("message").as_string()),
                    AllOf(HasSubstr("w.heddle:2:3"), HasSubstr("imported here, inside of a"),
                          HasSubstr("defines 'shorten'")));
        EXPECT_THAT(std::string(letter.at("hint").as_string()), HasSubstr("at the top level of"));
        std::filesystem::remove_all(path("out.jsonl.run"));
    }
    // What the top level has imported is there.
    scratch.file("w.heddle", "(import \"lib.heddle\")\n(define (main text) (shorten text))\n");
    EXPECT_EQ(batch({"--force"}).code, 0);
}

TEST_F(batch_top_level, asks_nobody) {
    rows_file(1);
    scratch.file("w.heddle",
                 "(define head (system:ask_user (question \"Which?\")))\n"
                 "(define (main text) (list head text))\n");
    const auto ended = run_heddle(command());
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("outside of main"));
}

// Rows saw the macros of earlier rows that had the same session.
TEST_F(batch_top_level, is_the_same_for_a_row_whatever_earlier_rows_have_defined) {
    rows_file(3);
    scratch.file(
        "w.heddle",
        "(defatom ask (params q) (instructions \"{{q}}\"))\n"
        "(define (main text)\n"
        "  (try (eval '(noted))\n"
        "       (catch (e) (eval '(defmacro noted () \"by an earlier row\")) \"new\")))\n");
    child_options there;
    there.directory = scratch.path();
    const auto ended = run_heddle(command({"-c", "1"}), there);
    EXPECT_EQ(ended.code, 0) << ended.err;
    for (const auto& line : lines_of("out.jsonl")) EXPECT_EQ(line.at("value").as_string(), "new");
    expect_each_row_once(3);
}

std::size_t times_loaded(const child_result& ended) {
    const std::string text = ended.out + ended.err;
    std::size_t found = 0;
    for (std::size_t at = text.find("loading"); at != text.npos; at = text.find("loading", at + 1))
        ++found;
    return found;
}

// The program was evaluated by as many sessions as rows in progress.
TEST_F(batch_top_level, is_evaluated_once) {
    rows_file(3);
    scratch.file("w.heddle", "(print \"loading\")\n(define (main text) text)\n");
    const auto ended = run_heddle(command({"-c", "3"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(times_loaded(ended), 1U) << ended.out << ended.err;
    expect_each_row_once(3);
}

TEST_F(batch_top_level, is_evaluated_for_each_row_if_it_leaves_state_behind) {
    rows_file(3);
    scratch.file("w.heddle",
                 "(print \"loading\")\n"
                 "(define count (let ((n 0)) (lambda () (set! n (+ n 1)))))\n"
                 "(define (main text) (count))\n");
    const auto ended = run_heddle(command({"-c", "3"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(times_loaded(ended), 1U) << "recorded once: " << ended.out << ended.err;
    for (const auto& line : lines_of("out.jsonl")) EXPECT_EQ(line.at("value"), 1);
}

} // namespace
} // namespace heddle::cli_test
