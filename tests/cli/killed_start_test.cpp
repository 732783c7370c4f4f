// Batches that are killed while they make the directory of their run.
#include "batch_fixture.hpp"
#include "test_paths.hpp"

#include <gmock/gmock.h>
#include <sanitizers.hpp>

#include <filesystem>

namespace heddle::cli_test {
namespace {

using ::testing::HasSubstr;

class killed_starts : public batch_fixture {
protected:
    [[nodiscard]] child_options killed_at(int change) const {
        child_options options = at_home();
        options.variables["LD_PRELOAD"] = heddle::test_paths::killed_start_library();
        options.variables["HEDDLE_KILL_BELOW"] = path("out.jsonl.run");
        options.variables["HEDDLE_KILL_AT"] = std::to_string(change);
        return options;
    }
    [[nodiscard]] bool has(const std::string& name) const {
        return std::filesystem::exists(path("out.jsonl.run/" + name));
    }
};

TEST_F(killed_starts, leave_directories_that_the_next_one_takes) {
#ifdef HEDDLE_SANITIZED
    GTEST_SKIP(); // their own library must be the first
#endif
    rows_file(2);
    bool with_lock_only = false;
    bool with_journal = false;
    int change = 1;
    for (bool has_begun = false; !has_begun; ++change) {
        SCOPED_TRACE("change " + std::to_string(change));
        ASSERT_LT(change, 1000);
        const auto killed = run_heddle(command(), killed_at(change));
        ASSERT_EQ(killed.code, 137) << "the run has begun without run.json";
        has_begun = has("run.json");
        with_lock_only = with_lock_only || (has("lock") && !has("run.db"));
        with_journal = with_journal || (has("run.db") && !has_begun);
        const auto next = batch();
        ASSERT_EQ(next.code, 0) << next.err;
        expect_each_row_once(2);
        std::filesystem::remove_all(path("out.jsonl.run"));
        std::filesystem::remove(path("out.jsonl"));
    }
    EXPECT_TRUE(with_lock_only);
    EXPECT_TRUE(with_journal);
    EXPECT_GT(change, 10);
}

TEST_F(killed_starts, differ_from_other_directories) {
    rows_file(2);
    const auto refused = [&](const std::string& file, const std::string& text) {
        std::filesystem::remove_all(path("out.jsonl.run"));
        std::filesystem::create_directory(path("out.jsonl.run"));
        scratch.file("out.jsonl.run/lock", "123\n");
        scratch.file("out.jsonl.run/" + file, text);
        const auto ended = batch();
        EXPECT_THAT(ended.err, HasSubstr("holds files and is not the folder of a run"));
        EXPECT_EQ(scratch.text_of("out.jsonl.run/" + file), text);
        return ended.code == 2;
    };
    EXPECT_TRUE(refused("notes.txt", "mine"));
    EXPECT_TRUE(refused("lock", "the lock of another program"));
}

} // namespace
} // namespace heddle::cli_test
