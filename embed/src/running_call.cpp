#include "running_call.hpp"

#include "input_binding.hpp"
#include "json_values.hpp"
#include "plain_error.hpp"
#include "recorded_call.hpp"
#include "runtime_core.hpp"

#include <heddle/base/exceptions.hpp>
#include <heddle/coro/spawn.hpp>
#include <heddle/failure.hpp>
#include <heddle/host/step_log.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/setup/journal/row_failures.hpp>
#include <heddle/tasks/output/task_result.hpp>

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

/// The evaluation of a recorded call has ended. Result: what an earlier one has used.
usage note_end_of_steps(recorded_call& record, const result<lang::value>& ended,
                        const usage& used) {
    const usage before = record.used_by_misfit();
    if (!ended) {
        const auto* payload = ended.error().info().payload.get();
        if (dynamic_cast<const host::journal_mismatch*>(payload)) record.note_misfit(used);
        record.note_failed_step(setup::message_of_step(ended.error()),
                                host::end_of_attempt(ended.error()));
    } else if (tasks::is_failed_result(*ended)) {
        record.note_failed_step(tasks::task_error_of(*ended).message());
    }
    return before;
}

} // namespace

/// Ends a call whose coroutine was dropped, as Asio does without memory.
class running_call::end_at_last {
public:
    explicit end_at_last(std::shared_ptr<running_call> call) noexcept : call_(std::move(call)) {}
    end_at_last(const end_at_last&) = delete;
    end_at_last& operator=(const end_at_last&) = delete;
    ~end_at_last() {
        // Not with a context that is destroyed: that drops the handlers of its calls as well.
        if (call_->home->is_here()) call_->end(out_of_memory());
    }
    void end(const std::exception_ptr& thrown) noexcept {
        try {
            std::rethrow_exception(thrown);
        } catch (...) {
            call_->end(call_->plain(error_of_exception("a call")));
        }
    }

private:
    std::shared_ptr<running_call> call_;
};

running_call::running_call(std::shared_ptr<runtime_core> core, call_request wanted,
                           std::shared_ptr<call_listener> listener,
                           std::shared_ptr<piece_buffer> pieces)
    : core_(std::move(core)), wanted_(std::move(wanted)), listener_(std::move(listener)),
      pieces_(std::move(pieces)), until_(deadline_of(wanted_.options, core_->options(), begun_)) {}

void running_call::cancel(cancel_reason reason) noexcept {
    if (!home) return;
    home->post_surely([self = shared_from_this(), reason] { self->cancel_.request(reason); });
}

void running_call::reopen() noexcept {
    if (!home) return;
    home->post_surely([self = shared_from_this()] {
        if (self->session_) self->session_->reopen();
    });
}

void running_call::admit() noexcept {
    home->post_surely([self = shared_from_this()] { self->place_.notify(); });
}

void running_call::fail(const error& failure) noexcept { end(plain(failure)); }

/// With the details of this call, unless there is no memory for them.
error running_call::plain(const error& failure) const noexcept {
    try {
        return plain_error(failure, {}, wanted_.tag);
    } catch (...) {
        return failure;
    }
}

coro::call_context running_call::context() { return {&home->loop(), &cancel_, until_}; }

void running_call::begin() noexcept {
    home->check_thread();
    has_begun_ = true;
    try {
        home->begin(*this);
        if (core_->is_cancelling()) cancel_.request(cancel_reason::shutdown);
        auto guard = std::make_shared<end_at_last>(shared_from_this());
        coro::spawn(home->loop(), run(), [guard](const std::exception_ptr& thrown) {
            if (thrown) guard->end(thrown);
        });
    } catch (...) {
        end(plain(error_of_exception("a call")));
    }
}

coro::task<void> running_call::run() {
    const auto self = shared_from_this();
    const result<void> placed = co_await wait_for_a_place();
    if (!placed) {
        end(plain_error(placed.error(), {}, wanted_.tag));
        co_return;
    }
    const bool is_recorded = core_->journal() != nullptr && !wanted_.tag.empty();
    std::shared_ptr<shard_program> program = home->program(wanted_.program);
    if (is_recorded) {
        result<answer> recorded = co_await perform_recorded(std::move(program));
        end(std::move(recorded));
        co_return;
    }
    result<answer> ended =
        co_await evaluate_in_session(std::move(program), std::move(wanted_.input), nullptr);
    end(std::move(ended));
}

coro::task<result<answer>> running_call::evaluate_in_session(std::shared_ptr<shard_program> program,
                                                             json input, recorded_call* record) {
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
    result<answer> ended = co_await evaluate(*session, std::move(input), record);
    session_ = nullptr;
    session.reset(); // who learns of the end finds the memory free
    co_return ended;
}

error running_call::out_of_time(std::string_view when) const {
    return {lang::errc::timeout, "the deadline of this call has passed" + std::string(when)};
}

coro::task<result<void>> running_call::wait_for_a_place() {
    if (core_->is_admitted(*this)) {
        if (until_.passed(home->loop().now())) co_return out_of_time(); // before anything is done
        co_return result<void>();
    }
    const coro::wake woken = co_await place_.wait(context());
    if (woken == coro::wake::notified) {
        if (until_.passed(home->loop().now())) co_return out_of_time(" while it was in the queue");
        co_return result<void>();
    }
    if (!core_->leave_queue(*this)) {
        // Its place came meanwhile; the notification must not find the call gone.
        (void)co_await place_.wait({&home->loop(), nullptr, {}});
    }
    if (woken == coro::wake::timed_out) co_return out_of_time(" while it was in the queue");
    co_return error::cancelled(cancel_.reason());
}

coro::task<result<answer>> running_call::evaluate(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the call
    call_session& session, json data, recorded_call* record) {
    const call_options& asked = wanted_.options;
    host::session& inside = session.get();
    const auto refused = [this](const error& failure) {
        return plain_error(failure, {}, wanted_.tag);
    };
    result<lang::value> callee = find_function(inside, wanted_.function);
    if (!callee) co_return refused(callee.error());
    value_conversion input(inside.memory(), std::move(data));
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
    if (record) {
        const result<void> begun = co_await record->begin(inside.memory(), context());
        if (!begun) co_return refused(begun.error());
        bounds.steps = &record->log();
        bounds.random_seed = record->seed();
    }
    result<lang::value> ended =
        co_await inside.call(*std::move(callee), *std::move(arguments), bounds);
    usage used = session.used();
    if (record) used += note_end_of_steps(*record, ended, used);
    if (!ended) co_return plain_error(ended.error(), inside, used, wanted_.tag);
    data_conversion output(*std::move(ended), max_answer_bytes,
                           asked.strict_value ? unlike_json::refused : unlike_json::printed);
    converted = output.advance(parts_in_a_turn);
    while (converted && !*converted) {
        co_await coro::yield_now(home->loop());
        if (const auto stop = context().stop_error())
            co_return plain_error(*stop, inside, used, wanted_.tag);
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

/// Its place is free whatever fails: others wait for it.
void running_call::end(result<answer> ended) noexcept {
    const std::shared_ptr<call_listener> listener = std::exchange(listener_, nullptr);
    if (!listener) return;
    const auto try_to = [this](auto part) {
        try {
            part();
        } catch (...) {
            core_->log().write(log_level::error, "runtime",
                               error_of_exception("the end of a call").message());
        }
    };
    if (!ended && ended.error().cancelled_because() == cancel_reason::deadline &&
        until_.passed(coro::clock::now())) { // while the workflow was not at work
        try_to([&] {
            const failure_details* details = details_of(ended.error());
            ended = plain_error(out_of_time(), details ? details->used : usage(), wanted_.tag);
        });
    }
    session_ = nullptr;
    if (pieces_) try_to([this] { pieces_->close(); });
    if (home) {
        if (has_begun_) {
            count(ended);
            home->end(*this);
        }
        core_->release(*this); // who learns of the end may begin the next call
    }
    try_to([&] { listener->on_end(std::move(ended)); });
    if (home) core_->forget();
}

} // namespace heddle::embed
