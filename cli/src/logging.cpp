#include "logging.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/setup/display_text.hpp>

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>

#include <mutex>

namespace heddle::cli {

namespace {

spdlog::level::level_enum to_spdlog(log_level level) noexcept {
    switch (level) {
    case log_level::trace: return spdlog::level::trace;
    case log_level::debug: return spdlog::level::debug;
    case log_level::info: return spdlog::level::info;
    case log_level::warn: return spdlog::level::warn;
    case log_level::error: return spdlog::level::err;
    case log_level::off: break;
    }
    return spdlog::level::off;
}

/// Writes through the console, which takes its status line away first.
class console_sink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    explicit console_sink(console& target) : target_(target) {}

protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        std::string text(line.data(), line.size());
        if (target_.err_in_colour() && message.color_range_end > message.color_range_start) {
            const bool bad = message.level >= spdlog::level::err;
            text.insert(message.color_range_end, "\x1b[0m");
            text.insert(message.color_range_start, bad ? "\x1b[31m" : "\x1b[36m");
        }
        target_.err_log(text);
    }
    void flush_() override {}

private:
    console& target_;
};

class console_log final : public log_port {
public:
    console_log(console& target, log_level least)
        : logger_("heddle", std::make_shared<console_sink>(target)) {
        logger_.set_level(to_spdlog(least));
        logger_.set_pattern("%H:%M:%S.%e %^%l%$ %v");
    }

    bool enabled(log_level level) const noexcept override {
        return logger_.should_log(to_spdlog(level));
    }

    void write(log_level level, std::string_view component,
               std::string_view message) noexcept override {
        if (!enabled(level)) return;
        try {
            std::string line(component);
            line += ": ";
            line += utf8::printable_line(message); // a line of the log is a line
            logger_.log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
        } catch (...) { // no memory: the line is lost, the work goes on
        }
    }

private:
    spdlog::logger logger_;
};

} // namespace

log_level level_for(int verbosity) noexcept {
    if (verbosity < 0) return log_level::error;
    switch (verbosity) {
    case 0: return log_level::warn;
    case 1: return log_level::info;
    case 2: return log_level::debug;
    default: return log_level::trace;
    }
}

std::unique_ptr<log_port> make_console_log(console& target, log_level least) {
    return std::make_unique<console_log>(target, least);
}

} // namespace heddle::cli
