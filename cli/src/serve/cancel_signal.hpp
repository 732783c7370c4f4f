// Cancellation of our contexts for Asio's operations.
#pragma once

#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/job.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

namespace heddle::cli {

/// Cancels a job when a context is cancelled, whatever is being waited for. `cancel` of the job may
/// be called at any time. Lifetime: that of the job. Threads: the loop's only.
class job_cancellation final : private coro::cancel_hook {
public:
    job_cancellation(coro::call_context context, job& running) noexcept : running_(running) {
        if (!context.cancel) return;
        if (context.cancelled()) running_.cancel();
        else context.cancel->hook(*this);
    }

private:
    void on_cancel(cancel_reason) noexcept override { running_.cancel(); }

    job& running_;
};

/// Ends an operation of the embedding library when a context is cancelled. One operation at a time.
/// Lifetime: until the operation has completed. Threads: the loop's only.
class cancel_signal final : private coro::cancel_hook {
public:
    explicit cancel_signal(coro::call_context context) noexcept : context_(context) {}

    /// A completion token for co_await.
    [[nodiscard]] auto token() {
        if (context_.cancel && !context_.cancelled() && !hooked()) context_.cancel->hook(*this);
        return boost::asio::bind_cancellation_slot(signal_.slot(), coro::use_task);
    }

private:
    // The operations only note it and complete later: nothing resumes inline.
    void on_cancel(cancel_reason) noexcept override {
        signal_.emit(boost::asio::cancellation_type::terminal);
    }

    coro::call_context context_;
    boost::asio::cancellation_signal signal_;
};

} // namespace heddle::cli
