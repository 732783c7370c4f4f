// Cancellation with a reason, inside one shard.
#pragma once

#include <heddle/base/error.hpp>

namespace heddle::coro {

class cancel_source;

/// Is notified of a cancellation while it waits. Unhooks itself on destruction.
class cancel_hook {
public:
    cancel_hook() = default;
    cancel_hook(const cancel_hook&) = delete;
    cancel_hook& operator=(const cancel_hook&) = delete;
    void unhook() noexcept;
    [[nodiscard]] bool hooked() const noexcept { return next_ != nullptr; }

protected:
    ~cancel_hook() { unhook(); }
    /// Called at most once per hooking, from cancel_source::request, on the shard's thread.
    /// Must not throw and must not resume a coroutine inline: post it.
    virtual void on_cancel(cancel_reason reason) noexcept = 0;

private:
    friend class cancel_source;
    cancel_hook* next_ = nullptr;
    cancel_hook* previous_ = nullptr;
};

/// Where cancellation is requested. Sources form a tree: a request reaches all descendants. A
/// request does not end the work: await its end, then destroy.
/// Threads: the shard's only; other threads post to the loop. A source outlives its hooks.
class cancel_source final : private cancel_hook {
public:
    cancel_source() = default;
    /// A child is cancelled with its parent. `parent` may be null; otherwise it outlives this.
    explicit cancel_source(cancel_source* parent);
    ~cancel_source();

    /// The first reason wins; later calls do nothing.
    void request(cancel_reason reason) noexcept;
    [[nodiscard]] bool requested() const noexcept { return reason_ != cancel_reason::none; }
    [[nodiscard]] cancel_reason reason() const noexcept { return reason_; }

    /// Adds a hook. If cancellation was already requested, the hook is not called: check first.
    void hook(cancel_hook& waiting) noexcept;

private:
    void on_cancel(cancel_reason reason) noexcept override { request(reason); }

    class sentinel final : public cancel_hook {
        void on_cancel(cancel_reason) noexcept override {}
        friend class cancel_source;
    };
    sentinel hooks_;
    cancel_reason reason_ = cancel_reason::none;
};

} // namespace heddle::coro
