// Where --record may write.
#include "child_process.hpp"
#include "scratch_directory.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <thread>

#include <sys/stat.h>

namespace heddle::cli_test {
namespace {

using ::testing::HasSubstr;

class recording : public ::testing::Test {
protected:
    [[nodiscard]] child_result record(const std::string& file) const {
        return run_heddle({"run", workflow, "--model", "scripted:" + rules, "--record", file});
    }

    scratch_directory scratch;
    std::string rules = scratch.file("r.json", R"({"default": {"text": "recorded"}})");
    std::string workflow = scratch.file(
        "w.heddle",
        "(defatom ask (params q) (instructions \"{{q}}\"))\n(content (ask \"a question\"))");
    std::string pipe = scratch.path() + "/pipe";
};

TEST_F(recording, of_a_pipe_that_nobody_reads_is_an_error) {
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const auto ended = record(pipe);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(pipe + ": nobody reads this pipe"));
}

TEST_F(recording, goes_to_a_pipe_that_has_a_reader) {
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::string seen;
    std::thread reader([&] {
        std::ifstream in(pipe);
        seen.assign(std::istreambuf_iterator<char>(in), {});
    });
    const auto ended = record(pipe);
    reader.join();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(seen, HasSubstr("a question"));
}

TEST_F(recording, in_a_folder_is_an_error_that_says_so) {
    const auto ended = record(scratch.path());
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(scratch.path() + ": is a directory"));
}

} // namespace
} // namespace heddle::cli_test
