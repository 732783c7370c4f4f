// The files of a batch: what is never replaced, and what is put right when it continues.
#include "batch_fixture.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include <sys/stat.h>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class files_of_batches : public batch_fixture {
protected:
    void let_row_fail(const std::string& text) const {
        scratch.file("w.heddle", "(define (main text) (if (string=? text \"" + text +
                                     "\") (error \"no\") text))");
    }
    void remove(const std::string& name) const { std::filesystem::remove(path(name)); }
    /// The batch with another file of results.
    [[nodiscard]] std::vector<std::string> writing_to(const std::string& name,
                                                      std::vector<std::string> more = {}) const {
        std::vector<std::string> strings{"batch", path("w.heddle"), "--rows", path("rows.jsonl"),
                                         "--out", path(name),       "--id",   "id"};
        strings.insert(strings.end(), more.begin(), more.end());
        return strings;
    }
    void expect_refused(const std::vector<std::string>& whole, const std::string& said,
                        const std::string& file) const {
        const std::string before = scratch.text_of(file);
        const auto ended = run_heddle(whole);
        EXPECT_EQ(ended.code, 2) << ended.err;
        EXPECT_THAT(ended.err, HasSubstr(said));
        EXPECT_EQ(scratch.text_of(file), before);
    }
};

TEST_F(files_of_batches, that_are_not_of_the_run_get_no_dead_letters) {
    rows_file(3);
    let_row_fail("t1");
    ASSERT_EQ(batch().code, 3);
    scratch.file("mine.txt", "mine\n");
    expect_refused(command({"--dead-letters", path("mine.txt")}), "does not belong to this run",
                   "mine.txt");
    EXPECT_EQ(batch({"--dead-letters", path("other.jsonl")}).code, 3);
    EXPECT_EQ(lines_of("out.jsonl.failed.jsonl").size(), 1U);
}

// Nothing was read, and the batch was done.
TEST_F(files_of_batches, that_were_compressed_are_not_empty) {
    const auto read = [this](const std::string& name) {
        scratch.file(name, "");
        return run_heddle(
            {"batch", path("w.heddle"), "--rows", path(name), "--out", path("out.jsonl")});
    };
    for (const std::string name : {"none.jsonl.gz", "none.jsonl.zst"}) {
        const auto ended = read(name);
        EXPECT_EQ(ended.code, 2) << ended.err;
        EXPECT_THAT(ended.err,
                    HasSubstr(name + ": the compressed data end too early, after byte 0"));
    }
    EXPECT_EQ(read("none.jsonl").code, 0);
}

TEST_F(files_of_batches, that_are_read_are_not_written_with_force_either) {
    rows_file(3);
    std::filesystem::create_hard_link(path("rows.jsonl"), path("link.jsonl"));
    for (const char* name : {"rows.jsonl", "link.jsonl"}) {
        expect_refused(writing_to(name, {"--force"}), "a file of rows", "rows.jsonl");
        expect_refused(command({"--dead-letters", path(name), "--force"}), "a file of rows",
                       "rows.jsonl");
    }
    expect_refused(writing_to("w.heddle", {"--out-format", "jsonl", "--force"}), "the workflow",
                   "w.heddle");
    expect_refused(command({"--dead-letters", path("w.heddle"), "--force"}), "the workflow",
                   "w.heddle");
    expect_refused(command({"--dead-letters", path("out.jsonl"), "--force"}), "the file of results",
                   "out.jsonl");
    EXPECT_EQ(batch().code, 0);
}

TEST_F(files_of_batches, that_are_devices_are_only_written_to) {
    rows_file(3);
    let_row_fail("t1");
    std::filesystem::create_symlink("/dev/null", path("null"));
    for (int starts = 0; starts < 2; ++starts) {
        const auto ended = batch({"--dead-letters", path("null"), "--force"});
        EXPECT_EQ(ended.code, 3) << ended.err;
        EXPECT_TRUE(std::filesystem::is_symlink(path("null")));
        EXPECT_TRUE(std::filesystem::is_character_file(path("null")));
    }
}

TEST_F(files_of_batches, keep_the_output_when_the_journal_is_gone) {
    rows_file(3);
    ASSERT_EQ(batch().code, 0);
    const std::string journal = scratch.text_of("out.jsonl.run/run.db");
    scratch.file("out.jsonl.run/run.db", "");
    expect_refused(command(), "the journal is missing or empty", "out.jsonl");
    remove("out.jsonl.run/run.db");
    expect_refused(command(), "the journal is missing or empty", "out.jsonl");
    scratch.file("out.jsonl.run/run.db", journal);
    EXPECT_EQ(batch().code, 0);
    expect_each_row_once(3);
}

TEST_F(files_of_batches, keep_the_journal_when_the_rest_is_gone) {
    rows_file(3);
    ASSERT_EQ(batch().code, 0);
    remove("out.jsonl.run/run.json");
    remove("out.jsonl");
    const auto ended = batch();
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("3 rows"), HasSubstr("run.json is missing")));
}

TEST_F(files_of_batches, belong_to_one_run) {
    rows_file(3);
    ASSERT_EQ(batch().code, 0);
    ASSERT_EQ(run_heddle(writing_to("b.jsonl")).code, 0);
    std::filesystem::copy_file(path("b.jsonl.run/run.db"), path("out.jsonl.run/run.db"),
                               std::filesystem::copy_options::overwrite_existing);
    expect_refused(command(), "are of different runs", "out.jsonl");
}

TEST_F(files_of_batches, keep_letters_of_any_depth_and_their_permissions) {
    const std::string deep = std::string(60, '[') + std::string(60, ']');
    scratch.file("rows.jsonl", R"({"id": "a", "text": "t0", "more": )" + deep + "}\n" +
                                   R"({"id": "b", "text": "t1"})" + "\n");
    scratch.file("w.heddle", "(define (main text) (error \"no\"))");
    ASSERT_EQ(batch().code, 3);
    ASSERT_EQ(::chmod(path("out.jsonl.failed.jsonl").c_str(), 0640), 0);
    const std::string letters = scratch.text_of("out.jsonl.failed.jsonl");
    EXPECT_THAT(letters, HasSubstr(deep));
    EXPECT_EQ(batch().code, 3);
    EXPECT_EQ(scratch.text_of("out.jsonl.failed.jsonl"), letters);
    let_row_fail("t0");
    EXPECT_EQ(batch({"--retry-row", "b"}).code, 3);
    const std::string kept = scratch.text_of("out.jsonl.failed.jsonl");
    EXPECT_THAT(kept, HasSubstr(deep));
    EXPECT_LT(kept.size(), letters.size());
    struct stat about {};
    ASSERT_EQ(::stat(path("out.jsonl.failed.jsonl").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0640U);
}

TEST_F(files_of_batches, write_a_deleted_output_again) {
    rows_file(5);
    let_row_fail("t1");
    child_options here;
    here.directory = scratch.path();
    const std::vector<std::string> command{"batch", "w.heddle",  "--rows", "rows.jsonl",
                                           "--out", "out.jsonl", "--id",   "id"};
    ASSERT_EQ(run_heddle(command, here).code, 3);
    remove("out.jsonl");
    const auto ended = run_heddle(command, here);
    EXPECT_EQ(ended.code, 3) << ended.err;
    expect_each_row_once(4);
    EXPECT_EQ(lines_of("out.jsonl.failed.jsonl").size(), 1U);
}

TEST_F(files_of_batches, get_results_whose_rows_are_not_read) {
    rows_file(5);
    let_row_fail("t3");
    ASSERT_EQ(batch().code, 3);
    for (const bool ordered : {false, true}) {
        remove("out.jsonl"); // no result is in the output
        auto more = std::vector<std::string>{"--limit", "1"};
        if (ordered) more.emplace_back("--ordered");
        EXPECT_EQ(batch(more).code, 3);
        expect_each_row_once(4);
        EXPECT_EQ(lines_of("out.jsonl.failed.jsonl").size(), 1U);
        EXPECT_EQ(batch(more).code, 3);
        expect_each_row_once(4);
    }
}

TEST_F(files_of_batches, keep_a_second_row_of_an_id_out) {
    scratch.file("rows.jsonl",
                 "{\"id\": \"a\", \"text\": \"one\"}\n"
                 "{\"id\": \"b\", \"text\": \"two\"}\n"
                 "{\"id\": \"a\", \"text\": \"three\"}\n");
    ASSERT_EQ(batch().code, 3);
    const std::string results = scratch.text_of("out.jsonl");
    for (int starts = 0; starts < 2; ++starts) {
        const auto ended = batch({"--retry-failed"});
        EXPECT_EQ(ended.code, 3) << ended.err;
        EXPECT_THAT(ended.err, HasSubstr("3 of 3 rows: 2 done, 1 rejected"));
        EXPECT_EQ(scratch.text_of("out.jsonl"), results);
        EXPECT_EQ(lines_of("out.jsonl.failed.jsonl").size(), 1U);
    }
    scratch.file("rows.jsonl", // in another order
                 "{\"id\": \"b\", \"text\": \"two\"}\n"
                 "{\"id\": \"a\", \"text\": \"three\"}\n"
                 "{\"id\": \"a\", \"text\": \"one\"}\n");
    EXPECT_THAT(batch().err, HasSubstr("3 of 3 rows: 2 done, 1 rejected"));
    EXPECT_EQ(scratch.text_of("out.jsonl"), results);
}

TEST_F(files_of_batches, forget_a_row_that_could_not_be_read_when_it_runs) {
    const std::string good = "{\"id\": \"a\", \"text\": \"one\"}\n";
    const std::string last = "{\"id\": \"c\", \"text\": \"three\"}\n";
    scratch.file("rows.jsonl", good + "{\"id\": \"b\", \"text\": \n" + last);
    ASSERT_EQ(batch().code, 3);
    ASSERT_EQ(lines_of("out.jsonl.failed.jsonl").size(), 1U);
    scratch.file("rows.jsonl", good + "{\"id\": \"b\", \"text\": \"two\"}\n" + last);
    const auto ended = batch();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("3 of 3 rows: 3 done"));
    expect_each_row_once(3);
    EXPECT_EQ(scratch.text_of("out.jsonl.failed.jsonl"), "");
}

TEST_F(files_of_batches, have_each_row_once_with_its_errors) {
    rows_file(5);
    let_row_fail("t3");
    ASSERT_EQ(batch({"--errors-in-output"}).code, 3);
    expect_each_row_once(5);
    let_row_fail("none");
    const auto ended = batch({"--errors-in-output", "--retry-failed"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(5);
    for (const auto& line : lines_of("out.jsonl")) EXPECT_EQ(line.at("status").as_string(), "done");
}

TEST_F(files_of_batches, retry_the_rows_that_are_asked_for) {
    rows_file(5);
    scratch.file("w.heddle", "(define (main text) (error \"no\"))");
    ASSERT_EQ(run_heddle(command(), at_home()).code, 3);
    const auto unknown = batch({"--retry-row", "nobody"});
    EXPECT_EQ(unknown.code, 2) << unknown.err;
    EXPECT_THAT(unknown.err, HasSubstr("no row of the run has the id \"nobody\""));
    ASSERT_EQ(run_heddle({"runs", "retry", path("out.jsonl"), "--failed"}, at_home()).code, 3);
    let_row_fail("none");
    const auto one = run_heddle({"runs", "retry", path("out.jsonl"), "--row", "r1"}, at_home());
    EXPECT_EQ(one.code, 3) << one.err;
    EXPECT_EQ(ids_in("out.jsonl"), (std::map<std::string, int>{{"r1", 1}}));
    EXPECT_EQ(lines_of("out.jsonl.failed.jsonl").size(), 4U);
}

TEST_F(files_of_batches, are_in_a_directory_of_their_owner) {
    rows_file(1);
    std::filesystem::create_directory(path("run"));
    ASSERT_EQ(::chmod(path("run").c_str(), 0777), 0);
    EXPECT_EQ(batch({"--run", path("run")}).code, 0);
    struct stat about {};
    ASSERT_EQ(::stat(path("run").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0700U);
}

TEST_F(files_of_batches, take_whole_numbers_of_rows) {
    rows_file(1);
    ASSERT_EQ(batch().code, 0);
    const auto refused = run_heddle({"runs", "set", path("out.jsonl"), "concurrency=2.7"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("concurrency=2.7"));
}

} // namespace
} // namespace heddle::cli_test
