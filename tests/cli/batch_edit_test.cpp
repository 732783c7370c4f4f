// Batches whose program has changed: what was answered before is used again.
#include "batch_fixture.hpp"
#include "model_thread.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <set>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Answers with the prompt, so that an edited prompt has another response; each costs 0.0075
/// dollars.
constexpr const char* echoing = R"json({"rules": [
    {"match": "(?s)(?P<asked>.*)", "template": "<{{asked}}>",
     "usage": {"input": 1000, "output": 500}}]})json";

class edited_batches : public batch_fixture {
protected:
    /// Three tasks: `advice` depends on `topic`, `other` on nothing.
    void write_workflow(const std::string& first, const std::string& more = "") const {
        scratch.file("w.heddle", "(defatom topic (params q) (instructions \"" + first +
                                     "{{q}}\"))\n"
                                     "(defatom advice (params q) (instructions \"last {{q}}\"))\n"
                                     "(defatom other (params q) (instructions \"other {{q}}\"))\n"
                                     "(define (main text)\n"
                                     "  (let ((a (get (topic text) 'content))\n"
                                     "        (b (get (other text) 'content)))\n"
                                     "    (list (get (advice a) 'content) b" +
                                     more + ")))\n");
    }
    [[nodiscard]] std::vector<std::string> asking(std::vector<std::string> more = {}) const {
        return batch_fixture::asking(url, std::move(more));
    }
    [[nodiscard]] std::uint64_t requests() { return model.counters().requests; }
    /// Every row has the responses to prompts that begin so.
    void expect_values(int count, const std::string& first) const {
        expect_each_row_once(count);
        for (const auto& line : lines_of("out.jsonl")) {
            const std::string text = "t" + std::string(line.at("id").as_string()).substr(1);
            const auto& values = line.at("value").as_array();
            EXPECT_EQ(values.at(0).as_string(), "<last <" + first + text + ">>");
            EXPECT_EQ(values.at(1).as_string(), "<other " + text + ">");
        }
    }

    model_thread model{echoing};
    std::string url = model.url();
};

TEST_F(edited_batches, ask_again_only_what_depends_on_the_edit) {
    rows_file(20);
    write_workflow("first ");
    ASSERT_EQ(run_heddle(asking()).code, 0);
    ASSERT_EQ(requests(), 60U);
    write_workflow("edited ");
    const auto ended = run_heddle(asking());
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("have changed since the run began"),
                                 HasSubstr("20 rows run again")));
    EXPECT_EQ(requests(), 100U); // `other` was not asked again
    expect_values(20, "edited ");
    for (const auto& line : lines_of("out.jsonl")) {
        EXPECT_EQ(line.at("usage").at("requests").to_number<int>(), 5); // of both versions
        EXPECT_NEAR(line.at("cost_usd").to_number<double>(), 0.0375, 1e-9);
    }
    EXPECT_THAT(ended.err, HasSubstr("$0.75, $0.3 of it now"));
    EXPECT_FALSE(std::filesystem::exists(path("out.new.jsonl")));
}

TEST_F(edited_batches, ask_nothing_where_no_request_has_changed) {
    rows_file(10);
    write_workflow("first ");
    ASSERT_EQ(run_heddle(asking()).code, 0);
    write_workflow("first ", " (string-upcase text)");
    const auto ended = run_heddle(asking());
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(requests(), 30U);
    expect_values(10, "first ");
    EXPECT_THAT(scratch.text_of("out.jsonl"), HasSubstr("\"T7\"]"));
    EXPECT_THAT(ended.err, HasSubstr("$0.225, nothing of it now"));
}

TEST_F(edited_batches, know_the_answers_of_every_earlier_version) {
    rows_file(5);
    for (const char* version : {"first ", "second ", "third "}) {
        write_workflow(version);
        ASSERT_EQ(run_heddle(asking()).code, 0);
    }
    ASSERT_EQ(requests(), 15U + 10U + 10U);
    for (const char* version : {"first ", "third ", "second "}) {
        write_workflow(version);
        const auto ended = run_heddle(asking());
        EXPECT_EQ(ended.code, 0) << ended.err;
        expect_values(5, version);
    }
    EXPECT_EQ(requests(), 35U);
}

// No row ran, although nothing would have been asked.
TEST_F(edited_batches, run_again_within_a_bound_that_is_used_up) {
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{}, {"--threads", "2"}, {"--ordered"}}) {
        SCOPED_TRACE(more.empty() ? "" : more.front());
        const std::uint64_t before = requests();
        const std::string own = more.empty() ? "plain" : more.front().substr(2);
        const auto within = [&](const std::string& calls) {
            std::vector<std::string> all{"--max-calls", calls,     "--json",
                                         "--run",       path(own), "--force"};
            all.insert(all.end(), more.begin(), more.end());
            return run_heddle(asking(all));
        };
        rows_file(6);
        write_workflow("first ");
        ASSERT_EQ(within("18").code, 0);
        ASSERT_EQ(requests() - before, 18U);
        write_workflow("first ", " (string-upcase text)");
        rows_file(8); // two are new
        const auto left = within("18");
        EXPECT_EQ(left.code, 4) << left.err;
        const auto summary = boost::json::parse(left.out).as_object();
        EXPECT_EQ(summary.at("stopped_by").as_string(), "max-calls");
        EXPECT_EQ(summary.at("rows").at("done").as_int64(), 6) << left.out;
        EXPECT_EQ(summary.at("spent").at("requests").as_int64(), 18);
        // What has a changed request is left, and goes on with a larger bound.
        scratch.file("w.heddle",
                     "(defatom topic (params q) (instructions \"first {{q}}\"))\n"
                     "(define (main text)\n"
                     "  (content (topic (if (equal? text \"t4\") \"another\" text))))\n");
        rows_file(6);
        const auto again = within("18");
        EXPECT_EQ(again.code, 4) << again.err;
        const auto counts = boost::json::parse(again.out).as_object();
        // In order, the row behind it could not be written: it is done if it had begun before.
        const std::int64_t done = counts.at("rows").at("done").as_int64();
        EXPECT_LE(done, 5) << again.out;
        EXPECT_GE(done, own == "ordered" ? 4 : 5) << again.out;
        EXPECT_EQ(counts.at("spent").at("requests").as_int64(), 18);
        EXPECT_EQ(requests() - before, 18U);
        EXPECT_EQ(within("21").code, 0); // a row is reckoned with the mean of three
        EXPECT_EQ(requests() - before, 19U);
        expect_each_row_once(6);
        EXPECT_THAT(scratch.text_of("out.jsonl"), HasSubstr("<first another>"));
    }
}

// A row that was held is neither done nor forgotten, and its branches decide nothing without it.
TEST_F(edited_batches, end_rows_whole_at_a_bound_that_is_used_up) {
    rows_file(4);
    const auto racing = [&](const std::string& asked) {
        scratch.file("w.heddle",
                     "(defatom topic (params q) (instructions \"{{q}}\"))\n"
                     "(define (main text)\n"
                     "  (race (content (topic (string-append text \"" +
                         asked +
                         "\")))\n"
                         "        (begin (sleep 600) \"late\")))\n");
    };
    racing(" a");
    ASSERT_EQ(run_heddle(asking()).code, 0);
    ASSERT_EQ(requests(), 4U);
    racing(" b");
    const std::string before = scratch.text_of("out.jsonl");
    const auto held = run_heddle(asking({"--max-calls", "4", "--json"}));
    EXPECT_EQ(held.code, 4) << held.err;
    EXPECT_EQ(boost::json::parse(held.out).at("rows").at("done").as_int64(), 0) << held.out;
    EXPECT_EQ(scratch.text_of("out.jsonl"), before);
    // What it would cost is still known.
    const auto plan = run_heddle(asking({"--plan", "--json"}));
    EXPECT_EQ(boost::json::parse(plan.out).at("again").as_int64(), 4) << plan.out;
    EXPECT_EQ(run_heddle(asking()).code, 0);
    EXPECT_EQ(requests(), 8U);
    EXPECT_THAT(scratch.text_of("out.jsonl"), AllOf(HasSubstr("<t3 b>"), Not(HasSubstr("late"))));
}

// Rows that had begun, and not ended, were not a reason to keep the earlier results.
TEST_F(edited_batches, keep_the_earlier_results_while_rows_have_begun) {
    rows_file(4);
    write_workflow("first ");
    ASSERT_EQ(run_heddle(asking()).code, 0);
    const std::string before = scratch.text_of("out.jsonl");
    scratch.file("w.heddle",
                 "(define (main text)\n"
                 "  (if (file-exists? \"go\") text (system:ask_user (question text))))\n");
    child_options there = at_home();
    there.directory = scratch.path();
    ASSERT_EQ(run_heddle(asking(), there).code, 4);
    scratch.file("go", "");
    for (const char* row : {"r0", "r1"})
        ASSERT_EQ(run_heddle({"runs", "answer", path("out.jsonl"), row, "yes"}).code, 0);
    const auto some = run_heddle(asking({"--limit", "2"}), there);
    EXPECT_EQ(some.code, 0) << some.err;
    EXPECT_EQ(scratch.text_of("out.jsonl"), before);
}

/// A program that was mended for the rows that failed.
TEST_F(edited_batches, that_are_retried_keep_the_results_that_are_there) {
    rows_file(4);
    const auto deciding = [&](const std::string& first, const std::string& wanted) {
        scratch.file("w.heddle", "(defatom topic (params q) (instructions \"" + first +
                                     "{{q}}\"))\n"
                                     "(define (main text)\n"
                                     "  (if (equal? text \"t2\") (" +
                                     wanted + ")\n      (get (topic text) 'content)))\n");
    };
    deciding("first ", "error \"no\"");
    ASSERT_EQ(run_heddle(asking()).code, 3);
    ASSERT_EQ(requests(), 3U);
    deciding("edited ", "begin (get (topic text) 'content)");
    const auto retried = run_heddle(asking({"--retry-failed"}));
    EXPECT_EQ(retried.code, 0) << retried.err;
    EXPECT_THAT(retried.err, HasSubstr("3 rows keep their results"));
    EXPECT_EQ(requests(), 4U);
    expect_each_row_once(4);
    const auto again = boost::json::parse(run_heddle(asking({"--retry-failed", "--json"})).out);
    EXPECT_TRUE(again.at("edited").as_bool());
    EXPECT_TRUE(again.at("mixed").as_bool());
    EXPECT_EQ(again.at("outdated").as_int64(), 0);
    EXPECT_THAT(scratch.text_of("out.jsonl"),
                AllOf(HasSubstr("<first t0>"), HasSubstr("<edited t2>")));
    const auto all = run_heddle(asking());
    EXPECT_EQ(all.code, 0) << all.err;
    EXPECT_EQ(requests(), 7U);
    expect_each_row_once(4);
    EXPECT_THAT(scratch.text_of("out.jsonl"),
                AllOf(Not(HasSubstr("<first")), HasSubstr("<edited t2>")));
}

/// A response that made a row fail does not answer a retry, whatever has been edited besides.
TEST_F(edited_batches, that_are_retried_ask_anew_for_what_failed) {
    rows_file(3);
    const auto checking = [&](const std::string& more) {
        scratch.file("w.heddle",
                     "(defatom topic (params q) (instructions \"say {{q}}\"))\n"
                     "(define (main text)\n"
                     "  (let ((said (get (topic text) 'content)))\n"
                     "    (if (equal? text \"t1\") (error \"not usable\") said)))" +
                         more + "\n");
    };
    checking("");
    ASSERT_EQ(run_heddle(asking()).code, 3);
    ASSERT_EQ(requests(), 3U);
    checking("\n(define edited #t)");
    EXPECT_EQ(run_heddle(asking({"--retry-failed"})).code, 3);
    EXPECT_EQ(requests(), 4U);
}

TEST_F(edited_batches, replace_files_behind_links_with_their_permissions) {
    rows_file(3);
    std::filesystem::create_directory(path("elsewhere"));
    scratch.file("elsewhere/real.jsonl", "");
    std::filesystem::create_symlink("elsewhere/real.jsonl", path("out.jsonl"));
    write_workflow("first ");
    ASSERT_EQ(run_heddle(asking()).code, 0);
    std::filesystem::permissions(path("elsewhere/real.jsonl"), std::filesystem::perms(0640));
    write_workflow("edited ");
    const auto ended = run_heddle(asking());
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_values(3, "edited ");
    EXPECT_TRUE(std::filesystem::is_symlink(path("out.jsonl")));
    EXPECT_EQ(std::filesystem::status(path("elsewhere/real.jsonl")).permissions(),
              std::filesystem::perms(0640));
}

/// Equal requests of a row are different votes: each response is used once.
TEST_F(edited_batches, use_each_answer_once) {
    rows_file(4);
    const auto votes = [&](const std::string& how_many, const std::string& also) {
        scratch.file("w.heddle",
                     "(defatom vote (params q) (instructions \"{{q}}\"))\n"
                     "(define (main text) " +
                         also + "(map (lambda (i) (get (vote text) 'content)) (range " + how_many +
                         ")))\n");
    };
    votes("3", "");
    ASSERT_EQ(run_heddle(asking()).code, 0);
    ASSERT_EQ(requests(), 12U);
    votes("5", "(string-upcase text) ");
    ASSERT_EQ(run_heddle(asking()).code, 0);
    EXPECT_EQ(requests(), 20U);
    votes("2", "");
    ASSERT_EQ(run_heddle(asking()).code, 0);
    EXPECT_EQ(requests(), 20U);
}

/// A row whose text was edited is asked anew, also where its id is the same.
TEST_F(edited_batches, use_nothing_of_another_text) {
    rows_file(3);
    write_workflow("first ");
    ASSERT_EQ(run_heddle(asking()).code, 0);
    scratch.file("rows.jsonl",
                 "{\"id\": \"r0\", \"text\": \"t1\"}\n"
                 "{\"id\": \"r1\", \"text\": \"t1\"}\n"
                 "{\"id\": \"r2\", \"text\": \"t2\"}\n");
    write_workflow("first ", " 1");
    const auto ended = run_heddle(asking());
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(requests(), 9U + 3U);
}

TEST_F(edited_batches, keep_the_earlier_results_until_all_rows_have_run_again) {
    rows_file(10);
    write_workflow("first ");
    ASSERT_EQ(run_heddle(asking()).code, 0);
    const std::string before = scratch.text_of("out.jsonl");
    write_workflow("edited ");
    const auto stopped = run_heddle(asking({"--max-calls", "36", "-c", "1"}));
    EXPECT_EQ(stopped.code, 4) << stopped.err;
    EXPECT_THAT(stopped.err, HasSubstr("keeps those of the earlier one"));
    EXPECT_EQ(scratch.text_of("out.jsonl"), before);
    EXPECT_EQ(lines_of("out.new.jsonl").size(), 3U);
    EXPECT_THAT(run_heddle({"runs", "show", path("out.jsonl")}).out,
                HasSubstr(path("out.new.jsonl")));
    const auto tried = run_heddle(asking({"--limit", "5"}));
    EXPECT_EQ(tried.code, 0) << tried.err;
    EXPECT_EQ(scratch.text_of("out.jsonl"), before);
    EXPECT_EQ(lines_of("out.new.jsonl").size(), 5U);
    const auto ended = run_heddle(asking());
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(requests(), 50U);
    expect_values(10, "edited ");
    EXPECT_FALSE(std::filesystem::exists(path("out.new.jsonl")));
    EXPECT_FALSE(std::filesystem::exists(path("out.jsonl.failed.new.jsonl")));
}

// The summary named a file that did not exist.
TEST_F(edited_batches, make_deleted_results_again_when_all_rows_have_run) {
    rows_file(4);
    scratch.file("w.heddle", "(define (main text) text)");
    ASSERT_EQ(batch().code, 0);
    scratch.file("w.heddle", "(define (main text) (string-append text \"!\"))");
    const auto begun = batch({"--limit", "2"});
    EXPECT_EQ(begun.code, 0) << begun.err;
    EXPECT_THAT(begun.err, HasSubstr("out.jsonl keeps those of the earlier one"));
    std::filesystem::remove(path("out.jsonl"));
    const auto more = batch({"--limit", "3"});
    EXPECT_EQ(more.code, 0) << more.err;
    EXPECT_THAT(more.err, AllOf(HasSubstr("out.new.jsonl; the file becomes "),
                                HasSubstr("out.jsonl, which is missing, once all rows have run "
                                          "again\n"),
                                Not(HasSubstr("keeps those"))));
    EXPECT_FALSE(std::filesystem::exists(path("out.jsonl")));
    EXPECT_EQ(lines_of("out.new.jsonl").size(), 3U);
    EXPECT_EQ(batch().code, 0);
    expect_each_row_once(4);
    for (const auto& line : lines_of("out.jsonl"))
        EXPECT_THAT(std::string(line.at("value").as_string()), ::testing::EndsWith("!"));
    EXPECT_FALSE(std::filesystem::exists(path("out.new.jsonl")));
}

TEST_F(edited_batches, replace_no_file_of_others) {
    rows_file(2);
    write_workflow("first ");
    ASSERT_EQ(run_heddle(asking()).code, 0);
    scratch.file("out.new.jsonl", "mine\n");
    write_workflow("edited ");
    const auto refused = run_heddle(asking());
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_EQ(scratch.text_of("out.new.jsonl"), "mine\n");
    std::filesystem::remove(path("out.new.jsonl"));
    EXPECT_EQ(run_heddle(asking()).code, 0);
    expect_values(2, "edited ");
}

TEST_F(edited_batches, rewrite_a_database_and_dead_letters) {
    rows_file(6);
    scratch.file("w.heddle",
                 "(define (main text) (if (string=? text \"t3\") (error \"no\") text))");
    const auto on_database = [&] {
        return run_heddle({"batch", path("w.heddle"), "--rows", path("rows.jsonl"), "--out",
                           path("out.db"), "--id", "id"});
    };
    EXPECT_EQ(on_database().code, 3);
    EXPECT_EQ(lines_of("out.db.failed.jsonl").size(), 1U);
    scratch.file("w.heddle", "(define (main text) (if (string=? text \"t4\") (error \"no\") 7))");
    const auto ended = on_database();
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_EQ(ids_in("out.db.failed.jsonl"), (std::map<std::string, int>{{"r4", 1}}));
    EXPECT_FALSE(std::filesystem::exists(path("out.new.db")));
    const auto shown = run_heddle({"runs", "show", path("out.db"), "--json"});
    EXPECT_THAT(shown.out, AllOf(HasSubstr("\"done\":5"), HasSubstr("\"failed\":1")));
}

/// Killed again and again while it runs anew: nothing is asked twice, and every row is there once.
TEST_F(edited_batches, that_are_killed_ask_nothing_twice) {
    constexpr int count = 60;
    rows_file(count);
    write_workflow("first ");
    ASSERT_EQ(run_heddle(asking()).code, 0);
    const auto before = requests();
    write_workflow("edited ");
    unsigned kills = 0;
    for (; kills < 6; ++kills) {
        child_process child(heddle_command(asking({"-c", "2"})));
        const auto seen_before = requests();
        if (!model.wait_until([&](const auto& seen) { return seen.requests >= seen_before + 9; }))
            break;
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    const auto ended = run_heddle(asking());
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_values(count, "edited ");
    // Only what was in flight at a kill, two rows at a time.
    EXPECT_GE(requests() - before, 2U * count);
    EXPECT_LE(requests() - before, 2U * count + 2U * 2U * kills);
}

TEST_F(edited_batches, are_planned_without_a_call) {
    rows_file(20);
    write_workflow("first ");
    ASSERT_EQ(run_heddle(asking({"--limit", "18"})).code, 0);
    const std::string results = scratch.text_of("out.jsonl");
    write_workflow("edited ");
    const auto planned = run_heddle(asking({"--plan", "--json"}));
    ASSERT_EQ(planned.code, 0) << planned.err;
    EXPECT_EQ(requests(), 54U);
    const auto plan = boost::json::parse(planned.out).as_object();
    EXPECT_EQ(plan.at("rows").to_number<int>(), 20);
    EXPECT_EQ(plan.at("again").to_number<int>(), 18);
    EXPECT_EQ(plan.at("new").to_number<int>(), 2);
    std::map<std::string, std::vector<int>> tasks;
    for (const auto& each : plan.at("tasks").as_array()) {
        const auto& task = each.as_object();
        for (const char* member : {"rows", "again", "depends", "kept"})
            tasks[std::string(task.at("name").as_string())].push_back(
                task.at(member).to_number<int>());
    }
    EXPECT_EQ(tasks, (std::map<std::string, std::vector<int>>{{"topic", {18, 18, 0, 0}},
                                                              {"advice", {18, 0, 18, 0}},
                                                              {"other", {18, 0, 0, 18}}}));
    EXPECT_NEAR(plan.at("cost_usd").to_number<double>(), 18 * 0.0075, 1e-9);
    EXPECT_NEAR(plan.at("max_cost_usd").to_number<double>(), 36 * 0.0075, 1e-9);
    EXPECT_NEAR(plan.at("new_cost_usd").to_number<double>(), 6 * 0.0075, 1e-9);
    EXPECT_EQ(scratch.text_of("out.jsonl"), results);
    EXPECT_FALSE(std::filesystem::exists(path("out.new.jsonl")));
    const auto shown = run_heddle(asking({"--plan"}));
    EXPECT_THAT(shown.out, AllOf(HasSubstr("18 would call models or tools again, 2 new"),
                                 HasSubstr("if responses differ"),
                                 HasSubstr("cost of running again: about $0.135 to $0.27")));
    // And so it is.
    ASSERT_EQ(run_heddle(asking()).code, 0);
    EXPECT_EQ(requests(), 54U + 36U + 6U);
}

TEST_F(edited_batches, are_planned_up_to_what_nobody_has_answered) {
    rows_file(4);
    write_workflow("first ");
    ASSERT_EQ(run_heddle(asking()).code, 0);
    scratch.file("w.heddle",
                 "(defatom fresh (params q) (instructions \"fresh {{q}}\"))\n"
                 "(defatom other (params q) (instructions \"other {{q}}\"))\n"
                 "(define (main text)\n"
                 "  (let ((b (get (other text) 'content)))\n"
                 "    (write-file \"mark\" \"1\") (get (fresh b) 'content)))\n");
    const auto planned = run_heddle(asking({"--plan"}));
    EXPECT_EQ(planned.code, 0) << planned.err;
    EXPECT_THAT(planned.out, AllOf(HasSubstr("at least: 4 rows"), HasSubstr("unknown")));
    EXPECT_EQ(requests(), 12U);
    EXPECT_FALSE(std::filesystem::exists(path("mark")));
}

TEST_F(edited_batches, have_nothing_to_plan_without_an_edit) {
    rows_file(4);
    write_workflow("first ");
    const auto before = run_heddle(asking({"--plan"}));
    EXPECT_EQ(before.code, 0) << before.err;
    EXPECT_THAT(before.out, AllOf(HasSubstr("4 new"), HasSubstr("cost unknown")));
    EXPECT_FALSE(std::filesystem::exists(path("out.jsonl.run")));
    ASSERT_EQ(run_heddle(asking()).code, 0);
    EXPECT_THAT(run_heddle(asking({"--plan"})).out, HasSubstr("4 finished"));
}

TEST_F(edited_batches, are_planned_through_labels_that_decide) {
    rows_file(6);
    const auto labelling = [&](const std::string& prompt) {
        scratch.file("w.heddle",
                     "(defatom label (params q) (instructions \"" + prompt +
                         " {{q}}\"))\n"
                         "(defatom more (params q) (instructions \"more {{q}}\"))\n"
                         "(define (main text)\n"
                         "  (let ((l (get (label text) 'content)))\n"
                         "    (if (string-contains? l \"{\") l (get (more text) 'content))))\n");
    };
    labelling("label");
    ASSERT_EQ(run_heddle(asking()).code, 0);
    ASSERT_EQ(requests(), 12U);
    labelling("title");
    const auto planned = run_heddle(asking({"--plan", "--json"}));
    const auto plan = boost::json::parse(planned.out).as_object();
    const auto& tasks = plan.at("tasks").as_array();
    ASSERT_EQ(tasks.size(), 2U) << planned.out;
    EXPECT_EQ(tasks.at(0).at("again").to_number<int>(), 6);
    EXPECT_EQ(tasks.at(1).at("kept").to_number<int>(), 6); // asks of the row, whatever the label
    EXPECT_EQ(requests(), 12U);
}

} // namespace
} // namespace heddle::cli_test
