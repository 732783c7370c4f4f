// Responses in the cache that a task does not accept.
#include "child_process.hpp"
#include "model_thread.hpp"
#include "scratch_directory.hpp"

#include <gtest/gtest.h>

namespace heddle::cli_test {
namespace {

class rejected_responses : public testing::Test {
protected:
    /// The requests that the run has made.
    unsigned requests_of(const std::string& call, std::vector<std::string> more = {}) {
        const auto before = model.counters().requests;
        std::vector<std::string> arguments{
            "run",
            scratch.file("w.heddle",
                         "(defatom j (params q) (instructions \"{{q}}\") (retries 0)\n"
                         "  (output_format ((type \"json\") (schema \"object\"))))\n"
                         "(get " +
                             call + " 'status)"),
            "--model",
            "openai:gpt-4o",
            "--base-url",
            model.url(),
            "--cache",
            "--cache-file",
            scratch.path() + "/answers.db"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const auto ended = run_heddle(arguments);
        EXPECT_EQ(ended.out, "FAILED\n") << ended.err;
        return static_cast<unsigned>(model.counters().requests - before);
    }

    scratch_directory scratch;
    model_thread model{R"({"rules": [{"match": ".*", "text": "no JSON"}]})"};
};

// docs/reference/caching.md
TEST_F(rejected_responses, are_kept_and_asked_for_again_by_retry) {
    EXPECT_EQ(requests_of("(j \"a\")"), 1U);
    EXPECT_EQ(requests_of("(j \"a\")"), 0U) << "the stored response fails again";
    EXPECT_EQ(requests_of("(retry ((attempts 2) (backoff 0)) (j \"a\"))"), 1U)
        << "the first attempt has the stored response, the second one asks";
    EXPECT_EQ(requests_of("(with ((cache false)) (j \"a\"))"), 1U);
    EXPECT_EQ(requests_of("(j \"a\")", {"--no-cache"}), 1U);
    EXPECT_EQ(run_heddle({"cache", "clear", "--cache-file", scratch.path() + "/answers.db"}).code,
              0);
    EXPECT_EQ(requests_of("(j \"a\")"), 1U);
}

} // namespace
} // namespace heddle::cli_test
