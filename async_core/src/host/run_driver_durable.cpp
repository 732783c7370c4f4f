// The part of the driver that durable rows need.
#include "another_value.hpp"
#include "durable_effect.hpp"
#include "run_driver.hpp"

#include <heddle/host/row_history.hpp>

#include <heddle/base/keyed_hash.hpp>
#include <heddle/lang/call_site.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/value_codec.hpp>
#include <heddle/ports/error_categories.hpp>

#include <chrono>

namespace heddle::host {

namespace {

/// For a step whose end is recorded; a function that computed when a deadline cut it would go on.
constexpr auto time_to_repeat = std::chrono::seconds(30);
/// At least, for a step that was under way when an earlier process ended.
constexpr auto time_to_resume = std::chrono::seconds(1);
/// Of an argument, for the digest of what is asked: texts that differ later are taken for the same.
constexpr std::size_t max_compared_bytes = std::size_t{1} << 20;

/// What a step asks for. The same in every process and version: it is kept in journals. The written
/// form does not depend on which parts the values share, as the encoded one does.
[[nodiscard]] ports::digest128 content_of(const lang::effect_request& request) {
    std::string text = lang::print_value(request.names);
    for (const lang::value& each : request.arguments) {
        const std::string written = lang::print_value(each, {max_compared_bytes});
        text += std::to_string(written.size()) + ':' + written;
    }
    return {hash_text({0x8A5CD789635D2DFFULL, 0x121FD2155C472F96ULL}, text),
            hash_text({0x589965CC75374CC3ULL, 0x1D8E4E27C47D124FULL}, text)};
}

/// Whether a function inside of the step has met the deadline that the branch has, too.
[[nodiscard]] bool is_deadline_of(const lang::fiber& fiber, const error& failure) {
    const lang::value* const extent = lang::extent_of(failure);
    if (!extent || fiber.cleans_up() || !fiber.deadline()) return false;
    const error own = lang::machine::deadline_failure(fiber);
    const lang::value* const of_branch = lang::extent_of(own);
    return of_branch && of_branch->identical(*extent);
}

} // namespace

/// `answered`: set when the answer is known already.
std::unique_ptr<durable_effect> run_driver::begin_step(
    lang::fiber& fiber, const effect_handler* handler,
    std::optional<result<lang::value>>& answered) {
    const lang::effect_request& request = fiber.request();
    auto step = std::make_unique<durable_effect>(
        *row_, row_->ways().path_of(lang::place_of(fiber), request.ordinal));
    if (handler) step->how = handler->replays();
    else if (const auto* callee = lang::host_of(request.callee); callee && session_.operators())
        step->how = session_.operators()->replays(*callee);
    if (step->how == replay_class::derived) return step;
    step->name =
        request.row ? std::string(request.row->name) : lang::host_of(request.callee)->describe();
    step->was_closed = row_->closed();
    if (fiber.cancel_requested() && !fiber.cancellation_masked()) {
        step->how = replay_class::derived; // it follows from the records that it is not performed
        return step;
    }
    if (step->how == replay_class::answer) step->content = content_of(request);
    auto recorded = row_->recorded(step->self.path(), step->name, step->content);
    if (!recorded) {
        answered.emplace(recorded.error());
        step->how = replay_class::derived;
        return step;
    }
    step->recorded = *recorded;
    if (row_->functions().are_numbered(step->self.path())) step->self.note_numbered();
    // Where parts are kept, or functions have begun, what is recorded may be inside of it.
    const bool has_begun =
        row_->has_parts(step->self.path()) || row_->functions().any(step->self.path());
    step->withheld = row_->only_replays() && !step->recorded && (row_->closed() || !has_begun);
    if (step->withheld) return step;
    const ports::step_record* const known = step->recorded;
    const bool again = !known || step->how == replay_class::redo ||
                       known->kind == ports::step_kind::composed || known->body.empty() ||
                       (step->how == replay_class::output && row_->log().repeats_output());
    if (!again) {
        answered.emplace(recorded_answer(fiber, *known));
        if (!request.row && session_.operators())
            session_.operators()->note_replayed(lang::scope_of_call(fiber), known->spent);
    }
    if (!answered && row_->log().plan() && handler && !handler->only_reads() &&
        step->how != replay_class::redo) {
        if (step->how == replay_class::answer) (void)step->self.may_ask();
        answered.emplace(lang::value());
    }
    if (known && again && step->how != replay_class::redo && !known->body.empty())
        step->self.note_end_is_known();
    step->works = again;
    row_->begin_step(step->self.path()); // until its turn is asked for
    row_->branch_waits();
    return step;
}

/// What is performed again has its parts recorded. It is not cut by a deadline that passed in an
/// earlier execution, after it had ended or while it waited for something.
coro::deadline run_driver::deadline_of_step(const lang::fiber& fiber, const durable_effect& step,
                                            coro::deadline own) const {
    const bool was_begun = step.recorded || row_->has_parts(step.self.path()) ||
                           row_->functions().any(step.self.path());
    if (!step.works || !was_begun || own.is_never()) return own;
    const coro::clock::duration at_least = step.recorded ? time_to_repeat : time_to_resume;
    const auto least = loop_.now() + std::max(at_least, row_->time_to_catch_up());
    if (own.at() >= least) return own;
    const coro::deadline later(least);
    return fiber.cleans_up() ? later : options_.until.earlier(later);
}

/// What a record holds, for the branch that asked.
result<lang::value> run_driver::recorded_answer(const lang::fiber& fiber,
                                                const ports::step_record& record) {
    // That error belongs to the scope of the branch, which is another object in each execution.
    if (record.body == cut_by_deadline) return lang::machine::deadline_failure(fiber);
    return lang::decode_answer(session_.memory(), record.body, ports::find_category);
}

/// The step has its answer: it is recorded and takes effect in its turn.
coro::task<result<void>> run_driver::end_step(lang::fiber& fiber, durable_effect& step,
                                              std::optional<result<lang::value>>& answered) {
    if (step.how == replay_class::derived || step.withheld) co_return result<void>();
    row_->end_step(step.self.path());
    // Its time may have passed before it came to all that is recorded of it.
    const bool ends_anew = !step.recorded && !step.self.composed();
    if (fiber.cancel_requested() || ends_anew) row_->forget_functions(step.self.path());
    if (step.recorded) {
        // Timings and the like are those of the first execution.
        if (step.works && step.how != replay_class::redo && !step.recorded->body.empty())
            answered.emplace(recorded_answer(fiber, *step.recorded));
        const result<void> turn = co_await row_->replay_turn(step.self.path());
        co_return turn;
    }
    if (step_plan* plan = row_->log().plan()) end_planned(fiber, step, *plan, answered);
    // What ends because the row is ended from outside has not happened.
    const bool ended_from_outside =
        row_->closed() && (step.was_closed || (!*answered && answered->error().is_cancelled()));
    if (ended_from_outside) {
        row_->branch_runs();
        co_return result<void>();
    }
    ports::step_record record;
    record.kind = step.self.composed() ? ports::step_kind::composed : ports::step_kind::answer;
    record.path = step.self.path();
    record.content = step.content;
    record.name = std::move(step.name);
    record.spent = step.self.spent();
    if (step.how != replay_class::redo) {
        if (step.cut) {
            record.body = cut_by_deadline;
        } else if (!*answered) {
            // An error that ends a part of the run (a budget, a sandbox) is bound to an object of
            // this execution: the step is made again, and meets it again.
            const error& failure = answered->error();
            if (is_deadline_of(fiber, failure)) record.body = cut_by_deadline;
            else if (failure.is_cancelled() || !lang::extent_of(failure))
                record.body = lang::encode_error(failure);
        } else if (auto body = lang::encode_value(**answered)) {
            record.body = *std::move(body);
        } // else it is not data (a function), and made again
    }
    const result<void> turn =
        co_await row_->record_turn(std::move(record), step.how != replay_class::output);
    co_return turn;
}

/// A step that would have asked has the substitute as its answer.
void run_driver::end_planned(const lang::fiber& fiber, const durable_effect& step, step_plan& plan,
                             std::optional<result<lang::value>>& answered) {
    if (!step.self.was_refused()) {
        if (step.self.remembers()) plan.note_known(step.self.path(), step.name);
        return;
    }
    const bool is_effect =
        static_cast<bool>(*answered); // which has nil where nothing is known of it
    const std::optional<std::string> body = plan.stand_in(step.self.path(), step.name);
    if (!body || body->empty()) {
        if (is_effect) return;
        plan.note_lost();
        lose(error::cancelled(cancel_reason::shutdown));
        return;
    }
    ports::step_record record;
    record.body = *body;
    result<lang::value> before = recorded_answer(fiber, record);
    if (before && plan.alters()) before = another_value(session_.memory(), *before);
    answered.emplace(std::move(before));
}

coro::task<coro::wake> run_driver::park_durably(lang::fiber& fiber, fiber_state& state,
                                                coro::deadline until) {
    durable_row::branch_wait self{state.woken};
    if (!until.is_never())
        self.path = row_->ways().path_of(lang::place_of(fiber), fiber.take_ordinal());
    state.wait = &self;
    coro::wake woken{};
    try {
        woken = co_await row_->park(self, until);
    } catch (...) { // no memory to wait: nothing may wake `self` any more
        row_->wake(self);
        state.wait = nullptr;
        throw;
    }
    state.wait = nullptr;
    co_return woken;
}

} // namespace heddle::host
