// A disk or file that takes no more: nothing that was paid for is lost.
#include "child_process.hpp"
#include "model_thread.hpp"
#include "scratch_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* rules = R"({"rules": [{"match": ".*", "text": "PRECIOUS"}]})";
constexpr const char* program =
    "(defatom ask (params q) (instructions \"{{q}}\"))"
    "(map (lambda (i) (content (ask (format \"row {}\" i)))) (range 20))";

class full_disk : public testing::Test {
protected:
    /// With a limit on the size of files, in blocks of 512 bytes.
    child_result run_limited(std::vector<std::string> more, const std::string& redirection = {}) {
        std::vector<std::string> command{"sh", "-c",
                                         "ulimit -f 8; exec \"$0\" \"$@\"" + redirection};
        std::vector<std::string> arguments{"run", scratch.file("w.heddle", program), "--model",
                                           "scripted:" + scratch.file("rules.json", rules)};
        arguments.insert(arguments.end(), more.begin(), more.end());
        for (std::string& each : heddle_command(arguments)) command.push_back(std::move(each));
        return child_process(std::move(command)).wait();
    }

    scratch_directory scratch;
};

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
    return count;
}

TEST_F(full_disk, a_cache_that_is_too_large_takes_no_answer_away) {
    const auto ended = run_limited({"--cache", "--cache-file", scratch.path() + "/answers.db"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(count_of(ended.out, "PRECIOUS"), 20U);
    EXPECT_THAT(ended.err, HasSubstr("response cache"));
}

TEST_F(full_disk, an_output_file_that_is_too_large_is_an_error_of_the_output) {
    scratch.file("out.txt", std::string(8 * 512 - 10, '.'));
    const auto ended = run_limited({}, " >>'" + scratch.path() + "/out.txt'");
    EXPECT_EQ(ended.code, 1);
    EXPECT_FALSE(ended.signalled);
    EXPECT_THAT(ended.err, HasSubstr("output"));
}

} // namespace
} // namespace heddle::cli_test
