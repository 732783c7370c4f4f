// A loop for one test that needs real sockets or timers.
#pragma once

#include <heddle/coro/call_context.hpp>
#include <heddle/coro/nursery.hpp>
#include <heddle/coro/spawn.hpp>
#include <heddle/coro/task.hpp>

#include <boost/asio/post.hpp>
#include "hang_guard.hpp"

#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

namespace heddle::loopback {

/// io_context and event_loop of a test. run() gives up at the guard against hangs.
class runner {
public:
    [[nodiscard]] coro::call_context context(coro::cancel_source* cancel = nullptr,
                                             coro::deadline until = {}) {
        return {&loop, cancel, until};
    }
    [[nodiscard]] static coro::deadline in(std::chrono::milliseconds span) {
        return coro::deadline(coro::clock::now() + span);
    }

    template <class T>
    T run(coro::task<T> work) {
        std::optional<T> value;
        finish(keep(std::move(work), &value));
        return std::move(*value);
    }
    void run(coro::task<void> work) { finish(std::move(work)); }

    /// Lets the loop do what is ready or becomes so within `span`.
    void turn(std::chrono::milliseconds span = std::chrono::milliseconds(1)) {
        io.restart();
        io.run_for(span);
    }

    /// Calls `what` from the loop, after work that is run() next has parked.
    template <class Call>
    void later(Call what, int turns = 4) {
        boost::asio::post(io, [this, what = std::move(what), turns]() mutable {
            if (turns == 0) what();
            else later(std::move(what), turns - 1);
        });
    }

    boost::asio::io_context io{1};
    coro::event_loop loop{io};

private:
    template <class T>
    static coro::task<void> keep(coro::task<T> work, std::optional<T>* into) {
        T value = co_await std::move(work);
        into->emplace(std::move(value));
    }

    void finish(coro::task<void> work) {
        bool ended = false;
        std::exception_ptr thrown;
        coro::spawn(loop, std::move(work), [&](std::exception_ptr failure) {
            thrown = failure;
            ended = true;
        });
        io.restart();
        const auto give_up = coro::clock::now() + hang_guard::limit;
        while (!ended && coro::clock::now() < give_up) io.run_one_until(give_up);
        if (!ended) throw std::runtime_error("the work of this test does not end");
        if (thrown) std::rethrow_exception(thrown);
    }
};

} // namespace heddle::loopback
