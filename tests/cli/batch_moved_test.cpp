// Runs that were moved, come from somebody else, or hold what others must not read.
#include "batch_fixture.hpp"
#include "model_thread.hpp"
#include "scripted_rules.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

namespace paths = std::filesystem;

class moved_batches : public batch_fixture {
protected:
    /// A workflow in a directory "one", which fails at one of three rows.
    void make_project() const {
        rows_file(3, "one/rows.jsonl");
        scratch.file("one/w.heddle",
                     "(define (main text) "
                     "(if (string=? text \"t1\") (error \"no\") text))");
        ASSERT_EQ(batch_in("one").code, 3);
    }
    [[nodiscard]] child_options in(const std::string& folder) const {
        child_options here;
        here.directory = path(folder);
        here.variables["HOME"] = path("home");
        return here;
    }
    [[nodiscard]] child_result batch_in(const std::string& folder,
                                        std::vector<std::string> more = {}) const {
        std::vector<std::string> strings{"batch", "w.heddle",  "--rows", "rows.jsonl",
                                         "--out", "out.jsonl", "--id",   "id"};
        strings.insert(strings.end(), more.begin(), more.end());
        return run_heddle(strings, in(folder));
    }
    [[nodiscard]] child_result retry_in(const std::string& folder,
                                        std::vector<std::string> more = {"--failed"}) const {
        std::vector<std::string> strings{"runs", "retry", "out.jsonl"};
        strings.insert(strings.end(), more.begin(), more.end());
        return run_heddle(strings, in(folder));
    }
    void mend(const std::string& folder) const {
        scratch.file(folder + "/w.heddle", "(define (main text) text)");
    }
    /// In run.json.
    void replace(const std::string& file, const std::string& from, const std::string& to) const {
        std::string text = scratch.text_of(file);
        const auto at = text.find(from);
        ASSERT_NE(at, std::string::npos) << text;
        scratch.file(file, text.replace(at, from.size(), to));
    }
};

TEST_F(moved_batches, go_on_where_they_are) {
    make_project();
    paths::rename(path("one"), path("two"));
    const auto again = batch_in("two");
    EXPECT_EQ(again.code, 3) << again.err;
    EXPECT_THAT(again.err, AllOf(HasSubstr("3 rows finished"), Not(HasSubstr("have changed"))));
    mend("two");
    const auto mended = batch_in("two");
    EXPECT_EQ(mended.code, 0) << mended.err;
    EXPECT_EQ(ids_in("two/out.jsonl").size(), 3U);
    EXPECT_EQ(scratch.text_of("two/out.jsonl.failed.jsonl"), "");
}

TEST_F(moved_batches, of_which_only_the_directory_of_the_run_was_moved_go_on_there) {
    make_project();
    paths::create_directory(path("runs"));
    paths::rename(path("one/out.jsonl.run"), path("runs/mine"));
    const auto again = batch_in("one", {"--run", path("runs/mine")});
    EXPECT_EQ(again.code, 3) << again.err;
    EXPECT_THAT(again.err, HasSubstr("3 rows finished"));
    EXPECT_EQ(ids_in("one/out.jsonl").size(), 2U);
}

TEST_F(moved_batches, without_their_results_name_what_to_do) {
    make_project();
    paths::create_directory(path("two"));
    paths::rename(path("one/out.jsonl.run"), path("two/mine.run"));
    paths::copy_file(path("one/w.heddle"), path("two/w.heddle"));
    paths::copy_file(path("one/rows.jsonl"), path("two/rows.jsonl"));
    const auto refused = batch_in("two", {"--run", "mine.run"});
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("writes to " + path("one/out.jsonl")),
                                   HasSubstr("move the results")));
    paths::rename(path("one/out.jsonl"), path("two/out.jsonl"));
    EXPECT_EQ(batch_in("two", {"--run", "mine.run"}).code, 3);
    EXPECT_EQ(ids_in("two/out.jsonl").size(), 2U);
}

TEST_F(moved_batches, are_not_tried_again_where_they_were) {
    make_project();
    paths::rename(path("one"), path("two"));
    mend("two");
    const auto refused = retry_in("two");
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("was moved"), HasSubstr("run its command once")));
}

TEST_F(moved_batches, know_the_results_of_another_run) {
    make_project();
    const std::string own = scratch.text_of("one/out.jsonl");
    std::string other = own;
    other.replace(other.find("t0"), 2, "tX"); // as long, and with lines where the others are
    scratch.file("one/out.jsonl", other + other);
    const auto refused = batch_in("one");
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("is not the file that this run has written"));
    EXPECT_EQ(scratch.text_of("one/out.jsonl"), other + other);
    EXPECT_EQ(batch_in("one", {"--force"}).code, 3);
    EXPECT_EQ(scratch.text_of("one/out.jsonl"), own);
    paths::remove(path("one/out.jsonl"));
    EXPECT_EQ(batch_in("one").code, 3);
    EXPECT_EQ(scratch.text_of("one/out.jsonl"), own);
}

TEST_F(moved_batches, may_have_names_that_are_not_utf8) {
    rows_file(2);
    const std::string out = path("out\xFF.jsonl");
    const auto start = [&](std::vector<std::string> more = {}) {
        std::vector<std::string> strings{
            "batch", path("w.heddle"), "--rows", path("rows.jsonl"), "--out", out, "--id", "id"};
        strings.insert(strings.end(), more.begin(), more.end());
        return run_heddle(strings, in("."));
    };
    ASSERT_EQ(start().code, 0);
    const auto again = start();
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_THAT(again.err, HasSubstr("2 rows finished"));
    const auto retried = run_heddle({"runs", "retry", out, "--failed"}, in("."));
    EXPECT_EQ(retried.code, 0) << retried.err;
    EXPECT_EQ(run_heddle({"runs", "show", out, "--json"}, in(".")).code, 0);
}

TEST_F(moved_batches, of_somebody_else_are_not_started) {
    make_project();
    mend("one");
    EXPECT_EQ(retry_in("one").code, 0) << "one's own";
    scratch.file("one/evil.heddle", "(define (main text) (write-file \"owned\" text))");
    replace("one/out.jsonl.run/run.json", "\"w.heddle\",\"--rows\"", "\"evil.heddle\",\"--rows\"");
    const auto refused = retry_in("one");
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("evil.heddle"), HasSubstr("--allow")));
    EXPECT_FALSE(paths::exists(path("one/owned")));
    EXPECT_EQ(retry_in("one", {"--failed", "--allow"}).code, 0);
}

TEST_F(moved_batches, that_were_unpacked_are_not_started) {
    make_project();
    child_options stranger = in("one");
    stranger.variables["HOME"] = path("other-home");
    const auto refused = run_heddle({"runs", "retry", "out.jsonl", "--failed"}, stranger);
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("heddle batch w.heddle"));
    // After the command itself the run is one's own.
    mend("one");
    EXPECT_EQ(batch_in("one").code, 0);
    EXPECT_EQ(retry_in("one").code, 0);
}

TEST_F(moved_batches, keep_no_secret_that_was_an_input) {
    rows_file(3, "one/rows.jsonl");
    scratch.file("one/w.heddle",
                 "(define (main text api_token lang) "
                 "(if (string=? text \"t1\") (error \"no\") lang))");
    const std::vector<std::string> inputs{"-i", "api_token=s3cret-value", "--input=lang=en"};
    ASSERT_EQ(batch_in("one", inputs).code, 3);
    for (const auto& each : paths::recursive_directory_iterator(scratch.path())) {
        if (!each.is_regular_file()) continue;
        EXPECT_THAT(scratch.text_of(paths::relative(each.path(), scratch.path()).string()),
                    Not(HasSubstr("s3cret-value")))
            << each.path();
    }
    const auto again = batch_in("one", inputs);
    EXPECT_EQ(again.code, 3) << again.err;
    EXPECT_THAT(again.err, Not(HasSubstr("have changed")));
    EXPECT_THAT(batch_in("one", {"-i", "api_token=other", "-i", "lang=en"}).err,
                HasSubstr("have changed"))
        << "its digest counts";
    EXPECT_THAT(batch_in("one", inputs).err, HasSubstr("have changed"));
    const auto missing = retry_in("one");
    EXPECT_EQ(missing.code, 2) << missing.err;
    EXPECT_THAT(missing.err, HasSubstr("--input api_token=…"));
    const auto retried = retry_in("one", {"--failed", "-i", "api_token=s3cret-value"});
    EXPECT_EQ(retried.code, 3) << retried.err;
    EXPECT_THAT(retried.err, Not(HasSubstr("have changed")));
}

} // namespace
} // namespace heddle::cli_test
