// What becomes of the answers that an execution gets.
#include "tasks/output/failure_reason.hpp"
#include "tasks/run/task_execution.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/tasks/output/task_error.hpp>
#include <heddle/tasks/output/task_result.hpp>

#include <algorithm>

namespace heddle::tasks {

namespace {

constexpr std::size_t max_evaluators = 3;

/// What failed before, such as the other models of a route. Nil when there is nothing that the
/// message does not say.
lang::value causes_of(lang::heap& memory, const error& failure) {
    lang::value result;
    const error* outer = &failure;
    for (const error* each = failure.info().cause.get(); each; each = each->info().cause.get()) {
        const bool said = outer->message().find(each->message()) != std::string::npos;
        outer = each;
        if (said || each->is_cancelled()) continue;
        if (result.is_nil()) result = lang::value::empty_list();
        result = lang::list_push_back(memory, std::move(result),
                                      lang::make_string(memory, each->message()));
    }
    return result;
}

/// Why a model gave nothing, in its own words if it had any.
std::string refusal_text(const ports::chat_response& answer) {
    std::string said = answer.refusal.empty() ? answer.text : answer.refusal;
    utf8::shorten(said, 500);
    const bool filtered = answer.finish == ports::finish_reason::content_filter;
    std::string text = filtered ? "a content filter of the service withheld the response"
                                : "the model refused to answer";
    if (said.empty()) return text + (filtered ? "" : " and gave no reason");
    return said.starts_with(text) ? said : text + ": " + said;
}

} // namespace

result<lang::value> content_of_result(const lang::value& created) {
    if (is_failed_result(created)) return task_error_of(created);
    const lang::value* content = lang::map_find(created, "content");
    if (!content || !content->is(lang::kind::string)) {
        return error(heddle::errc::internal, "a task result has no content");
    }
    return *content;
}

/// Where a route chose, it is the one who answered that is paid, for the model that it was asked
/// for.
model_price task_execution::price_of(std::string_view provider, std::string_view asked_model,
                                     std::string_view model) const {
    if (provider.empty()) return price();
    if (asked_model.empty()) asked_model = model.empty() ? chosen_.model : model;
    return {runner_.parts().prices, provider, asked_model};
}

/// The request that was answered.
paid_request task_execution::paid_for(const ports::chat_response& answer,
                                      std::uint32_t attempts) const {
    if (attempts == 0) return {{}, 0.0}; // out of a cache
    paid_request request{session_.use_of(answer), {}};
    request.cost =
        price_of(answer.provider, answer.asked_model, answer.model).of(request.use.usage);
    return request;
}

/// A request whose response was cut off: unless the service has said what it cost, what arrived is
/// less than that, so it counts as a guess until one of its kind has ended.
paid_request task_execution::paid_for_part(const ports::chat_response& part,
                                           std::uint32_t attempts) const {
    paid_request request = paid_for(part, attempts);
    const bool known = attempts == 0 || !request.use.estimated;
    if (!known && has_dollars_ && request.cost && share_.guessed())
        request.cost = std::max(*request.cost, share_.expected());
    return request;
}

std::vector<paid_request> task_execution::paid_for(
    const std::vector<ports::lost_request>& lost) const {
    std::vector<paid_request> requests;
    requests.reserve(lost.size());
    for (const ports::lost_request& each : lost) {
        paid_request& one = requests.emplace_back();
        one.use = session_.use_of(each.usage, each.received);
        one.cost = price_of(each.provider, each.asked_model, each.model).of(one.use.usage);
    }
    return requests;
}

/// A request without a response: what was sent, and where a budget knows more, what such a call
/// costs.
paid_request task_execution::min_paid() const {
    paid_request request;
    request.use.estimated = true;
    request.use.usage.input = session_.estimate(request_);
    request.cost = price().of(request.use.usage);
    if (has_dollars_ && request.cost) request.cost = std::max(*request.cost, share_.expected());
    return request;
}

void task_execution::count(const ports::chat_response& answer) {
    settle(answer, answer.attempts);
    count(answer, paid_for(answer, answer.attempts));
}

void task_execution::count(const ports::chat_response& answer, const paid_request& paid) {
    const std::vector<paid_request> lost = paid_for(answer.lost);
    session_.count(answer, paid.use, paid.cost);
    count_lost(lost);
    answered_ = true;
    finish_ = answer.finish;
    answering_model_ = answer.model;
    answering_provider_ = answer.provider;
}

void task_execution::count_lost(const std::vector<paid_request>& lost) {
    for (const paid_request& each : lost) session_.count_failed(0, &each.use, each.cost);
}

/// Each once: the turns of a loop say the same.
void task_execution::add_warnings(const std::vector<std::string>& told) {
    for (const std::string& each : told) {
        if (std::find(warnings_.begin(), warnings_.end(), each) == warnings_.end())
            warnings_.push_back(each);
    }
}

/// What was sent counts, although no response came: its input at least.
void task_execution::count_failure(const error& failure) {
    const std::uint32_t attempts = ports::attempts_of(failure);
    if (const ports::chat_response* so_far = ports::part_of(failure)) {
        ports::chat_response part = *so_far;
        part.attempts = attempts;
        settle(failure);
        count(part, paid_for_part(part, attempts));
        return;
    }
    settle(failure);
    const std::vector<paid_request> lost = paid_for(ports::lost_with(failure));
    const paid_request last =
        ports::is_unpaid(failure) ? paid_request{{}, 0.0} : min_paid(); // no cost is a known one
    session_.count_failed(attempts, attempts == 0 ? nullptr : &last.use, last.cost);
    count_lost(lost);
}

void task_execution::request_ended(const result<ports::chat_response>& ended) {
    if (ended) settle(*ended, ended->attempts);
    else settle(ended.error());
}

/// As counted in the notes. Where the price of who answered is not known, a budget counts what was
/// expected.
void task_execution::settle(const ports::chat_response& answer, std::uint32_t attempts) {
    if (!share_.held()) return;
    const double spent = paid_for(answer, attempts).cost.value_or(share_.expected());
    if (has_dollars_ && attempts != 0) runner_.costs().add(cost_kind_, spent);
    share_.settle(spent + lost_cost(answer.lost), attempts != 0);
}

double task_execution::lost_cost(const std::vector<ports::lost_request>& lost) const {
    double sum = 0;
    for (const paid_request& each : paid_for(lost)) sum += each.cost.value_or(input_cost());
    return sum;
}

void task_execution::settle(const error& failure) {
    if (!share_.held()) return;
    const std::uint32_t attempts = ports::attempts_of(failure);
    if (const ports::chat_response* part = ports::part_of(failure)) {
        // Says nothing of what a whole one costs: the history does not learn from it.
        const double least = paid_for_part(*part, attempts).cost.value_or(share_.expected());
        return share_.settle(least + lost_cost(part->lost), attempts != 0);
    }
    const double spent =
        ports::is_unpaid(failure) ? 0 : min_paid().cost.value_or(share_.expected());
    share_.settle(spent + lost_cost(ports::lost_with(failure)), attempts != 0);
}

double task_execution::input_cost() const {
    if (!has_dollars_) return 0;
    ports::token_usage input;
    input.input = session_.estimate(request_);
    return price().of(input).value_or(0);
}

task_ending task_execution::ending(std::string_view content) {
    for (std::string& each : session_.take_warnings()) warnings_.push_back(std::move(each));
    task_ending end;
    end.task = call_.task.get();
    end.content = content;
    end.model = answering_model_.empty() ? std::string_view(chosen_.model)
                                         : std::string_view(answering_model_);
    end.provider =
        answering_provider_.empty() ? provider_name() : std::string_view(answering_provider_);
    end.finish = finish_;
    end.answered = answered_;
    end.usage = session_.usage();
    end.usage_known = session_.used();
    end.estimated = session_.estimated();
    end.requests = session_.requests();
    if (session_.used()) end.cost = session_.cost();
    end.latency = context_.loop->now() - began_;
    end.warnings = &warnings_;
    end.files = chain_.files.get();
    return end;
}

/// What only some tasks have in their notes: nil for the others.
lang::value task_execution::extra_notes(const task_ending& end) {
    const task_template& declared = call_.task->declared;
    lang::value result = executor_notes_;
    lang::heap& memory = runner_.owner().memory();
    const auto put = [&](std::string_view name, lang::value item) {
        if (result.is_nil()) result = lang::value::empty_map();
        result = lang::map_put(memory, std::move(result), name, std::move(item));
    };
    if (!tool_notes_.is_nil()) put("tool_calls", tool_notes_);
    if (declared.subtype == "evaluator" && end.has_parsed && end.parsed.is(lang::kind::map)) {
        for (const std::string_view name : {"success", "feedback", "details"}) {
            if (const lang::value* found = lang::map_find(end.parsed, name)) put(name, *found);
        }
    }
    if (!declared.criteria.empty()) {
        lang::value names = lang::value::empty_list();
        for (const matching_task& each : runner_.tasks().find_matching_tasks(declared.criteria)) {
            if (each.found->task->declared.subtype != "evaluator") continue;
            names =
                lang::list_push_back(memory, std::move(names),
                                     lang::make_string(memory, each.found->task->declared.name));
            if (names.length() == max_evaluators) break;
        }
        put("evaluators", std::move(names));
    }
    return result;
}

result<lang::value> task_execution::complete(task_ending end) {
    end.extra_notes = extra_notes(end);
    lang::value created = runner_.results().build(end);
    if (continues(created)) return created; // it is the result of the subtask that was said
    record_turn(created);
    report(task_outcome::complete, {});
    return created;
}

result<lang::value> task_execution::fail(task_ending end, const task_failure& failure) {
    end.failure = &failure;
    end.extra_notes = extra_notes(end);
    lang::value created = runner_.results().build(end);
    report(task_outcome::failed, failure.resource.empty() || !failure.reason.empty()
                                     ? std::string_view(failure.reason)
                                     : std::string_view("RESOURCE_EXHAUSTION"));
    if (settings_.raise_failures) return task_error_of(created).with_span(call_.span);
    return created;
}

result<lang::value> task_execution::exhaust(const exhausted_resource& what,
                                            std::string_view content) {
    task_failure failure{{}, what.message, {}};
    if (what.resource == "time") failure.reason = to_string(task_failure_reason::execution_timeout);
    failure.resource = what.resource;
    failure.used = what.used;
    failure.limit = what.limit;
    return fail(ending(content.empty() ? std::string_view(what.message) : content), failure);
}

/// The last that the model said: a task that is not let go on keeps it.
std::string_view task_execution::last_said() const noexcept {
    for (std::size_t i = request_.messages.size(); i-- > prompt_at_;) {
        const ports::chat_message& each = request_.messages[i];
        if (each.role == ports::chat_role::assistant && !each.text.empty()) return each.text;
    }
    return {};
}

bool task_execution::may_be_kept() const noexcept {
    const ports::cache_use use = request_.scheduling.cache;
    const bool looks = use == ports::cache_use::shared || use == ports::cache_use::apart;
    return looks && chosen_.provider->keeps_responses();
}

bool task_execution::looks_first() {
    if (looked_ || !may_be_kept()) return false;
    const auto wanted = expected();
    if (!wanted) return false; // reserving says why
    if (!spending_share::would_wait(call_.scope->counted, runner_.session_budget(), *wanted)) {
        return false;
    }
    looking_ = looked_ = true;
    request_.scheduling.cache = ports::cache_use::kept;
    return true;
}

bool task_execution::found_nothing(const result<ports::chat_response>& answer) {
    const bool looking = std::exchange(looking_, false);
    if (looking) request_.scheduling.cache = settings_.cache;
    const bool nothing = looking && !answer && !answer.error().is_cancelled();
    looked_ = nothing; // the next request of the task is another one
    return nothing;
}

std::optional<result<lang::value>> task_execution::refuse_unless_kept(spent_budget over) {
    if (!may_be_kept()) return refuse_spending(over);
    request_.scheduling.cache = ports::cache_use::kept;
    spent_ = std::move(over);
    return std::nullopt;
}

std::optional<result<lang::value>> task_execution::end_of_seeking(
    const result<ports::chat_response>& answer) {
    if (!spent_) return std::nullopt;
    request_.scheduling.cache = settings_.cache;
    const spent_budget over = *std::exchange(spent_, std::nullopt);
    if (answer || answer.error().is_cancelled()) return std::nullopt;
    return refuse_spending(over);
}

result<lang::value> task_execution::refuse_spending(const spent_budget& over) {
    return exhaust({over.resource, over.used, over.limit, over.message}, last_said());
}

result<lang::value> task_execution::abandon(const result<ports::chat_response>& answer,
                                            error failure) {
    if (answer) count(*answer);
    else count_failure(answer.error());
    return refuse(std::move(failure));
}

std::optional<result<lang::value>> task_execution::check_limits() {
    // A task with a cache of answers may never wait: its time is looked at here.
    if (auto stop = context_.stop_error()) return take_error(std::move(*stop).with_attempts(0));
    const auto reached = session_.check(request_);
    if (!reached) return std::nullopt;
    return exhaust(*reached, last_said());
}

/// Whether a cancellation is the end of the task's own time, and of nothing around it.
bool task_execution::own_time_is_over(const error& cancelled) const {
    const auto now = context_.loop->now();
    return cancelled.cancelled_because() == cancel_reason::deadline && !call_.context.cancelled() &&
           !call_.context.until.passed(now) && context_.until.passed(now);
}

/// What the model has said is the content, whatever came after it.
result<lang::value> task_execution::take_error(error failure, std::string_view said) {
    count_failure(failure);
    const ports::chat_response* part = ports::part_of(failure);
    std::string kept = part ? part->text : std::string();
    if (kept.empty()) kept = said.empty() ? last_said() : said;
    if (failure.is_cancelled()) {
        if (!own_time_is_over(failure)) {
            report(task_outcome::cancelled, {});
            return failure;
        }
        return exhaust(task_session::time_over(context_.loop->now() - began_,
                                               timeout_.value_or(std::chrono::nanoseconds(0))),
                       kept);
    }
    const task_failure_reason reason = failure_reason(failure);
    task_failure what{std::string(to_string(reason)), failure.message(), {}};
    if (reason == task_failure_reason::configuration_error) {
        report(task_outcome::failed, what.reason);
        error told = task_failed(reason, what.message);
        if (!failure.info().hint.empty()) told = std::move(told).with_hint(failure.info().hint);
        return placed(std::move(told).with_cause(std::move(failure)));
    }
    lang::heap& memory = runner_.owner().memory();
    what.details = runner_.results().make_details(
        {{"code", lang::make_string(memory, failure.code().message())},
         {"hint", lang::make_string(memory, failure.info().hint)}});
    if (lang::value causes = causes_of(memory, failure); !causes.is_nil()) {
        what.details = lang::map_put(memory, std::move(what.details), "causes", std::move(causes));
    }
    return fail(ending(kept.empty() ? std::string_view(what.message) : std::string_view(kept)),
                what);
}

result<lang::value> task_execution::refuse(error failure, std::string_view said) {
    if (failure.is_cancelled()) return take_error(std::move(failure).with_attempts(0), said);
    report(task_outcome::failed, task_error_from(failure).type_name());
    return placed(std::move(failure));
}

/// A step before the model has failed.
result<lang::value> task_execution::take_step_error(error failure, bool of_workflow) {
    if (failure.is_cancelled()) return take_error(std::move(failure).with_attempts(0));
    const auto* payload = dynamic_cast<const lang::script_payload*>(failure.info().payload.get());
    const bool data = !of_workflow && failure.code() == lang::errc::task && payload &&
                      !lang::passes_catches(failure) &&
                      payload->reason != to_string(task_failure_reason::input_validation_failure) &&
                      payload->reason != to_string(task_failure_reason::configuration_error);
    if (!data) return placed(std::move(failure));
    const std::string message = failure.message();
    return fail(ending(message), {payload->reason, message, {}});
}

std::optional<result<lang::value>> task_execution::accept_elsewhere(result<executor_answer> done) {
    if (!done) return refuse(std::move(done).error());
    executor_notes_ = std::move(done->notes);
    if (!done->failure_reason.empty()) {
        const task_failure what{std::move(done->failure_reason), std::move(done->failure_message),
                                std::move(done->failure_details)};
        return fail(ending(done->content), what);
    }
    if (!call_.task->declared.output.json) return complete(ending(done->content));
    asks_left_ = 0; // nobody to ask again
    ports::chat_response answer;
    answer.text = std::move(done->content);
    return take_json(std::move(answer));
}

std::optional<result<lang::value>> task_execution::accept(result<ports::chat_response> answer) {
    if (!answer) return take_error(std::move(answer).error());
    count(*answer);
    if (!answer->refusal.empty() || answer->finish == ports::finish_reason::refusal ||
        answer->finish == ports::finish_reason::content_filter) {
        const std::string& said = answer->refusal.empty() ? answer->text : answer->refusal;
        return fail(ending(said), {"llm_error", refusal_text(*answer), {}});
    }
    add_warnings(answer->warnings);
    if (!answer->cut_tool_call.empty()) return exhaust_call(*answer);
    if (!answer->tool_calls.empty()) return take_tool_calls(*std::move(answer));
    if (answer->finish == ports::finish_reason::length) {
        if (const auto reached = session_.check_output()) return exhaust(*reached, answer->text);
        warnings_.emplace_back("the answer stopped at its length limit");
    }
    if (!call_.task->declared.output.json) return complete(ending(answer->text));
    return take_json(std::move(*answer));
}

bool task_execution::continues(const result<lang::value>& ended) const noexcept {
    return ended && !asked_subtask(*ended).is_nil();
}

/// An executor asks in its notes; a model with a TaskResult as its JSON.
lang::value task_execution::asked_subtask(const lang::value& ended) {
    if (is_failed_result(ended)) return {};
    if (const lang::value* notes = lang::map_find(ended, "notes")) {
        if (const lang::value* asked = lang::map_find(*notes, "subtask_request")) return *asked;
    }
    const lang::value* parsed = lang::map_find(ended, "parsedContent");
    const lang::value* asked = parsed ? continuation_of(*parsed) : nullptr;
    return asked ? *asked : lang::value();
}

result<lang::value> task_execution::fail_subtask(std::string_view partial, std::string message,
                                                 lang::value details) {
    const task_failure what{std::string(to_string(task_failure_reason::subtask_failure)),
                            std::move(message), std::move(details)};
    return fail(ending(partial.empty() ? std::string_view(what.message) : partial), what);
}

void task_execution::end_continued(const lang::value& result) {
    record_turn(result);
    report(task_outcome::complete, {});
}

} // namespace heddle::tasks
