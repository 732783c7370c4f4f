// `heddle runs replay` and `heddle runs diff`.
#include "batch_fixture.hpp"
#include "model_thread.hpp"
#include "scripted_rules.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<boost::json::object> objects_in(const std::string& text) {
    std::vector<boost::json::object> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        all.push_back(boost::json::parse(line).as_object());
    return all;
}

class replays : public batch_fixture {
protected:
    [[nodiscard]] std::vector<std::string> asking(const std::string& url,
                                                  std::vector<std::string> more = {}) const {
        std::vector<std::string> all{"--model", "openai:gpt-4o", "--base-url", url};
        all.insert(all.end(), more.begin(), more.end());
        return command(all);
    }
    [[nodiscard]] child_result replay(std::vector<std::string> more) const {
        std::vector<std::string> all{"runs", "replay", path("out.jsonl")};
        all.insert(all.end(), more.begin(), more.end());
        return run_heddle(all);
    }
    /// Two calls and a file for each row; t3 fails.
    std::string effects =
        scratch.file("w.heddle",
                     "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                     "(define (main text)\n"
                     "  (let ((a (get (ask text) 'content)))\n"
                     "    (write-file (string-append text \".txt\") a)\n"
                     "    (print \"printed\")\n"
                     "    (if (string=? text \"t3\") (error \"no threes\")\n"
                     "      (string-append a (get (ask \"more\") 'content)))))\n");
};

TEST_F(replays, show_the_steps_of_a_row_and_do_nothing) {
    rows_file(5);
    {
        model_thread model(R"({"rules": [{"match": ".*", "text": "yes",
            "usage": {"input": 1000, "output": 500}}]})");
        const auto ran = run_heddle(asking(model.url(), {"--workspace", scratch.path()}));
        ASSERT_EQ(ran.code, 3) << ran.err;
    }
    ASSERT_TRUE(std::filesystem::remove(path("t1.txt")));
    const std::string journal = scratch.text_of("out.jsonl.run/run.db");
    const auto shown = replay({"r1"});
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_THAT(shown.out, AllOf(HasSubstr("ask  (1 request, 1,000 tokens in, 500 out, $0.0075)  "
                                           "\"yes\""),
                                 HasSubstr("write-file"), HasSubstr("value: \"yesyes\""),
                                 Not(HasSubstr("printed"))));
    EXPECT_FALSE(std::filesystem::exists(path("t1.txt")));
    EXPECT_EQ(scratch.text_of("out.jsonl.run/run.db"), journal);
    const auto by_number = replay({"1", "--json"});
    EXPECT_EQ(by_number.code, 0) << by_number.err;
    const auto lines = objects_in(by_number.out);
    ASSERT_EQ(lines.size(), 5U) << by_number.out;
    EXPECT_EQ(lines[0].at("name").as_string(), "task ask");
    EXPECT_EQ(lines[0].at("kind").as_string(), "answer");
    EXPECT_EQ(lines[0].at("cost_usd").to_number<double>(), 0.0075);
    EXPECT_EQ(lines[0].at("answer").as_string(), "\"yes\"");
    EXPECT_EQ(lines[4].at("end").as_string(), "done");
    EXPECT_EQ(lines[4].at("value").as_string(), "yesyes");
    const auto failed = replay({"r3"});
    EXPECT_EQ(failed.code, 0) << failed.err;
    EXPECT_THAT(failed.out, HasSubstr("failed: no threes"));
    const auto until = replay({"r1", "--until", "2"});
    EXPECT_EQ(until.code, 0) << until.err;
    EXPECT_THAT(until.out,
                AllOf(HasSubstr("write-file"), Not(HasSubstr("print")), Not(HasSubstr("value"))));
    const std::string second_path(lines[1].at("path").as_string());
    EXPECT_EQ(replay({"r1", "--until", second_path.substr(0, 12)}).out, until.out);
    const auto far = replay({"r1", "--until", "99"});
    EXPECT_EQ(far.code, 1);
    EXPECT_THAT(far.err, HasSubstr("there is no such step"));
    EXPECT_EQ(replay({"r1", "--until", "x"}).code, 2);
    EXPECT_EQ(replay({"r9"}).code, 2);
    EXPECT_EQ(replay({}).code, 2);
}

TEST_F(replays, end_where_the_records_end_also_while_the_run_is_going) {
    rows_file(2);
    model_thread model(R"({"rules": [{"match": "more", "text": "yes", "delay_ms": 600000},
                                     {"match": ".*", "text": "yes"}]})");
    child_process child(heddle_command(asking(model.url(), {"--workspace", scratch.path()})),
                        at_home());
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests == 4; }));
    const auto going = replay({"r0"});
    EXPECT_EQ(going.code, 1) << going.out;
    EXPECT_THAT(going.out, HasSubstr("write-file"));
    EXPECT_THAT(going.err, HasSubstr("the journal ends here: not recorded is 'task ask'"));
    child.send_signal(SIGKILL);
    (void)child.wait();
    const auto killed = replay({"r1", "--json"});
    EXPECT_EQ(killed.code, 1) << killed.out;
    EXPECT_EQ(objects_in(killed.out).back().at("end").as_string(), "not recorded");
    EXPECT_EQ(model.counters().requests, 4U);
}

TEST_F(replays, of_single_runs_need_neither_server_nor_row) {
    scratch.file("m.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main n) (map (lambda (i) (get (ask \"q\") 'content)) (range n)))\n");
    {
        model_thread model(always_answering("yes"));
        const auto ran = run_heddle({"run", path("m.heddle"), "--run", path("kept"), "--model",
                                     "openai:gpt-4o", "--base-url", model.url(), "-i", "n:=3"});
        ASSERT_EQ(ran.code, 0) << ran.err;
    }
    scratch.file("m.heddle", "(define (main n) (error \"another program\"))");
    const auto shown = run_heddle({"runs", "replay", path("kept"), "--json"});
    EXPECT_EQ(shown.code, 0) << shown.err;
    const auto lines = objects_in(shown.out);
    EXPECT_EQ(lines.back().at("end").as_string(), "done") << shown.out;
    EXPECT_EQ(lines.back().at("value").as_array().size(), 3U);
    EXPECT_EQ(run_heddle({"runs", "replay", path("kept"), "r1"}).code, 2);
}

TEST_F(replays, are_refused_after_an_edit) {
    rows_file(1);
    scratch.file("w.heddle", "(define (main text) (string-upcase text))");
    ASSERT_EQ(batch().code, 0);
    EXPECT_EQ(replay({"r0"}).code, 0);
    scratch.file("w.heddle", "(define (main text) text)");
    const auto changed = replay({"r0"});
    EXPECT_EQ(changed.code, 2) << changed.out;
    EXPECT_THAT(changed.err, HasSubstr("under another version of the program"));
}

TEST_F(replays, show_the_last_attempt) {
    rows_file(1);
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main text)\n"
                 "  (list (get (ask \"first\") 'content)\n"
                 "        (with ((on-failure 'raise)) (get (ask \"second\") 'content))))\n");
    model_thread model(R"({"rules": [
        {"match": "second", "text": "b", "error": {"status": 400, "message": "no", "times": 1}},
        {"match": ".*", "text": "a"}]})");
    EXPECT_EQ(run_heddle(asking(model.url())).code, 3);
    const auto failed = replay({"r0", "--json"});
    EXPECT_EQ(failed.code, 0) << failed.err;
    EXPECT_EQ(objects_in(failed.out).back().at("end").as_string(), "failed") << failed.out;
    EXPECT_EQ(objects_in(failed.out).back().at("steps").to_number<int>(), 2);
    ASSERT_EQ(run_heddle(asking(model.url(), {"--retry-failed"})).code, 0);
    const auto done = replay({"r0", "--json"});
    EXPECT_EQ(done.code, 0) << done.err;
    const auto lines = objects_in(done.out);
    EXPECT_EQ(boost::json::serialize(lines.back().at("value")), R"(["a","b"])") << done.out;
    EXPECT_EQ(lines.back().at("steps").to_number<int>(), 2);
    EXPECT_EQ(model.counters().requests, 3U);
}

class diffs : public batch_fixture {
protected:
    void run_with(const std::string& workflow, const std::string& out) {
        scratch.file("w.heddle", workflow);
        (void)run_heddle({"batch", path("w.heddle"), "--rows", path("rows.jsonl"), "--out",
                          path(out), "--id", "id"});
    }
};

TEST_F(diffs, show_rows_whose_results_differ) {
    rows_file(6);
    run_with("(define (main text) (if (string=? text \"t5\") (error \"no\") text))", "a.jsonl");
    rows_file(7);
    run_with("(define (main text) (if (string=? text \"t2\") \"other\" text))", "b.jsonl");
    const auto same = run_heddle({"runs", "diff", path("a.jsonl"), path("a.jsonl")});
    EXPECT_EQ(same.code, 0) << same.err;
    EXPECT_THAT(same.out, HasSubstr("6 same, 0 different"));
    const auto text = run_heddle({"runs", "diff", path("a.jsonl"), path("b.jsonl")});
    EXPECT_EQ(text.code, 1) << text.err;
    EXPECT_THAT(text.out,
                AllOf(HasSubstr("r2\n  < \"t2\"\n  > \"other\"\n"),
                      HasSubstr("r5\n  < failed: no\n  > \"t5\"\n"),
                      HasSubstr("r6\n  < (no result)\n  > \"t6\"\n"),
                      HasSubstr("4 same, 2 different, 0 only in "),
                      HasSubstr("failed: 1 only in the first, 0 only in the second, 0 in both")));
    const auto json = run_heddle({"runs", "diff", path("a.jsonl"), path("b.jsonl"), "--json"});
    EXPECT_EQ(json.code, 1);
    const auto lines = objects_in(json.out);
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_EQ(lines[0].at("id").as_string(), "r2");
    EXPECT_EQ(lines[0].at("b").as_object().at("value").as_string(), "other");
    EXPECT_EQ(lines[3].at("different").to_number<int>(), 2);
    EXPECT_EQ(lines[3].at("only_b").to_number<int>(), 1);
    EXPECT_EQ(run_heddle({"runs", "diff", path("a.jsonl"), path("c.jsonl")}).code, 2);
}

TEST_F(diffs, show_the_steps_that_made_the_difference) {
    rows_file(2);
    model_thread model(R"rules({"rules": [{"match": "shorter: t1", "text": "b"},
        {"match": "^(short|judge)", "text": "a"}, {"match": ".*", "text": "c"}]})rules");
    const auto run = [&](const std::string& prompt, const std::string& out) {
        scratch.file("w.heddle", "(defatom summary (params q) (instructions \"" + prompt +
                                     ": {{q}}\"))\n"
                                     "(defatom verdict (params q) (instructions \"judge {{q}}\"))\n"
                                     "(define (main text)\n"
                                     "  (define s (summary text))\n"
                                     "  (list (content s) (content (verdict (content s)))))");
        const auto ended =
            run_heddle({"batch", path("w.heddle"), "--rows", path("rows.jsonl"), "--out", path(out),
                        "--id", "id", "--model", "openai:gpt-4o", "--base-url", model.url()});
        ASSERT_EQ(ended.code, 0) << ended.err;
    };
    run("short", "a.jsonl");
    run("shorter", "b.jsonl");
    const auto text = run_heddle({"runs", "diff", path("a.jsonl"), path("b.jsonl")});
    EXPECT_EQ(text.code, 1) << text.err;
    EXPECT_THAT(text.out, HasSubstr("    step 1 task summary: request and response differ\n"
                                    "    step 2 task verdict: arguments and request differ\n"));
    const auto json = run_heddle({"runs", "diff", path("a.jsonl"), path("b.jsonl"), "--json"});
    const auto line = boost::json::parse(json.out.substr(0, json.out.find('\n'))).as_object();
    EXPECT_EQ(line.at("id"), "r1");
    const auto& steps = line.at("steps").as_array();
    ASSERT_EQ(steps.size(), 2U);
    EXPECT_EQ(steps[0].at("name"), "task summary");
    EXPECT_EQ(boost::json::serialize(steps[0].at("changed")), R"(["request","response"])");
    EXPECT_EQ(steps[0].at("a").at("answer"), "\"a\"");
    EXPECT_EQ(steps[0].at("b").at("answer"), "\"b\"");
    EXPECT_EQ(steps[1].at("b").at("step").to_number<int>(), 2);
    // The other row has the same result, by another prompt.
    EXPECT_THAT(text.out, Not(HasSubstr("r0\n")));
    const auto all = run_heddle({"runs", "diff", path("a.jsonl"), path("b.jsonl"), "--steps"});
    EXPECT_THAT(all.out, AllOf(HasSubstr("r0\n  < [\"a\",\"a\"]\n  > [\"a\",\"a\"]\n"
                                         "    step 1 task summary: request differs\n"),
                               HasSubstr("1 same (1 with other steps), 1 different")));
    const auto last = run_heddle(
        {"runs", "diff", path("a.jsonl"), path("b.jsonl"), "--steps", "-n", "0", "--json"});
    EXPECT_EQ(boost::json::parse(last.out).at("same_with_other_steps").to_number<int>(), 1);
    EXPECT_EQ(run_heddle({"runs", "diff", path("a.jsonl"), path("a.jsonl"), "--steps"}).code, 0);
}

// The next request repeats the id of a tool call, which the service makes up.
TEST_F(diffs, do_not_compare_the_ids_of_tool_calls) {
    rows_file(1);
    const auto run = [&](const std::string& id, const std::string& item, const std::string& out) {
        model_thread model(R"rules({"rules": [{"match": {"user": "ask", "tool": "^$"},
            "tool_calls": [{"name": "price_of", "id": ")rules" +
                           id + R"rules(", "arguments": {"item": ")rules" + item +
                           R"rules("}}]}, {"match": ".*", "text": "cheap"}]})rules");
        scratch.file("w.heddle",
                     "(deftool price-of (params item) (description \"price\") \"5\")\n"
                     "(defatom a (params q) (instructions \"ask {{q}}\") (tools (price-of)))\n"
                     "(define (main text) (content (a text)))");
        const auto ended =
            run_heddle({"batch", path("w.heddle"), "--rows", path("rows.jsonl"), "--out", path(out),
                        "--id", "id", "--model", "openai:gpt-4o", "--base-url", model.url()});
        ASSERT_EQ(ended.code, 0) << ended.err;
        ASSERT_EQ(model.counters().requests, 2U);
    };
    const auto steps_of = [&](const std::string& a, const std::string& b) {
        return run_heddle({"runs", "diff", path(a), path(b), "--steps"});
    };
    run("call_1", "tea", "a.jsonl");
    run("call_2", "tea", "b.jsonl");
    run("call_3", "jam", "c.jsonl");
    const auto same = steps_of("a.jsonl", "b.jsonl");
    EXPECT_EQ(same.code, 0) << same.out;
    const auto other = steps_of("a.jsonl", "c.jsonl");
    EXPECT_EQ(other.code, 1);
    EXPECT_THAT(other.out, HasSubstr("    step 1 task a: request differs\n"));
}

// A row that was rejected, as its id was taken, was compared with the first one of that id.
TEST_F(diffs, match_rows_of_the_same_id_in_their_order) {
    scratch.file("rows.jsonl",
                 "{\"id\": \"a\", \"text\": \"1\"}\n{\"id\": \"a\", \"text\": \"2\"}\n"
                 "{\"id\": \"b\", \"text\": \"3\"}\n{\"id\": \"a\", \"text\": \"4\"}\n");
    for (const char* out : {"a.jsonl", "b.jsonl"}) run_with("(define (main text) text)", out);
    const auto same = run_heddle({"runs", "diff", path("a.jsonl"), path("b.jsonl")});
    EXPECT_EQ(same.code, 0) << same.out;
    EXPECT_THAT(same.out, HasSubstr("4 same, 0 different, 0 only in "));
}

TEST_F(diffs, of_single_runs_compare_their_values) {
    scratch.file("a.heddle", "(define (main) 1)");
    scratch.file("b.heddle", "(define (main) 2)");
    ASSERT_EQ(run_heddle({"run", path("a.heddle"), "--run", path("a")}).code, 0);
    ASSERT_EQ(run_heddle({"run", path("b.heddle"), "--run", path("b")}).code, 0);
    const auto text = run_heddle({"runs", "diff", path("a"), path("b")});
    EXPECT_EQ(text.code, 1) << text.err;
    EXPECT_THAT(text.out, AllOf(HasSubstr("  < 1\n  > 2\n"), HasSubstr("0 same, 1 different")));
    EXPECT_EQ(run_heddle({"runs", "diff", path("a"), path("a")}).code, 0);
}

} // namespace
} // namespace heddle::cli_test
