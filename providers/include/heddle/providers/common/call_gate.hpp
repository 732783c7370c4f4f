// Admission of requests to a service: the interface of limiters to providers.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/providers/common/chat_codec.hpp>

#include <cstdint>
#include <utility>

namespace heddle::providers {

/// What one request will take from the limits of its account.
struct call_demand {
    const ports::chat_request* request = nullptr; ///< model, scheduling, prompt; outlives the call
    std::int64_t input_tokens = 0;                ///< estimated from the lengths of the texts
    std::int64_t output_tokens = 0;               ///< upper bound; 0: unknown
    std::uint32_t attempt = 1;                    ///< 1: the first try of a call
    bool reports_sent = false; ///< sent() of the permit is called when the request has been written
};

/// How one request ended. The pointers are only read during the call.
struct call_outcome {
    int status = 0;                             ///< of HTTP; 0: no response
    const rate_limit_headers* limits = nullptr; ///< null: no response
    const error* failure = nullptr;             ///< null: success. May be a cancellation
    const ports::token_usage* usage = nullptr;  ///< null: unknown
};

/// State of a gate that is returned to it when a request ends. Opaque to all others.
struct call_ticket {
    void* lane = nullptr;
    std::uint64_t number = 0;
    std::int64_t input_tokens = 0;
    std::int64_t output_tokens = 0;
};

class call_permit;

/// Admits requests one by one. The provider asks before every attempt, including retries, and
/// reports how it ended. Threads: its shard's only. Outlives every permit.
class call_gate {
public:
    virtual ~call_gate() = default;

    /// Without a coroutine: a permit if the request may be sent at once and no other waits before
    /// it; otherwise an empty one, and the caller awaits acquire().
    [[nodiscard]] virtual call_permit try_acquire(const call_demand& demand) = 0;

    /// Waits for a permit. Errors: llm_errc::rate_limit, not retryable, for a request that could
    /// never be admitted; cancelled.
    /// Cancellation: at any point while it waits; nothing stays reserved.
    [[nodiscard]] virtual coro::task<result<call_permit>> acquire(call_demand demand,
                                                                  coro::call_context context) = 0;

private:
    friend class call_permit;
    /// The request has been written to its connection. Only with call_demand::reports_sent; called
    /// each time that it is written.
    virtual void sent(const call_ticket&) noexcept {}
    /// The head of the response has arrived. Called at most once, and before end().
    virtual void answering(const call_ticket& ticket) noexcept = 0;
    /// The request ended. Called exactly once for each permit. An outcome with neither status nor
    /// failure: it was never sent.
    virtual void end(const call_ticket& ticket, const call_outcome& outcome) noexcept = 0;
};

/// The right to send one request. Released when it is settled, or by its destructor: then the
/// request was never sent.
class call_permit {
public:
    call_permit() noexcept = default; ///< none
    call_permit(call_gate& gate, const call_ticket& ticket) noexcept
        : gate_(&gate), ticket_(ticket) {}
    call_permit(call_permit&& other) noexcept
        : gate_(std::exchange(other.gate_, nullptr)), ticket_(other.ticket_) {}
    call_permit& operator=(call_permit&& other) noexcept {
        if (this != &other) {
            settle({});
            gate_ = std::exchange(other.gate_, nullptr);
            ticket_ = other.ticket_;
        }
        return *this;
    }
    ~call_permit() { settle({}); }

    explicit operator bool() const noexcept { return gate_ != nullptr; }

    /// Call it when the request has been written, if call_demand::reports_sent.
    void sent() const noexcept {
        if (gate_) gate_->sent(ticket_);
    }
    /// Call it when the head of the response has arrived.
    void answering() const noexcept {
        if (gate_) gate_->answering(ticket_);
    }
    /// Call it when the request has ended. Later calls have no effect.
    void settle(const call_outcome& outcome) noexcept {
        if (gate_) std::exchange(gate_, nullptr)->end(ticket_, outcome);
    }

private:
    call_gate* gate_ = nullptr;
    call_ticket ticket_;
};

} // namespace heddle::providers
