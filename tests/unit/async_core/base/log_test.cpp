#include <heddle/base/log.hpp>

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace heddle {
namespace {

static_assert(noexcept(std::declval<log_port&>().write(log_level::info, "", "")));
static_assert(noexcept(std::declval<const log_port&>().enabled(log_level::info)));
static_assert(log_level::trace < log_level::debug && log_level::debug < log_level::info &&
              log_level::info < log_level::warn && log_level::warn < log_level::error &&
              log_level::error < log_level::off);

TEST(null_log, keeps_no_line_of_any_level) {
    for (const log_level level : {log_level::trace, log_level::debug, log_level::info,
                                  log_level::warn, log_level::error, log_level::off})
        EXPECT_FALSE(null_log().enabled(level));
}

TEST(null_log, takes_lines_from_any_thread) {
    std::vector<log_port*> seen(4);
    std::vector<std::thread> writers;
    for (log_port*& each : seen)
        writers.emplace_back([&each] {
            each = &null_log();
            for (int i = 0; i < 1000; ++i) each->write(log_level::error, "test", "a line");
        });
    for (std::thread& each : writers) each.join();
    for (const log_port* each : seen) EXPECT_EQ(each, &null_log());
}

/// A host decides by level, and asks for nothing that it would drop.
class kept_lines final : public log_port {
public:
    explicit kept_lines(log_level least) : least_(least) {}
    bool enabled(log_level level) const noexcept override { return level >= least_; }
    void write(log_level level, std::string_view component,
               std::string_view message) noexcept override {
        if (enabled(level)) lines.push_back(std::string(component) + ": " + std::string(message));
    }

    std::vector<std::string> lines;

private:
    log_level least_;
};

TEST(log_port, levels_are_in_the_order_of_their_weight) {
    kept_lines log(log_level::warn);
    log.write(log_level::info, "http", "connected");
    log.write(log_level::warn, "http", "slow");
    log.write(log_level::error, "script", "failed");
    EXPECT_EQ(log.lines, (std::vector<std::string>{"http: slow", "script: failed"}));
    EXPECT_FALSE(kept_lines(log_level::off).enabled(log_level::error));
}

} // namespace
} // namespace heddle
