#include "common/remote_call.hpp"

#include <heddle/base/detached_error.hpp>
#include <heddle/base/exceptions.hpp>
#include <heddle/coro/run_on.hpp>
#include <heddle/providers/common/remote_provider.hpp>

#include <utility>

namespace heddle::providers {

using coro::call_context;
using coro::task;
using ports::chat_delta_sink;
using ports::chat_request;
using ports::chat_response;
using ports::lost_request;
using ports::send_terms;

namespace {

[[nodiscard]] bool are_alike(const error& left, const error& right) {
    return left.code() == right.code() && left.message() == right.message() &&
           left.cancelled_because() == right.cancelled_because();
}

/// `failure` with what the call that it ended has cost.
[[nodiscard]] error with_costs(error failure, const error& ended) {
    if (ended.info().attempts) failure = std::move(failure).with_attempts(*ended.info().attempts);
    if (ports::part_of(ended)) failure = std::move(failure).with_payload(ended.info().payload);
    return failure;
}

[[nodiscard]] error with_costs(error failure, chat_response ended) {
    failure = std::move(failure).with_attempts(ended.attempts);
    if (failure.info().payload) return failure;
    return std::move(failure).with_payload(
        std::make_shared<ports::partial_response>(std::move(ended)));
}

} // namespace

remote_caller::remote_caller(std::shared_ptr<remote_call> call, const chat_request& request,
                             chat_delta_sink on_delta, call_context context)
    : call_(std::move(call)), on_delta_(std::move(on_delta)), gate_(request.gate),
      waits_(request.waits), sends_(request.sends), context_(context) {
    call_->set_caller(this);
}

remote_caller::~remote_caller() {
    call_->set_caller(nullptr);
    show_wait(false);
}

void remote_caller::take(std::string piece) {
    if (receiver_failure_) return;
    pieces_.push_back(std::move(piece));
    hand_on();
}

result<void> remote_caller::hand_over(const std::string& piece) noexcept {
    try {
        return on_delta_(piece);
    } catch (...) {
        return error_of_exception("the receiver of a response");
    }
}

void remote_caller::hand_on() noexcept {
    while (!pieces_.empty() && !receiver_failure_) {
        if (gate_ && !gate_->open()) return gate_->listen(*this);
        const std::string piece = std::move(pieces_.front());
        pieces_.pop_front();
        result<void> taken = hand_over(piece);
        try {
            call_->piece_taken(piece.size());
            if (!taken) call_->refuse();
        } catch (...) {
            if (taken) taken = error_of_exception("the receiver of a response");
        }
        if (taken) continue;
        receiver_failure_ = std::move(taken).error();
        pieces_.clear();
    }
}

void remote_caller::on_open() noexcept { call_->hand_on_later(); }

void remote_caller::show_wait(bool waits) noexcept {
    if (!waits_ || waits == shows_wait_) return;
    shows_wait_ = waits;
    waits_->on_limit_wait(waits);
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
task<result<send_terms>> remote_caller::admit(const chat_request& request,
                                              // NOLINTNEXTLINE: as the request
                                              const std::vector<lost_request>& lost,
                                              call_context here) {
    here.step = context_.step;
    result<send_terms> admitted = co_await sends_->before_sending(request, lost, here);
    if (admitted) co_return admitted;
    admission_failure_ = std::move(admitted).error();
    co_return detached_error(*admission_failure_);
}

task<result<chat_response>> remote_caller::finish(result<chat_response> outcome) {
    while (!pieces_.empty()) { // the gate is closed
        result<void> opened = co_await gate_->opened(context_);
        if (!opened) {
            pieces_.clear();
            if (outcome) co_return with_costs(std::move(opened).error(), *std::move(outcome));
            co_return with_costs(std::move(opened).error(), outcome.error());
        }
        hand_on();
    }
    if (receiver_failure_) {
        if (outcome) co_return with_costs(*std::move(receiver_failure_), *std::move(outcome));
        co_return with_costs(*std::move(receiver_failure_), outcome.error());
    }
    if (!outcome && admission_failure_ && are_alike(*admission_failure_, outcome.error()))
        co_return with_costs(*std::move(admission_failure_), outcome.error());
    co_return outcome;
}

remote_call::remote_call(ports::llm_port& service, coro::loop_address home,
                         const chat_request& request, bool streams, coro::loop_address here)
    : service_(service), home_(std::move(home)), here_(std::move(here)), streams_(streams),
      task_(request.origin.task), work_(request.origin.work), request_(request) {
    request_.origin = {task_, work_};
    // Also without a gate of the caller, whose loop may be busy.
    request_.gate = streams ? this : nullptr;
    request_.waits = request.waits ? this : nullptr;
    request_.sends = request.sends ? this : nullptr;
}

task<result<chat_response>> remote_call::perform(call_context home) {
    if (!streams_) {
        result<chat_response> whole = co_await service_.complete(request_, home);
        co_return whole;
    }
    coro::cancel_source stop(home.cancel);
    stop_ = &stop;
    task<result<chat_response>> streaming = service_.stream(
        request_, [this](std::string_view text) { return send_piece(text); },
        home.with_cancel(stop));
    result<chat_response> streamed = co_await std::move(streaming);
    stop_ = nullptr;
    co_return streamed;
}

result<void> remote_call::send_piece(std::string_view text) {
    if (refused_) return error::cancelled(cancel_reason::user);
    const bool sent = here_.post([self = shared_from_this(), piece = std::string(text)] {
        if (self->caller_) self->caller_->take(piece);
    });
    if (!sent) return error::cancelled(cancel_reason::shutdown);
    pending_ += text.size();
    return {};
}

bool remote_call::open() const noexcept { return pending_ < remote_provider::max_pending_bytes; }

void remote_call::piece_taken(std::size_t bytes) {
    home_.post([self = shared_from_this(), bytes] {
        const bool was_open = self->open();
        self->pending_ -= bytes;
        if (!was_open && self->open()) self->report_open();
    });
}

void remote_call::refuse() {
    home_.post([self = shared_from_this()] {
        self->refused_ = true;
        if (self->stop_) self->stop_->request(cancel_reason::user);
    });
}

void remote_call::hand_on_later() noexcept {
    here_.post_in<&remote_call::hand_on>(open_memory_, shared_from_this());
}

void remote_call::on_limit_wait(bool waits) noexcept {
    waits_ = waits;
    // The last one counts: a wait that has passed when its turn comes is not shown.
    if (wait_is_posted_.exchange(true)) return;
    here_.post_in<&remote_call::show_wait>(wait_memory_, shared_from_this());
}

void remote_call::show_wait() noexcept {
    wait_is_posted_ = false;
    const bool now = waits_;
    if (caller_) caller_->show_wait(now);
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
task<result<send_terms>> remote_call::before_sending(const chat_request& request,
                                                     // NOLINTNEXTLINE: as the request
                                                     const std::vector<lost_request>& lost,
                                                     call_context home) {
    // What a wrapper has made of the request belongs to this thread.
    std::shared_ptr<const chat_request> sent(shared_from_this(), &request_);
    if (&request != &request_) sent = std::make_shared<const chat_request>(request);
    auto ask = [self = shared_from_this(), sent = std::move(sent),
                lost = lost](call_context here) -> task<result<send_terms>> {
        return self->caller_->admit(*sent, lost, here);
    };
    result<send_terms> admitted = co_await coro::run_on(here_, home, std::move(ask));
    co_return admitted;
}

void remote_call::on_unpaid() noexcept {
    try {
        here_.post([self = shared_from_this()] {
            if (self->caller_) self->caller_->show_unpaid();
        });
    } catch (...) {
        // No memory: the request counts as one that may have been paid for.
    }
}

} // namespace heddle::providers
