#include "running_call.hpp"

#include "input_binding.hpp"
#include "json_values.hpp"
#include "plain_error.hpp"
#include "runtime_core.hpp"

#include <heddle/base/exceptions.hpp>
#include <heddle/coro/spawn.hpp>
#include <heddle/lang/errors.hpp>

#include <algorithm>
#include <utility>

namespace heddle::embed {

namespace {

/// Of the input and of the result, so that they delay no other call of the thread: about a
/// millisecond.
constexpr std::size_t parts_in_a_turn = 5'000;

coro::deadline deadline_of(const call_options& asked, const runtime_options& usual,
                           coro::clock::time_point now) {
    coro::deadline until;
    if (asked.deadline) until = coro::deadline(*asked.deadline);
    const auto timeout = asked.timeout ? asked.timeout : usual.timeout;
    if (!timeout) return until;
    // A sum beyond the clock's range is never.
    const auto room = coro::clock::time_point::max() - now;
    if (*timeout >= room) return until;
    return until.earlier(
        coro::deadline(now + std::chrono::duration_cast<coro::clock::duration>(*timeout)));
}

} // namespace

running_call::running_call(std::shared_ptr<runtime_core> core, call_request wanted,
                           std::shared_ptr<call_listener> listener,
                           std::shared_ptr<piece_buffer> pieces)
    : core_(std::move(core)), wanted_(std::move(wanted)), listener_(std::move(listener)),
      pieces_(std::move(pieces)), until_(deadline_of(wanted_.options, core_->options(), begun_)) {}

void running_call::cancel(cancel_reason reason) {
    if (!home) return;
    home->post([self = shared_from_this(), reason] { self->cancel_.request(reason); });
}

void running_call::reopen() {
    if (!home) return;
    home->post([self = shared_from_this()] {
        if (self->session_) self->session_->reopen();
    });
}

void running_call::admit() {
    home->post([self = shared_from_this()] { self->place_.notify(); });
}

void running_call::fail(error failure) { end(plain_error(failure, {}, wanted_.tag)); }

coro::call_context running_call::context() { return {&home->loop(), &cancel_, until_}; }

void running_call::begin() {
    home->check_thread();
    home->begin(*this);
    if (core_->is_cancelling()) cancel_.request(cancel_reason::shutdown);
    coro::spawn(home->loop(), run(), [self = shared_from_this()](std::exception_ptr thrown) {
        if (!thrown) return;
        try {
            std::rethrow_exception(thrown);
        } catch (...) {
            self->end(plain_error(error_of_exception("a call"), {}, self->wanted_.tag));
        }
    });
}

coro::task<void> running_call::run() {
    const auto self = shared_from_this();
    result<answer> ended = co_await perform();
    end(std::move(ended));
}

coro::task<result<answer>> running_call::perform() {
    const result<void> placed = co_await wait_for_a_place();
    if (!placed) co_return plain_error(placed.error(), {}, wanted_.tag);
    const std::shared_ptr<shard_program> program = home->program(wanted_.program);
    const call_options& asked = wanted_.options;
    const runtime_options& usual = home->options();
    const session_request wanted{wanted_.tag, pieces_.get(),
                                 asked.budget_usd ? asked.budget_usd : usual.budget_usd,
                                 asked.max_calls ? asked.max_calls : usual.max_calls};
    result<std::unique_ptr<call_session>> opened =
        co_await program->open(wanted_.program, wanted, context());
    if (!opened) co_return opened.error();
    std::unique_ptr<call_session> session = *std::move(opened);
    session_ = session.get();
    result<answer> ended = co_await evaluate(*session);
    session_ = nullptr;
    session.reset(); // who learns of the end finds the memory free
    co_return ended;
}

coro::task<result<void>> running_call::wait_for_a_place() {
    if (core_->is_admitted(*this)) co_return result<void>();
    const coro::wake woken = co_await place_.wait(context());
    if (woken == coro::wake::notified) co_return result<void>();
    if (!core_->leave_queue(*this)) {
        // Its place came meanwhile; the notification must not find the call gone.
        (void)co_await place_.wait({&home->loop(), nullptr, {}});
    }
    if (woken == coro::wake::timed_out) {
        co_return error(lang::errc::timeout, "the time for this call is over, in the queue");
    }
    co_return error::cancelled(cancel_.reason());
}

coro::task<result<answer>> running_call::evaluate(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the call
    call_session& session) {
    const call_options& asked = wanted_.options;
    host::session& inside = session.get();
    const auto refused = [this](const error& failure) {
        return plain_error(failure, {}, wanted_.tag);
    };
    result<lang::value> callee = find_function(inside, wanted_.function);
    if (!callee) co_return refused(callee.error());
    value_conversion input(inside.memory(), std::move(wanted_.input));
    result<bool> converted = input.advance(parts_in_a_turn);
    while (converted && !*converted) {
        co_await coro::yield_now(home->loop());
        if (const auto stop = context().stop_error()) co_return refused(*stop);
        converted = input.advance(parts_in_a_turn);
    }
    if (!converted) co_return refused(refused_input(wanted_.function, converted.error()));
    result<std::vector<lang::value>> arguments =
        bind_input(*callee, wanted_.function, input.take());
    if (!arguments) co_return refused(arguments.error());
    host::run_options bounds = home->services()->bounds();
    bounds.cancel = &cancel_;
    bounds.until = until_;
    bounds.concurrency = asked.concurrency.value_or(bounds.concurrency);
    bounds.memory_limit = asked.memory_limit.value_or(bounds.memory_limit);
    bounds.step_limit = asked.step_limit.value_or(bounds.step_limit);
    result<lang::value> ended =
        co_await inside.call(*std::move(callee), *std::move(arguments), bounds);
    const usage used = session.used();
    if (!ended) co_return plain_error(ended.error(), inside, used, wanted_.tag);
    data_conversion output(*std::move(ended));
    converted = output.advance(parts_in_a_turn);
    while (converted && !*converted) {
        co_await coro::yield_now(home->loop());
        if (const auto stop = context().stop_error()) co_return refused(*stop);
        converted = output.advance(parts_in_a_turn);
    }
    if (!converted) co_return plain_error(converted.error(), inside, used, wanted_.tag);
    co_return answer(output.take(), used, coro::clock::now() - begun_, wanted_.tag);
}

void running_call::count(const result<answer>& ended) {
    shard_counters& counters = home->counters();
    if (ended) counters.done.add(1);
    else if (ended.error().is_cancelled() ||
             ended.error().code() == lang::make_error_code(lang::errc::timeout))
        counters.cancelled.add(1);
    else counters.failed.add(1);
}

void running_call::end(result<answer> ended) {
    const std::shared_ptr<call_listener> listener = std::exchange(listener_, nullptr);
    if (!listener) return;
    session_ = nullptr;
    if (pieces_) pieces_->close();
    if (home) {
        count(ended);
        home->end(*this);
        core_->release(*this); // who learns of the end may begin the next call
    }
    listener->on_end(std::move(ended));
    if (home) core_->forget();
}

} // namespace heddle::embed
