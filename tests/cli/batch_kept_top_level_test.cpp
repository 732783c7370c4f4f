// What the top level of a batch got from outside, in the later processes of its run.
#include "batch_fixture.hpp"
#include "batch_service.hpp"
#include "model_thread.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* was_edited = "have changed since the run began";
/// Of a program that runs a script, once per evaluation.
constexpr const char* running_head =
    "(define head (string-trim (content (system:run_script\n"
    "  (command \"echo ran >> ran.txt; date +%s%N\")))))\n";

class kept_top_level : public batch_fixture {
protected:
    /// The workflow and its files are in the directory "in", and so is what the batch writes.
    void SetUp() override { std::filesystem::create_directory(path("in")); }
    void workflow(const std::string& text) const { scratch.file("in/w.heddle", text); }
    [[nodiscard]] child_options there() const {
        child_options options = at_home();
        options.directory = path("in");
        return options;
    }
    [[nodiscard]] std::vector<std::string> inside(std::vector<std::string> more = {}) const {
        std::vector<std::string> all{"batch", "w.heddle",  "--rows", path("rows.jsonl"),
                                     "--out", "out.jsonl", "--id",   "id"};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
    [[nodiscard]] child_result start(std::vector<std::string> more = {}) const {
        return run_heddle(inside(std::move(more)), there());
    }
    [[nodiscard]] std::size_t times_run() const {
        const std::string text = scratch.text_of("in/ran.txt");
        return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    }
};

// Each start had another time, submitted the first requests again, and never came to an end.
TEST_F(kept_top_level, is_the_same_while_requests_are_parked) {
    rows_file(2);
    batch_service service;
    service.end_after_polls(1);
    workflow(
        "(define head (now))\n"
        "(defatom ask (params q) (instructions \"{{q}}\"))\n"
        "(define (main text)\n"
        "  (let* ((a (content (ask (format \"first {} {}\" text head))))\n"
        "         (b (content (ask (format \"second {} {}\" text head)))))\n"
        "    (list a b)))\n");
    child_options options = there();
    for (const auto& [name, value] : service.variables()) options.variables[name] = value;
    const auto command = inside({"--model", "openai:gpt-4o", "--park"});
    int code = 5;
    for (int i = 0; i < 6 && code == 5; ++i) code = run_heddle(command, options).code;
    EXPECT_EQ(code, 0);
    EXPECT_EQ(service.batches(), 2U);
    for (const auto& [prompt, times] : service.performed()) EXPECT_EQ(times, 1) << prompt;
    EXPECT_EQ(service.performed().size(), 4U);
}

// A replay evaluated the top level again, was refused the program, and its exit code was 0.
TEST_F(kept_top_level, is_replayed) {
    rows_file(2);
    workflow(std::string(running_head) +
             "(define began (now))\n"
             "(define (main text) (list text head began (uuid)))\n");
    ASSERT_EQ(start({"--allow-shell"}).code, 0);
    const auto before = lines_of("in/out.jsonl");
    const auto shown =
        run_heddle({"runs", "replay", path("in/out.jsonl"), "r1", "--json"}, there());
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_EQ(boost::json::parse(shown.out).at("value"), before.at(1).at("value"));
    EXPECT_EQ(times_run(), 1U);
    // Another version of the program is refused, and not evaluated.
    workflow(std::string(running_head) + "(define (main text) head)\n");
    const auto refused = run_heddle({"runs", "replay", path("in/out.jsonl"), "r1"}, there());
    EXPECT_EQ(refused.code, 2) << refused.out;
    EXPECT_THAT(refused.err, HasSubstr("another version of the program"));
}

TEST_F(kept_top_level, is_the_same_for_rows_that_come_later) {
    rows_file(2);
    workflow(std::string(running_head) + "(define (main text) head)\n");
    ASSERT_EQ(start({"--allow-shell"}).code, 0);
    rows_file(4);
    const auto ended = start({"--allow-shell"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, Not(HasSubstr(was_edited)));
    EXPECT_EQ(times_run(), 1U);
    const auto lines = lines_of("in/out.jsonl");
    ASSERT_EQ(lines.size(), 4U);
    for (const auto& line : lines) EXPECT_EQ(line.at("value"), lines.front().at("value"));
    // An edited program begins anew.
    workflow(std::string(running_head) + "(define (main text) (list head))\n");
    const auto edited = start({"--allow-shell"});
    EXPECT_EQ(edited.code, 0) << edited.err;
    EXPECT_THAT(edited.err, HasSubstr(was_edited));
    EXPECT_EQ(times_run(), 2U);
    EXPECT_EQ(start({"--allow-shell"}).code, 0);
    EXPECT_EQ(times_run(), 2U);
}

// Rows that were retried have another version, and the others go back to theirs.
TEST_F(kept_top_level, is_that_of_each_version) {
    rows_file(3);
    const auto of_version = [&](const std::string& failing) {
        workflow(std::string(running_head) + "(define (main text)\n  (if (string=? text \"" +
                 failing + "\") (error \"no\") head))\n");
    };
    of_version("t1");
    ASSERT_EQ(start({"--allow-shell"}).code, 3);
    of_version("none");
    const auto retried = start({"--allow-shell", "--retry-failed"});
    EXPECT_EQ(retried.code, 0) << retried.err;
    EXPECT_EQ(times_run(), 2U);
    EXPECT_EQ(start({"--allow-shell", "--retry-failed"}).code, 0);
    EXPECT_EQ(times_run(), 2U) << "that of the retry is kept, too";
    of_version("t1");
    EXPECT_EQ(start({"--allow-shell", "--retry-failed"}).code, 0);
    EXPECT_EQ(times_run(), 2U) << "and that of the other rows";
}

// They printed, wrote and ran what the top level does.
TEST_F(kept_top_level, has_no_effect_when_a_batch_is_looked_at) {
    rows_file(2);
    workflow(
        "(print \"printed\")\n(write-file \"made.txt\" \"x\")\n"
        "(define (main text) text)\n");
    for (const char* look : {"--plan", "--dry-run"}) {
        const auto looked = start({look});
        EXPECT_EQ(looked.code, 0) << looked.err;
        EXPECT_THAT(looked.out, AllOf(HasSubstr("2 rows"), Not(HasSubstr("printed"))));
        EXPECT_FALSE(std::filesystem::exists(path("in/made.txt")));
    }
    workflow(std::string(running_head) + "(define (main text) head)\n");
    for (const char* look : {"--plan", "--dry-run"}) {
        const auto looked = start({look, "--allow-shell"});
        EXPECT_EQ(looked.code, 2) << looked.out;
        EXPECT_THAT(looked.err,
                    AllOf(HasSubstr("no program is started"), HasSubstr("call it in main")));
    }
    EXPECT_EQ(times_run(), 0U);
    ASSERT_EQ(start({"--allow-shell"}).code, 0);
    for (const char* look : {"--plan", "--dry-run"})
        EXPECT_EQ(start({look, "--allow-shell"}).code, 0) << "what it got is known";
    EXPECT_EQ(times_run(), 1U);
}

// It was refused after its top level had been evaluated.
TEST_F(kept_top_level, is_not_evaluated_while_another_process_works_on_the_run) {
    rows_file(1);
    model_thread model(R"json({"rules": [{"match": ".*", "text": "x", "delay_ms": 600000}]})json");
    workflow(std::string(running_head) + asking_workflow);
    const auto command =
        inside({"--allow-shell", "--model", "openai:gpt-4o", "--base-url", model.url()});
    child_process child(heddle_command(command), there());
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests == 1; }));
    const auto refused = run_heddle(command, there());
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_EQ(times_run(), 1U);
    child.send_signal(SIGKILL);
    (void)child.wait();
}

TEST_F(kept_top_level, leaves_nothing_of_a_run_that_cannot_begin) {
    rows_file(1);
    workflow("(define (main text) text)\n(error \"no\")\n");
    EXPECT_EQ(start().code, 2);
    EXPECT_FALSE(std::filesystem::exists(path("in/out.jsonl.run")));
}

// Which of the reads had ended when a branch was cancelled differed by chance.
TEST_F(kept_top_level, is_unchanged_whichever_reads_had_ended) {
    rows_file(1);
    const std::string large(3'000'000, 'x');
    scratch.file("in/y.txt", large);
    scratch.file("in/z.txt", large);
    scratch.file("in/x.txt", "x");
    for (const char* head :
         {"(race (read-file \"y.txt\") (read-file \"z.txt\") (read-file \"x.txt\"))",
          "(try (parallel (read-file \"y.txt\") (read-file \"missing.txt\")\n"
          "  (read-file \"x.txt\")) (catch (e) \"none\"))"}) {
        workflow(std::string("(define head ") + head + ")\n(define (main text) text)\n");
        (void)start();
        for (int i = 0; i < 5; ++i) {
            const auto again = start();
            EXPECT_EQ(again.code, 0) << again.err;
            EXPECT_THAT(again.err, Not(HasSubstr(was_edited)));
        }
    }
}

// What the batch writes itself was an edit of its program.
TEST_F(kept_top_level, lists_a_directory_without_the_files_of_the_batch) {
    rows_file(1);
    workflow("(define names (list-directory))\n(define (main text) names)\n");
    ASSERT_EQ(start().code, 0);
    EXPECT_THAT(start().err, Not(HasSubstr(was_edited)));
    scratch.file("in/more.txt", "x");
    EXPECT_THAT(start().err, HasSubstr(was_edited));
}

TEST_F(kept_top_level, is_unchanged_by_the_files_that_it_writes) {
    rows_file(1);
    workflow(
        "(define seen (try (read-file \"seen.txt\") (catch (e) \"\")))\n"
        "(write-file \"seen.txt\" (string-append seen \"x\"))\n"
        "(define (main text) seen)\n");
    ASSERT_EQ(start().code, 0);
    EXPECT_THAT(start().err, Not(HasSubstr(was_edited)));
    EXPECT_EQ(scratch.text_of("in/seen.txt"), "x");
    scratch.file("in/seen.txt", "other");
    EXPECT_THAT(start().err, HasSubstr(was_edited));
}

// What the top level wrote into a directory that it lists was an edit.
TEST_F(kept_top_level, is_unchanged_by_what_it_writes_into_a_directory_that_it_lists) {
    rows_file(1);
    std::filesystem::create_directory(path("in/made"));
    for (const std::string& folder : {std::string("made"), std::string("./made/")}) {
        SCOPED_TRACE(folder);
        workflow("(define names (list-directory \"" + folder +
                 "\"))\n"
                 "(write-file \"made/b.txt\" (format \"{}\" (now)))\n"
                 "(write-file \"made/a.txt\" \"x\")\n"
                 "(define (main text) names)\n");
        (void)start({"--force"});
        EXPECT_THAT(start().err, Not(HasSubstr(was_edited)));
        scratch.file("in/made/c.txt", "x");
        const auto ended = start();
        EXPECT_THAT(ended.err, AllOf(HasSubstr(was_edited), HasSubstr("lists the directory"),
                                     HasSubstr("made"), HasSubstr("has other files now")));
        std::filesystem::remove_all(path("in/made"));
        std::filesystem::create_directory(path("in/made"));
    }
}

// An edit that nobody has made was not explained.
TEST_F(kept_top_level, names_what_it_reads_that_has_changed) {
    rows_file(1);
    scratch.file("in/labels.txt", "a");
    workflow(
        "(define labels (read-file \"labels.txt\"))\n"
        "(define more (file-exists? \"more.txt\"))\n"
        "(define (main text) (list labels more))\n");
    ASSERT_EQ(start().code, 0);
    scratch.file("in/labels.txt", "b");
    EXPECT_THAT(start().err, HasSubstr("(labels.txt, which its top level reads, is another file)"));
    scratch.file("in/more.txt", "b");
    EXPECT_THAT(start().err, HasSubstr("looks for more.txt"));
    workflow(
        "(define labels (read-file \"labels.txt\"))\n"
        "(define (main text) labels)\n");
    EXPECT_THAT(start().err, AllOf(HasSubstr(was_edited), Not(HasSubstr("its top level"))));
}

// Variables of the environment are not part of the program: what is known of them is kept.
TEST_F(kept_top_level, has_the_environment_that_it_had) {
    rows_file(1);
    workflow(
        "(define head (string-trim (content (system:run_script (command \"echo $PATH\")))))\n"
        "(define own (try (getenv \"FLAVOUR\") (catch (e) (get e 'message))))\n"
        "(define (main text) (list head own))\n");
    child_options sweet = there();
    sweet.variables["PATH"] = "/usr/bin:/bin:/sweet";
    sweet.variables["FLAVOUR"] = "sweet";
    ASSERT_EQ(run_heddle(inside({"--allow-shell"}), sweet).code, 0);
    rows_file(2);
    child_options sour = there();
    sour.variables["PATH"] = "/usr/bin:/bin:/sour";
    sour.variables["FLAVOUR"] = "sour";
    const auto ended = run_heddle(inside({"--allow-shell"}), sour);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, Not(HasSubstr(was_edited)));
    const auto lines = lines_of("in/out.jsonl");
    ASSERT_EQ(lines.size(), 2U);
    for (const auto& line : lines) {
        EXPECT_EQ(line.at("value").as_array().at(0).as_string(), "/usr/bin:/bin:/sweet");
        EXPECT_THAT(std::string(line.at("value").as_array().at(1).as_string()),
                    HasSubstr("does not allow reading 'FLAVOUR'"));
    }
}

// It was a call of a task, in words that nobody who had written none could understand.
TEST_F(kept_top_level, finds_context_without_a_model) {
    rows_file(1);
    std::filesystem::create_directory(path("in/notes"));
    scratch.file("in/notes/one.md", "about lighthouses");
    workflow(
        "(define found (get_context (query \"lighthouses\")))\n"
        "(define (main text) (length found))\n");
    model_thread model(R"json({"rules": [{"match": ".*", "text": "x"}]})json");
    const auto ended = start({"--index", "notes", "--match-with-model", "--model", "openai:gpt-4o",
                              "--base-url", model.url()});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("were not chosen by a model: none is asked outside"),
                                 Not(HasSubstr("calls a task"))));
    EXPECT_EQ(model.counters().requests, 0U);
}

// It was not a source of the program.
TEST_F(kept_top_level, follows_the_files_that_belong_to_a_question) {
    rows_file(1);
    std::filesystem::create_directory(path("in/notes"));
    scratch.file("in/notes/one.md", "about lighthouses");
    workflow(
        "(define found (get_context (query \"lighthouses\")))\n"
        "(define (main text) (length found))\n");
    const std::vector<std::string> index{"--index", "notes"};
    ASSERT_EQ(start(index).code, 0);
    EXPECT_THAT(start(index).err, Not(HasSubstr(was_edited)));
    scratch.file("in/notes/two.md", "more about lighthouses");
    EXPECT_THAT(start(index).err, HasSubstr(was_edited));
    EXPECT_EQ(lines_of("in/out.jsonl").at(0).at("value"), 2);
}

} // namespace
} // namespace heddle::cli_test
