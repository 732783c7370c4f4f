// Back-pressure: a busy receiver holds back its sender.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>

namespace heddle::ports {

/// Between a stream and its receiver: the stream delivers only while the gate is open. The receiver
/// implements open(), and calls report_open() when it becomes true again.
/// Lifetime: outlives every call to which it was passed. Threads: its shard's only.
class flow_gate {
public:
    /// Waits for the gate to open, without a coroutine. Stops waiting on destruction.
    class listener {
    public:
        listener() = default;
        listener(const listener&) = delete;
        listener& operator=(const listener&) = delete;
        void unlisten() noexcept;
        [[nodiscard]] bool listening() const noexcept { return link_ != nullptr; }

    protected:
        ~listener() { unlisten(); }
        /// Called at most once per listen(), from inside the receiver: must not deliver anything to
        /// it, and must not resume a coroutine inline: post it. The gate may be closed again.
        virtual void on_open() noexcept = 0;

    private:
        friend class flow_gate;
        listener* next_ = nullptr;
        listener** link_ = nullptr; ///< what points here
    };

    flow_gate() = default;
    virtual ~flow_gate();
    flow_gate(const flow_gate&) = delete;
    flow_gate& operator=(const flow_gate&) = delete;

    [[nodiscard]] virtual bool open() const noexcept = 0;

    /// Waits until it is open. Errors: cancelled, the deadline. Cancellation: at any point.
    [[nodiscard]] coro::task<result<void>> opened(coro::call_context context);

    /// Calls `who` when the gate opens next, even if it is open now. Several may listen.
    void listen(listener& who) noexcept;

protected:
    /// Notifies all listeners, once, that the gate has opened.
    void report_open() noexcept;

private:
    listener* first_ = nullptr;
};

} // namespace heddle::ports
