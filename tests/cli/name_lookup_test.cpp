// A name that cannot be looked up holds up neither other calls nor the end.
#include "child_process.hpp"
#include "model_thread.hpp"
#include "scratch_directory.hpp"
#include "scripted_rules.hpp"
#include "test_paths.hpp"

#include <gmock/gmock.h>
#include <sanitizers.hpp>

#include <csignal>
#include <thread>

namespace heddle::cli_test {
namespace {

using ::testing::HasSubstr;

class name_lookup : public ::testing::Test {
protected:
    name_lookup() {
#ifdef HEDDLE_SANITIZED
        skipped = true; // their own library must be the first
#endif
        options.variables = {{"LD_PRELOAD", heddle::test_paths::slow_names_library()}};
    }
    [[nodiscard]] std::string config() const {
        return scratch.file("own.toml",
                            "[providers.slow]\ntype = \"openai\"\n"
                            "base_url = \"http://api.hangs.test/v1\"\n"
                            "[providers.quick]\ntype = \"openai\"\nbase_url = \"" +
                                model.url() + "\"\n");
    }
    [[nodiscard]] std::vector<std::string> asking(const std::string& program) const {
        return {"run",   scratch.file("w.heddle", program), "--config", config(), "--model",
                "slow:m"};
    }

    scratch_directory scratch;
    model_thread model{always_answering("fine")};
    child_options options;
    bool skipped = false;
};

constexpr const char* asks_slowly =
    "(defatom ask (params q) (instructions \"{{q}}\"))\n(content (ask \"q\"))\n";

TEST_F(name_lookup, that_hangs_does_not_hold_up_the_end) {
    if (skipped) GTEST_SKIP();
    auto command = asking(asks_slowly);
    command.insert(command.end(), {"--timeout", "0.5"});
    const auto late = run_heddle(command, options); // within the guard, long before the name
    EXPECT_EQ(late.code, 1);

    child_process child(heddle_command(asking(asks_slowly)), options);
    std::this_thread::sleep_for(milliseconds(500));
    child.send_signal(SIGINT);
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 130);
}

TEST_F(name_lookup, that_hangs_does_not_hold_up_other_calls) {
    if (skipped) GTEST_SKIP();
    const auto ended = run_heddle(
        asking("(defatom slow (params q) (instructions \"{{q}}\"))\n"
               "(defatom quick (params q) (model \"quick:m\") (instructions \"{{q}}\"))\n"
               "(race (content (slow \"q\")) (progn (sleep 0.2) (content (quick \"q\"))))\n"),
        options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "fine\n");
}

} // namespace
} // namespace heddle::cli_test
