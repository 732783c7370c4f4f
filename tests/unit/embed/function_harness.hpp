// Functions of the host, called without a workflow.
#pragma once

#include <heddle/function.hpp>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/describe/class.hpp>
#include <hang_guard.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace heddle {

namespace function_samples {

struct customer {
    std::int64_t id = 0;
    std::string name;
};
BOOST_DESCRIBE_STRUCT(customer, (), (id, name))

struct query {
    std::string text;
    std::optional<int> limit;
};
BOOST_DESCRIBE_STRUCT(query, (), (text, limit))

} // namespace function_samples

namespace testing {

using namespace std::chrono_literals;

/// A loop as that of a workflow, which waits for the results of functions.
class function_caller : public ::testing::Test {
protected:
    [[nodiscard]] call caller() {
        return call({.executor = loop_.get_executor(),
                     .deadline = std::chrono::steady_clock::now() + 1h,
                     .tag = "request 7",
                     .cancel = cancel_.get_token()});
    }

    /// Starts a call; its end is noted in outcome_, on whichever thread it happens.
    void start(const function_definition& definition, json::array arguments) {
        definition.invoke(caller(), std::move(arguments), [this](result<json> outcome) {
            const std::lock_guard lock(mutex_);
            ++ends_;
            ended_on_ = std::this_thread::get_id();
            outcome_ = std::move(outcome);
            changed_.notify_all();
        });
    }
    void run_loop() {
        loop_.restart();
        loop_.run();
    }
    [[nodiscard]] bool wait_for_end() {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, hang_guard::limit, [this] { return ends_ != 0; });
    }

    /// The result as text, or the message of the error.
    std::string text() {
        const std::lock_guard lock(mutex_);
        if (!outcome_) return "has not ended";
        return *outcome_ ? (*outcome_)->to_string() : outcome_->error().message();
    }
    std::string call_now(const function_definition& definition, json::array arguments) {
        outcome_.reset();
        start(definition, std::move(arguments));
        run_loop();
        return text();
    }
    boost::system::error_code code() { return outcome_->error().code(); }

    boost::asio::io_context loop_;
    std::stop_source cancel_;
    std::mutex mutex_;
    std::condition_variable changed_;
    int ends_ = 0;
    std::thread::id ended_on_;
    std::optional<result<json>> outcome_;
};

inline boost::asio::awaitable<function_samples::customer> find_later(call by, std::int64_t id) {
    boost::asio::steady_timer timer(by.executor(), 1ms);
    co_await timer.async_wait(boost::asio::use_awaitable);
    co_return function_samples::customer{id, "Ada"};
}

} // namespace testing
} // namespace heddle
