// A loop that a thread of its own runs.
#pragma once

#include <heddle/coro/event_loop.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <optional>
#include <thread>

namespace heddle::loopback {

/// Runs until its end, also without work.
class loop_thread {
public:
    loop_thread() : thread_([this] { context_->run(); }) {}
    ~loop_thread() { end(); }
    loop_thread(const loop_thread&) = delete;
    loop_thread& operator=(const loop_thread&) = delete;

    [[nodiscard]] coro::event_loop& loop() noexcept { return *loop_; }
    [[nodiscard]] coro::loop_address address() const { return address_; }
    [[nodiscard]] std::thread::id id() const noexcept { return id_; }

    /// Ends the thread where it is and destroys the loop with all that waits on it.
    void end() {
        if (!thread_.joinable()) return;
        context_->stop();
        thread_.join();
        loop_.reset();
        busy_.reset();
        context_.reset();
    }

private:
    std::optional<boost::asio::io_context> context_{std::in_place, 1};
    std::optional<coro::event_loop> loop_{std::in_place, *context_};
    coro::loop_address address_ = loop_->address();
    std::optional<boost::asio::executor_work_guard<coro::executor>> busy_{std::in_place,
                                                                          context_->get_executor()};
    std::thread thread_;
    std::thread::id id_ = thread_.get_id();
};

} // namespace heddle::loopback
