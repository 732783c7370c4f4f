#include "batch/request/run_manifest.hpp"
#include "batch/request/run_limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace heddle::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(manifests_of_runs, keep_how_the_last_process_ended) {
    run_manifest written;
    written.notes_end = true;
    EXPECT_FALSE(run_manifest::from_json(written.to_json(), "f").value().end);
    written.end = batch_end{"stopped", "budget", 50, 47, true};
    const run_manifest read = run_manifest::from_json(written.to_json(), "f").value();
    ASSERT_TRUE(read.end);
    EXPECT_TRUE(read.notes_end);
    EXPECT_EQ(read.end->state, "stopped");
    EXPECT_EQ(read.end->stopped_by, "budget");
    EXPECT_EQ(read.end->total, 50U);
    EXPECT_EQ(read.end->left, 47U);
    EXPECT_TRUE(read.end->left_is_estimate);
    written.end = batch_end{"stopped", "error", {}, {}, false};
    EXPECT_FALSE(run_manifest::from_json(written.to_json(), "f").value().end->left);
}

/// A folder in which run.json may lie, and no file with a longer name.
class folder_of_a_long_path : public ::testing::Test {
protected:
    folder_of_a_long_path() {
        std::string name = (std::filesystem::temp_directory_path() / "heddle-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
        top_ = name;
        folder = name;
        constexpr std::size_t whole = PATH_MAX - 1 - std::string_view("/run.json").size();
        while (folder.size() < whole) {
            std::size_t part = std::min<std::size_t>(whole - folder.size(), 200);
            if (whole - folder.size() - part == 1) --part; // no name has no character
            folder += "/" + std::string(part - 1, 'd');
            std::filesystem::create_directory(folder);
        }
    }
    ~folder_of_a_long_path() override {
        std::error_code ignored;
        std::filesystem::remove_all(top_, ignored);
    }
    std::string folder;

private:
    std::string top_;
};

// On a full disk, too, a file that is there can be changed: the run was called killed.
TEST_F(folder_of_a_long_path, notes_how_a_process_ended_without_another_file) {
    constexpr auto max_count = std::uint64_t{INT64_MAX};
    run_manifest run;
    run.run_id = "1";
    run.notes_end = true;
    run.arguments = {"batch", R"("end":null})"};
    std::ofstream(manifest_file(folder)) << run.to_json();
    ASSERT_FALSE(write_manifest(folder, run)) << "there is room for another file";
    const auto size = std::filesystem::file_size(manifest_file(folder));

    run.end = batch_end{"interrupted", "consecutive-failures", max_count, max_count, false};
    const auto noted = write_manifest_end(folder, run);
    ASSERT_TRUE(noted) << noted.error().message();
    const run_manifest read = read_manifest(folder).value();
    EXPECT_EQ(read.to_json(), run.to_json());
    ASSERT_TRUE(read.end);
    EXPECT_EQ(read.end->total, max_count);
    EXPECT_EQ(std::filesystem::file_size(manifest_file(folder)), size);

    // One that has an end keeps it.
    run.end = batch_end{"done", "", 1, 0, false};
    EXPECT_FALSE(write_manifest_end(folder, run));
    EXPECT_EQ(read_manifest(folder).value().end->state, "interrupted");
}

TEST(manifests_of_runs, have_no_room_for_an_end_that_is_there) {
    run_manifest run;
    run.notes_end = true;
    const std::size_t with_room = run.to_json().size();
    run.end = batch_end{"done", "", 1, 0, false};
    EXPECT_LT(run.to_json().size(), with_room);
}

// 'heddle runs set' writes it again: a run of an earlier version was not killed for that.
TEST(manifests_of_runs, of_earlier_versions_have_no_end) {
    const run_manifest old;
    EXPECT_THAT(old.to_json(), Not(HasSubstr("\"end\"")));
    const run_manifest read = run_manifest::from_json(old.to_json(), "f").value();
    EXPECT_FALSE(read.notes_end);
    EXPECT_FALSE(read.end);
    EXPECT_THAT(read.to_json(), Not(HasSubstr("\"end\"")));
}

TEST(limits_of_runs, are_written_as_people_do) {
    const auto refused = parse_limit("concurrency=0");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("from 1 to 1,000,000, not"));
    EXPECT_EQ(text_of({{"concurrency", 1e6}, {"timeout", 0.5}}),
              "concurrency=1000000, timeout=0.5");
}

} // namespace
} // namespace heddle::cli
