#include "task_execution.hpp"
#include "failure_reason.hpp"
#include "json_extraction.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/task_result.hpp>

#include <cmath>

namespace heddle::tasks {

namespace {

constexpr std::size_t longest_quoted = 64 * 1024; ///< of a wrong answer that is sent back

/// Cuts without splitting a character.
void cut_text(std::string& text, std::size_t bytes) {
    if (text.size() <= bytes) return;
    while (bytes != 0 && (text[bytes] & 0xC0) == 0x80) --bytes;
    text.resize(bytes);
}

} // namespace

task_execution::task_execution(task_runner& runner, task_call call)
    : runner_(runner), call_(std::move(call)), context_(call_.context) {}

task_execution::~task_execution() {
    // Destroyed while it waits: the loop is going down.
    if (started_) report(task_outcome::cancelled, {});
}

error task_execution::placed(error failure) const {
    return std::move(failure)
        .with_span(call_.span)
        .with_trace("in task " + call_.task->declared.name, call_.span);
}

result<void> task_execution::choose_model() {
    const task_template& declared = call_.task->declared;
    const call_overrides* overrides = call_.overrides.get();
    std::string_view model = declared.model;
    std::string_view provider = declared.provider;
    if (!settings_.model.empty()) model = settings_.model;
    if (!settings_.provider.empty()) provider = settings_.provider;
    if (overrides && !overrides->model.empty()) model = overrides->model;
    if (overrides && !overrides->provider.empty()) provider = overrides->provider;
    const model_registry* models = runner_.parts().models;
    auto resolved = models ? models->resolve(model, provider)
                           : lang::task_error("configuration_error", "no model is configured");
    if (!resolved) return placed(std::move(resolved).error());
    chosen_ = std::move(*resolved);
    request_.model = chosen_.model;
    return {};
}

/// Settings of the call go before `with`, and that before the template.
void task_execution::choose_parameters() {
    const task_template& declared = call_.task->declared;
    request_.temperature = settings_.temperature ? settings_.temperature : declared.temperature;
    request_.max_output_tokens = declared.max_tokens;
    std::optional<std::uint32_t> retries = settings_.retries ? settings_.retries : declared.retries;
    if (const call_overrides* overrides = call_.overrides.get()) {
        if (overrides->temperature) request_.temperature = overrides->temperature;
        if (overrides->max_tokens) request_.max_output_tokens = overrides->max_tokens;
        if (overrides->retries) retries = overrides->retries;
    }
    asks_left_ = retries.value_or(0);
    if (declared.output.json) request_.format = call_.task->format;
    request_.scheduling.use_cache = settings_.use_cache;
    request_.scheduling.flow = runner_.flow();
    request_.scheduling.priority = runner_.parts().priority;
}

result<void> task_execution::fill_prompt() {
    const compiled_task& task = *call_.task;
    system_ = runner_.parts().base_system;
    if (!task.system.empty()) {
        if (!system_.empty()) system_ += "\n\n";
        if (auto done = task.system.fill(system_, call_.inputs); !done) {
            return placed(std::move(done).error());
        }
    }
    if (auto done = task.instructions.fill(prompt_, call_.inputs); !done) {
        return placed(std::move(done).error());
    }
    return {};
}

/// Says what a call or template asks for and does not get.
void task_execution::note_unused() {
    const auto note = [&](const std::string& what) {
        warnings_.push_back(what + " has no effect: this host prepares no context");
        runner_.warn_once("task " + call_.task->declared.name + ": " + warnings_.back());
    };
    if (!runner_.parts().context) {
        const call_overrides* set = call_.overrides.get();
        if (set && !set->files.is_nil()) note("files");
        if (call_.task->declared.files) note("file_paths");
    }
}

result<void> task_execution::begin() {
    HEDDLE_TRY(settings_, read_call_settings(call_.settings, call_.span));
    const auto& executors = runner_.parts().executors;
    if (!executors.empty()) {
        const auto found = executors.find(call_.task->declared.subtype);
        if (found != executors.end()) executor_ = found->second;
    }
    HEDDLE_CHECK(fill_prompt());
    if (!executor_) HEDDLE_CHECK(choose_model());
    choose_parameters();
    note_unused();
    if (auto stop = context_.stop_error()) return *std::move(stop);
    began_ = context_.loop->now();
    std::optional<std::chrono::nanoseconds> timeout = call_.task->declared.timeout;
    if (call_.overrides && call_.overrides->timeout) timeout = call_.overrides->timeout;
    if (timeout) context_ = context_.with_deadline(coro::deadline(began_ + *timeout));
    if (context_preparer* preparer = runner_.parts().context) {
        wants_context_ = preparer->concerns(call_, false);
    }
    return {};
}

context_request task_execution::context_wanted() {
    context_request wanted;
    wanted.owner = &runner_.owner();
    wanted.call = &call_;
    wanted.model = chosen_.model;
    wanted.context = context_;
    return wanted;
}

executor_request task_execution::executor_wanted() {
    executor_request wanted;
    wanted.owner = &runner_.owner();
    wanted.call = &call_;
    wanted.prompt = std::move(prompt_);
    wanted.system = std::move(system_);
    wanted.files = files_;
    wanted.context = context_;
    return wanted;
}

result<void> task_execution::make_request() {
    if (auto stop = context_.stop_error()) return *std::move(stop);
    if (files_) {
        warnings_.insert(warnings_.end(), files_->warnings.begin(), files_->warnings.end());
    }
    started_ = true;
    if (task_observer* observer = runner_.parts().observer) {
        observer->on_task_started({call_.task->declared.name, provider_name(), chosen_.model});
    }
    if (executor_) return {};
    const auto add = [&](std::string_view text) {
        if (text.empty()) return;
        if (!system_.empty()) system_ += "\n\n";
        system_ += text;
    };
    if (files_) add(files_->text);
    add(call_.task->format_note);
    request_.messages.reserve(2);
    if (!system_.empty()) {
        ports::chat_message& first = request_.messages.emplace_back();
        first.role = ports::chat_role::system;
        first.text = std::move(system_);
    }
    request_.messages.emplace_back().text = std::move(prompt_);
    return {};
}

std::string_view task_execution::provider_name() const noexcept {
    return chosen_.provider ? chosen_.provider->provider_name()
                            : std::string_view(call_.task->declared.subtype);
}

void task_execution::report(task_outcome outcome, std::string_view reason) noexcept {
    started_ = false;
    task_observer* observer = runner_.parts().observer;
    if (!observer) return;
    task_finished event;
    event.task = call_.task->declared.name;
    event.provider = provider_name();
    event.model = chosen_.model;
    event.outcome = outcome;
    event.reason = reason;
    event.usage = usage_;
    event.requests = requests_;
    event.latency = context_.loop->now() - began_;
    observer->on_task_finished(event);
}

void task_execution::count(const ports::chat_response& answer) {
    requests_ += answer.attempts;
    if (answer.usage) {
        usage_.input += answer.usage->input;
        usage_.output += answer.usage->output;
        usage_.cached += answer.usage->cached;
        usage_.reasoning += answer.usage->reasoning;
    } else usage_known_ = false;
    answered_ = true;
    finish_ = answer.finish;
    answering_model_ = answer.model;
}

task_ending task_execution::ending(std::string_view content) {
    task_ending end;
    end.task = call_.task.get();
    end.content = content;
    end.model = answering_model_.empty() ? std::string_view(chosen_.model)
                                         : std::string_view(answering_model_);
    end.provider = provider_name();
    end.finish = finish_;
    end.answered = answered_;
    end.usage = usage_;
    end.usage_known = usage_known_ && answered_;
    end.requests = requests_;
    end.latency = context_.loop->now() - began_;
    end.warnings = &warnings_;
    end.files = files_.get();
    end.extra_notes = executor_notes_;
    return end;
}

result<lang::value> task_execution::complete(const task_ending& end) {
    lang::value made = runner_.results().build(end);
    report(task_outcome::complete, {});
    return made;
}

result<lang::value> task_execution::fail(task_ending end, const task_failure& failure) {
    end.failure = &failure;
    lang::value made = runner_.results().build(end);
    report(task_outcome::failed, failure.reason);
    if (settings_.raise_failures) return task_error_of(made).with_span(call_.span);
    return made;
}

/// Whether a cancellation is the end of the task's own time, and of nothing around it.
bool task_execution::own_time_is_over(const error& cancelled) const {
    const auto now = context_.loop->now();
    return cancelled.cancelled_because() == cancel_reason::deadline && !call_.context.cancelled() &&
           !call_.context.until.passed(now) && context_.until.passed(now);
}

result<lang::value> task_execution::take_error(error failure) {
    if (failure.is_cancelled()) {
        if (!own_time_is_over(failure)) {
            report(task_outcome::cancelled, {});
            return failure;
        }
        const task_failure late{"execution_timeout", "the time given to the task is over", {}};
        return fail(ending(late.message), late);
    }
    const ports::chat_response* part = nullptr;
    if (const auto* partial =
            dynamic_cast<const ports::partial_response*>(failure.info().payload.get())) {
        part = &partial->so_far;
        count(*part);
    } else ++requests_;
    task_failure what;
    what.reason = failure_reason(failure);
    what.message = failure.message();
    if (what.reason == "configuration_error") {
        report(task_outcome::failed, what.reason);
        return lang::task_error(what.reason, what.message)
            .with_cause(std::move(failure))
            .with_span(call_.span)
            .with_trace("in task " + call_.task->declared.name, call_.span);
    }
    lang::heap& memory = runner_.owner().memory();
    what.details = runner_.results().make_details(
        {{"code", lang::make_string(memory, failure.code().message())},
         {"hint", lang::make_string(memory, failure.info().hint)}});
    return fail(ending(part && !part->text.empty() ? std::string_view(part->text)
                                                   : std::string_view(what.message)),
                what);
}

/// A step before the model has failed.
result<lang::value> task_execution::take_step_error(error failure) {
    if (failure.is_cancelled() && !own_time_is_over(failure)) return failure;
    if (!failure.is_cancelled()) {
        const auto* payload =
            dynamic_cast<const lang::script_payload*>(failure.info().payload.get());
        const bool data = failure.code() == lang::errc::task && payload &&
                          payload->reason != "input_validation_failure" &&
                          payload->reason != "configuration_error";
        if (!data) return placed(std::move(failure));
        const std::string message = failure.message();
        return fail(ending(message), {payload->reason, message, {}});
    }
    return take_error(std::move(failure));
}

result<lang::value> task_execution::accept_elsewhere(result<executor_answer> done) {
    if (!done) {
        if (done.error().is_cancelled()) return take_error(std::move(done).error());
        report(task_outcome::failed, "unexpected_error");
        return placed(std::move(done).error());
    }
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
    return *take_json(std::move(answer));
}

std::optional<result<lang::value>> task_execution::accept(result<ports::chat_response> answer) {
    if (!answer) return take_error(std::move(answer).error());
    count(*answer);
    if (!answer->refusal.empty() || answer->finish == ports::finish_reason::refusal ||
        answer->finish == ports::finish_reason::content_filter) {
        const std::string& said = answer->refusal.empty() ? answer->text : answer->refusal;
        std::string told = said;
        cut_text(told, 500);
        return fail(ending(said), {"llm_error", "the model refused to answer: " + told, {}});
    }
    if (answer->finish == ports::finish_reason::length) {
        warnings_.emplace_back("the answer stopped at its length limit");
    }
    if (!call_.task->declared.output.json) return complete(ending(answer->text));
    return take_json(std::move(*answer));
}

std::optional<result<lang::value>> task_execution::take_json(ports::chat_response answer) {
    const bool cut = answer.finish == ports::finish_reason::length;
    const compiled_task& task = *call_.task;
    extracted_json found;
    std::string violation;
    std::string location;
    const auto read = extract_json(runner_.owner().memory(), answer.text, cut, found);
    if (!read) violation = "the answer is not JSON: " + read.error().message();
    else if (const auto wrong = task.schema.check(found.content, found.text)) {
        violation = wrong->message;
        location = wrong->path;
    }
    if (violation.empty()) {
        if (found.completed) {
            warnings_.emplace_back("the JSON of the answer was cut short and has been completed");
        }
        task_ending end = ending(answer.text);
        end.parsed = std::move(found.content);
        end.has_parsed = true;
        return complete(end);
    }
    if (asks_left_ != 0) {
        --asks_left_;
        ask_again(std::move(answer.text), violation);
        return std::nullopt;
    }
    task_ending end = ending(answer.text);
    end.parse_error = violation;
    if (task.schema.accepts_all()) return complete(end);
    lang::heap& memory = runner_.owner().memory();
    task_failure what{"output_format_failure", violation, {}};
    what.details = runner_.results().make_details(
        {{"error_type", lang::make_string(memory, read ? "SchemaViolation" : "JSONDecodeError")},
         {"message", lang::make_string(memory, violation)},
         {"location", lang::make_string(memory, location)}});
    return fail(end, what);
}

void task_execution::ask_again(std::string answer, const std::string& violation) {
    cut_text(answer, longest_quoted);
    // The last wrong answer is enough: the conversation does not grow with each attempt.
    const std::size_t first = request_.messages.front().role == ports::chat_role::system ? 2 : 1;
    request_.messages.resize(first);
    ports::chat_message& said = request_.messages.emplace_back();
    said.role = ports::chat_role::assistant;
    said.text = std::move(answer);
    ports::chat_message& asked = request_.messages.emplace_back();
    asked.text = "Your answer cannot be used: " + violation + ".\n" + call_.task->format_note;
}

} // namespace heddle::tasks
