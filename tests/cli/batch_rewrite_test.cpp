// The files of a batch while it runs again after an edit of its program.
#include "batch_fixture.hpp"

#include <gmock/gmock.h>
#include <hang_guard.hpp>

#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class rewritten_batches : public batch_fixture {
protected:
    /// The row `failing` fails, the others have the value `word`.
    void write_workflow(const std::string& word, const std::string& failing = "t1",
                        const std::string& before = "") const {
        scratch.file("w.heddle", "(define (main text)\n  (if (string=? text \"" + failing +
                                     "\") (begin " + before + " (error \"no\")) \"" + word +
                                     "\"))\n");
    }
    [[nodiscard]] std::map<std::string, int> letters() const {
        return ids_in("out.jsonl.failed.jsonl");
    }
    [[nodiscard]] bool has_file(const std::string& name) const {
        return std::filesystem::exists(path(name));
    }
    void append(const std::string& name, const std::string& text) const {
        std::ofstream(path(name), std::ios::app) << text;
    }
    const std::map<std::string, int> one_letter{{"r1", 1}};
};

TEST_F(rewritten_batches, keep_letters_of_a_process_that_wrote_nothing_else) {
    rows_file(3);
    write_workflow("one", "t0");
    ASSERT_EQ(batch().code, 3);
    write_workflow("two", "t0");
    ASSERT_EQ(batch({"--limit", "1"}).code, 3);
    const auto ended = batch();
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_EQ(letters(), (std::map<std::string, int>{{"r0", 1}}));
    EXPECT_EQ(lines_of("out.jsonl").size(), 2U);
}

TEST_F(rewritten_batches, keep_lines_of_others_among_the_letters) {
    rows_file(3);
    write_workflow("one");
    ASSERT_EQ(batch().code, 3);
    append("out.jsonl.failed.jsonl", "ticket 17\n");
    write_workflow("two", "t2");
    ASSERT_EQ(batch().code, 3);
    const std::string text = scratch.text_of("out.jsonl.failed.jsonl");
    EXPECT_THAT(text, AllOf(HasSubstr("ticket 17\n"), HasSubstr("{\"id\":\"r2\""),
                            Not(HasSubstr("{\"id\":\"r1\""))));
    EXPECT_FALSE(has_file("out.jsonl.failed.new.jsonl"));
    const auto again = batch(); // also where such a line is the first
    EXPECT_EQ(again.code, 3) << again.err;
    EXPECT_EQ(scratch.text_of("out.jsonl.failed.jsonl"), text);
}

// Whoever can write to the folder decided where the results go.
TEST_F(rewritten_batches, follow_no_link_to_nothing) {
    rows_file(2);
    write_workflow("one", "");
    ASSERT_EQ(batch().code, 0);
    const std::string before = scratch.text_of("out.jsonl");
    write_workflow("two", "");
    std::filesystem::create_symlink(path("elsewhere"), path("out.new.jsonl"));
    const auto ended = batch();
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_FALSE(has_file("elsewhere"));
    EXPECT_EQ(scratch.text_of("out.jsonl"), before);
}

TEST_F(rewritten_batches, write_letters_to_a_pipe_that_stays) {
    rows_file(3);
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    for (const char* word : {"one", "two"}) {
        write_workflow(word);
        child_process reader({"cat", path("pipe")});
        const auto ended = batch({"--dead-letters", path("pipe")});
        EXPECT_EQ(ended.code, 3) << ended.err;
        EXPECT_TRUE(std::filesystem::is_fifo(path("pipe")));
        EXPECT_THAT(reader.wait().out, HasSubstr("{\"id\":\"r1\"")) << word;
    }
    EXPECT_THAT(scratch.text_of("out.jsonl"), Not(HasSubstr("\"one\"")));
}

TEST_F(rewritten_batches, write_letters_to_a_descriptor_that_stays) {
    rows_file(3);
    std::filesystem::create_symlink("/proc/self/fd/2", path("errors"));
    for (const char* word : {"one", "two"}) {
        write_workflow(word);
        const auto ended = batch({"--dead-letters", path("errors")});
        EXPECT_EQ(ended.code, 3) << ended.err;
        EXPECT_THAT(ended.err, HasSubstr("{\"id\":\"r1\"")) << word;
        EXPECT_TRUE(std::filesystem::is_symlink(path("errors")));
    }
    EXPECT_THAT(scratch.text_of("out.jsonl"), Not(HasSubstr("\"one\"")));
}

TEST_F(rewritten_batches, write_letters_to_no_file_of_others) {
    rows_file(3);
    write_workflow("one");
    ASSERT_EQ(batch().code, 3);
    const std::string before = scratch.text_of("out.jsonl");
    scratch.file("notes.txt", "precious\n");
    write_workflow("two");
    const auto refused = batch({"--dead-letters", path("notes.txt")});
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("does not belong to this run"));
    EXPECT_EQ(scratch.text_of("notes.txt"), "precious\n");
    EXPECT_EQ(scratch.text_of("out.jsonl"), before);
    EXPECT_FALSE(has_file("out.new.jsonl")) << "nothing has begun";
}

TEST_F(rewritten_batches, have_four_files_that_differ) {
    rows_file(3);
    EXPECT_EQ(batch({"--dead-letters", path("out.new.jsonl")}).code, 2);
    rows_file(3, "in.new.jsonl");
    const auto refused = run_heddle({"batch", path("w.heddle"), "--rows", path("in.new.jsonl"),
                                     "--out", path("in.jsonl"), "--id", "id"});
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_FALSE(has_file("out.jsonl"));
}

TEST_F(rewritten_batches, write_a_file_again_that_was_deleted) {
    rows_file(3);
    write_workflow("one", "t2");
    ASSERT_EQ(batch().code, 3);
    const std::string before = scratch.text_of("out.jsonl");
    write_workflow("two", "t2", "(sleep 2)");
    child_process child(heddle_command(command()));
    ASSERT_TRUE(hang_guard::comes_true([&] {
        return has_file("out.new.jsonl") && std::filesystem::file_size(path("out.new.jsonl")) != 0;
    }));
    std::filesystem::remove(path("out.new.jsonl"));
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("the file was deleted"));
    EXPECT_EQ(scratch.text_of("out.jsonl"), before);
    const auto again = batch();
    EXPECT_EQ(again.code, 3) << again.err;
    const auto lines = lines_of("out.jsonl");
    EXPECT_EQ(lines.size(), 2U);
    for (const auto& line : lines) EXPECT_EQ(line.at("value").as_string(), "two");
    EXPECT_EQ(letters(), (std::map<std::string, int>{{"r2", 1}}));
}

TEST_F(rewritten_batches, leave_an_empty_file_of_another_run) {
    rows_file(2);
    write_workflow("one", "");
    ASSERT_EQ(batch().code, 0);
    scratch.file("out.new.jsonl", "");
    write_workflow("two", "");
    const auto refused = batch();
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_TRUE(has_file("out.new.jsonl"));
    std::filesystem::remove(path("out.new.jsonl"));
    EXPECT_EQ(batch().code, 0);
    EXPECT_THAT(scratch.text_of("out.jsonl"), Not(HasSubstr("\"one\"")));
}

TEST_F(rewritten_batches, keep_their_results_when_the_input_is_empty) {
    rows_file(3);
    write_workflow("one", "");
    ASSERT_EQ(batch().code, 0);
    const std::string before = scratch.text_of("out.jsonl");
    scratch.file("rows.jsonl", "");
    write_workflow("two", "");
    const auto ended = batch({"-q"});
    EXPECT_THAT(ended.err, HasSubstr("the input has no rows"));
    EXPECT_EQ(scratch.text_of("out.jsonl"), before);
    rows_file(3);
    EXPECT_EQ(batch().code, 0);
    expect_each_row_once(3);
    EXPECT_THAT(scratch.text_of("out.jsonl"), Not(HasSubstr("\"one\"")));
}

TEST_F(rewritten_batches, begin_only_where_they_can_end) {
    if (::geteuid() == 0) GTEST_SKIP() << "everything is writable";
    rows_file(3);
    write_workflow("one", "");
    ASSERT_EQ(batch().code, 0);
    write_workflow("two", "");
    ASSERT_EQ(::chmod(scratch.path().c_str(), 0500), 0);
    const auto refused = batch();
    ASSERT_EQ(::chmod(scratch.path().c_str(), 0700), 0);
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("make the folder writable"));
    write_workflow("one", "");
    const auto same = batch();
    EXPECT_EQ(same.code, 0) << same.err;
    EXPECT_THAT(same.err, Not(HasSubstr("run again"))) << "no row was outdated";
}

/// Reports on a run of which a part follows the program as it is now.
TEST_F(rewritten_batches, mark_what_has_not_run_again) {
    rows_file(5);
    write_workflow("one", "");
    ASSERT_EQ(batch().code, 0);
    write_workflow("two", "");
    ASSERT_EQ(batch({"--limit", "2"}).code, 0);
    const std::string run = path("out.jsonl");
    const auto exported = run_heddle({"runs", "export", run, "--out", path("all.jsonl")});
    EXPECT_EQ(exported.code, 0) << exported.err;
    EXPECT_THAT(exported.err, HasSubstr("3 results of an earlier version of the program"));
    int marked = 0;
    for (const auto& line : lines_of("all.jsonl")) {
        const bool earlier = line.at("value").as_string() == "one";
        EXPECT_EQ(line.contains("outdated"), earlier);
        marked += earlier ? 1 : 0;
    }
    EXPECT_EQ(marked, 3);
    const auto table = run_heddle({"runs", "export", run, "--out", path("all.csv")});
    EXPECT_EQ(table.code, 0) << table.err;
    EXPECT_THAT(table.err, HasSubstr("left out"));
    EXPECT_THAT(scratch.text_of("all.csv"), AllOf(HasSubstr("two"), Not(HasSubstr(",one"))));
    EXPECT_THAT(run_heddle({"runs", "tail", run}).out, HasSubstr("done (outdated)  \"one\""));
    EXPECT_THAT(run_heddle({"runs", "show", run}).out,
                HasSubstr("of an earlier version of the program: 3 rows"));
    EXPECT_THAT(run_heddle({"runs", "show", run, "--json"}).out, HasSubstr("\"outdated\":3"));
}

/// A plan of what the command would refuse is refused.
TEST_F(rewritten_batches, are_planned_with_the_checks_of_the_command) {
    rows_file(3);
    write_workflow("one", "");
    ASSERT_EQ(batch().code, 0);
    write_workflow("two", "");
    for (const char* look : {"--plan", "--dry-run"}) {
        const auto unnamed = run_heddle({"batch", path("w.heddle"), "--rows", path("rows.jsonl"),
                                         "--out", path("out.jsonl"), look});
        EXPECT_EQ(unnamed.code, 2) << unnamed.out;
        EXPECT_THAT(unnamed.err, HasSubstr("names its rows by --id id"));
    }
    scratch.file("out.new.jsonl", "mine\n");
    EXPECT_EQ(batch({"--plan"}).code, 2);
    std::filesystem::remove(path("out.new.jsonl"));
    EXPECT_EQ(batch({"--plan"}).code, 0);
    std::filesystem::remove(path("out.jsonl.run/run.json"));
    const auto incomplete = batch({"--plan"});
    EXPECT_EQ(incomplete.code, 2) << incomplete.out;
    EXPECT_THAT(incomplete.err, HasSubstr("run.json is missing"));
}

TEST_F(rewritten_batches, are_planned_as_one_object) {
    rows_file(2);
    scratch.file("w.heddle", "(print \"TOP\") (define (main text) text)");
    for (const char* look : {"--plan", "--dry-run"}) {
        const auto planned = batch({look, "--json"});
        EXPECT_EQ(planned.code, 0) << planned.err;
        boost::system::error_code wrong;
        EXPECT_TRUE(boost::json::parse(planned.out, wrong).is_object()) << planned.out;
        EXPECT_FALSE(wrong) << planned.out;
        EXPECT_THAT(planned.err, Not(HasSubstr("TOP"))); // nothing is performed
    }
    const auto ended = batch({"--json"});
    EXPECT_THAT(ended.out, Not(HasSubstr("TOP")));
}

} // namespace
} // namespace heddle::cli_test
