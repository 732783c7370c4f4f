// A cache that another process keeps locked: calls go on, and no response that has arrived is lost.
#include "child_process.hpp"
#include "model_thread.hpp"
#include "scratch_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <thread>

namespace heddle::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* rules = R"({"rules": [{"match": "slow", "text": "x", "delay_ms": 600000},
  {"match": "later", "text": "LATER", "delay_ms": 300}, {"match": ".*", "text": "PRECIOUS"}]})";
constexpr const char* atom = "(defatom ask (params q) (instructions \"{{q}}\"))\n";

/// Takes the lock for writing to a database that is not in WAL mode yet: RESERVED, as the file
/// format of SQLite has it. Given up by the destructor.
class write_lock {
public:
    explicit write_lock(const std::string& file)
        : file_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        struct flock reserved {};
        reserved.l_type = F_WRLCK;
        reserved.l_whence = SEEK_SET;
        reserved.l_start = 0x40000001;
        reserved.l_len = 1;
        EXPECT_EQ(::fcntl(file_, F_SETLK, &reserved), 0);
    }
    ~write_lock() { ::close(file_); }
    write_lock(const write_lock&) = delete;
    write_lock& operator=(const write_lock&) = delete;

private:
    int file_;
};

class locked_cache : public testing::Test {
protected:
    [[nodiscard]] std::vector<std::string> command(const std::string& program,
                                                   std::vector<std::string> more = {}) {
        std::vector<std::string> strings{"run",        scratch.file("w.heddle", atom + program),
                                         "--base-url", model.url(),
                                         "--cache",    "--cache-file",
                                         file,         "--json"};
        strings.insert(strings.end(), more.begin(), more.end());
        return heddle_command(strings);
    }

    scratch_directory scratch;
    model_thread model{rules};
    const std::string file = scratch.path() + "/answers.db";
};

TEST_F(locked_cache, delays_neither_calls_nor_the_end) {
    const write_lock held(file);
    child_process child(
        command("(map (lambda (i) (content (ask (format \"q {}\" i)))) (range 40))"
                "(ask \"slow\")",
                {"--timeout", "2"}));
    const auto ended = child.wait(); // the lock is never given up
    EXPECT_EQ(model.counters().requests, 41U) << "all calls within the two seconds";
    EXPECT_THAT(ended.err, HasSubstr("40 responses could not be written"));
}

TEST_F(locked_cache, responses_that_have_arrived_are_kept_after_an_interruption) {
    {
        std::optional<write_lock> held(std::in_place, file);
        child_process child(command(
            "(map (lambda (i) (content (ask (format \"q {}\" i)))) (range 20)) (ask \"slow\")"));
        ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests == 21; }));
        child.send_signal(SIGINT);
        std::this_thread::sleep_for(milliseconds(500));
        held.reset();
        const auto ended = child.wait();
        EXPECT_EQ(ended.code, 130) << ended.err;
        EXPECT_THAT(ended.err, Not(HasSubstr("could not be written")));
    }
    child_process again(
        command("(length (map (lambda (i) (content (ask (format \"q {}\" i)))) (range 20)))"));
    EXPECT_EQ(again.wait().out, "20\n");
    EXPECT_EQ(model.counters().requests, 21U) << "all were kept";
}

TEST_F(locked_cache, a_response_in_time_is_in_time) {
    const write_lock held(file);
    child_process child(command(
        "(map (lambda (i) (try (timeout 1.5 (content (ask \"later\"))) (catch (e) \"LOST\")))"
        " (range 4))"));
    const auto ended = child.wait();
    EXPECT_EQ(ended.out, R"(["LATER","LATER","LATER","LATER"])"
                         "\n")
        << ended.err;
    EXPECT_EQ(model.counters().requests, 1U);
}

} // namespace
} // namespace heddle::cli_test
