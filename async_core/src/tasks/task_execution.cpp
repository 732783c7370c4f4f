#include "failure_reason.hpp"
#include "json_extraction.hpp"
#include "task_runner.hpp"

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

/// What `with` says about task calls; views into the settings map.
struct task_execution::asked_settings {
    std::string_view model;
    std::string_view provider;
    std::optional<double> temperature;
    std::optional<std::uint32_t> retries;
};

task_execution::task_execution(task_runner& runner, task_call call)
    : runner_(runner), call_(std::move(call)), context_(call_.context) {}

task_execution::~task_execution() {
    // Destroyed while it waits: the loop is going down.
    if (started_) report(task_outcome::cancelled, {});
}

result<task_execution::asked_settings> task_execution::read_settings() {
    asked_settings read;
    for (const lang::map_entry& entry : lang::map_entries(call_.settings)) {
        const std::string_view name = lang::string_bytes(entry.key);
        const lang::value& item = entry.item;
        const auto refuse = [&](const char* expected) {
            return error(lang::errc::type, "with: " + std::string(name) + " must be " + expected)
                .with_span(call_.span);
        };
        if (name == "model" || name == "provider") {
            if (!item.is(lang::kind::string)) return refuse("a string");
            (name == "model" ? read.model : read.provider) = lang::string_bytes(item);
        } else if (name == "temperature") {
            if (!item.is_integer() && !item.is_real()) return refuse("a number");
            read.temperature =
                item.is_integer() ? static_cast<double>(item.as_integer()) : item.as_real();
            if (!(*read.temperature >= 0 && *read.temperature <= 10)) {
                return refuse("from 0 to 10");
            }
        } else if (name == "retries") {
            if (!item.is_integer() || item.as_integer() < 0 ||
                item.as_integer() > template_limits::max_retries) {
                return refuse("a whole number from 0 to 100");
            }
            read.retries = static_cast<std::uint32_t>(item.as_integer());
        } else if (name == "on-failure") {
            const bool known = item.is(lang::kind::symbol) || item.is(lang::kind::string);
            const std::string_view choice = !known ? std::string_view()
                                            : item.is(lang::kind::symbol)
                                                ? lang::symbol_name(item)
                                                : lang::string_bytes(item);
            if (choice != "raise" && choice != "return") return refuse("'raise or 'return");
            raise_failures_ = choice == "raise";
        } else if (name == "budget-usd" || name == "max-calls" || name == "cache") {
            runner_.warn_once("the setting '" + std::string(name) +
                              "' has no effect on task calls in this version");
        }
    }
    return read;
}

result<void> task_execution::choose_model(const asked_settings& settings) {
    const task_template& declared = call_.task->declared;
    const call_overrides* overrides = call_.overrides.get();
    std::string_view model = declared.model;
    std::string_view provider = declared.provider;
    if (!settings.model.empty()) model = settings.model;
    if (!settings.provider.empty()) provider = settings.provider;
    if (overrides && !overrides->model.empty()) model = overrides->model;
    if (overrides && !overrides->provider.empty()) provider = overrides->provider;
    const model_registry* models = runner_.parts().models;
    auto resolved = models ? models->resolve(model, provider)
                           : lang::task_error("configuration_error", "no model is configured");
    if (!resolved) {
        return std::move(resolved)
            .error()
            .with_span(call_.span)
            .with_trace("in task " + declared.name, call_.span);
    }
    chosen_ = std::move(*resolved);
    request_.model = chosen_.model;
    return {};
}

result<void> task_execution::fill_prompt() {
    const compiled_task& task = *call_.task;
    const auto placed = [&](error failure) {
        return std::move(failure)
            .with_span(call_.span)
            .with_trace("in task " + task.declared.name, call_.span);
    };
    std::string system = runner_.parts().base_system;
    if (!task.system.empty()) {
        if (!system.empty()) system += "\n\n";
        if (auto done = task.system.fill(system, call_.inputs); !done) {
            return placed(std::move(done).error());
        }
    }
    if (!task.format_note.empty()) {
        if (!system.empty()) system += "\n\n";
        system += task.format_note;
    }
    request_.messages.reserve(2);
    if (!system.empty()) {
        ports::chat_message& first = request_.messages.emplace_back();
        first.role = ports::chat_role::system;
        first.text = std::move(system);
    }
    ports::chat_message& asked = request_.messages.emplace_back();
    if (auto done = task.instructions.fill(asked.text, call_.inputs); !done) {
        return placed(std::move(done).error());
    }
    return {};
}

/// Says what a call or template asks for and does not get.
void task_execution::note_unused() {
    const auto note = [&](const std::string& what) {
        warnings_.push_back(what + " has no effect in this version");
        runner_.warn_once("task " + call_.task->declared.name + ": " + warnings_.back());
    };
    if (const call_overrides* set = call_.overrides.get()) {
        if (!set->files.is_nil()) note("files");
    }
    if (call_.task->declared.files) note("file_paths");
    if (!call_.task->declared.tools.empty()) note("tools");
}

result<void> task_execution::prepare() {
    const compiled_task& task = *call_.task;
    HEDDLE_TRY(const asked_settings settings, read_settings());
    HEDDLE_CHECK(fill_prompt());
    HEDDLE_CHECK(choose_model(settings));
    const call_overrides* overrides = call_.overrides.get();
    request_.temperature = task.declared.temperature;
    if (settings.temperature) request_.temperature = settings.temperature;
    request_.max_output_tokens = task.declared.max_tokens;
    std::optional<std::chrono::nanoseconds> timeout = task.declared.timeout;
    std::optional<std::uint32_t> retries = task.declared.retries;
    if (settings.retries) retries = settings.retries;
    if (overrides) {
        if (overrides->temperature) request_.temperature = overrides->temperature;
        if (overrides->max_tokens) request_.max_output_tokens = overrides->max_tokens;
        if (overrides->timeout) timeout = overrides->timeout;
        if (overrides->retries) retries = overrides->retries;
    }
    asks_left_ = retries.value_or(0);
    if (task.declared.output.json) request_.format = task.format;
    note_unused();
    if (auto stop = context_.stop_error()) return *std::move(stop);
    began_ = context_.loop->now();
    if (timeout) context_ = context_.with_deadline(coro::deadline(began_ + *timeout));
    started_ = true;
    if (task_observer* observer = runner_.parts().observer) {
        observer->on_task_started(
            {task.declared.name, chosen_.provider->provider_name(), chosen_.model});
    }
    return {};
}

void task_execution::report(task_outcome outcome, std::string_view reason) noexcept {
    started_ = false;
    task_observer* observer = runner_.parts().observer;
    if (!observer) return;
    task_finished event;
    event.task = call_.task->declared.name;
    event.provider = chosen_.provider->provider_name();
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
    end.provider = chosen_.provider->provider_name();
    end.finish = finish_;
    end.answered = answered_;
    end.usage = usage_;
    end.usage_known = usage_known_ && answered_;
    end.requests = requests_;
    end.latency = context_.loop->now() - began_;
    end.warnings = &warnings_;
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
    if (raise_failures_) return task_error_of(made).with_span(call_.span);
    return made;
}

result<lang::value> task_execution::take_error(error failure) {
    if (failure.is_cancelled()) {
        const auto now = context_.loop->now();
        const bool own_time = failure.cancelled_because() == cancel_reason::deadline &&
                              !call_.context.cancelled() && !call_.context.until.passed(now) &&
                              context_.until.passed(now);
        if (!own_time) {
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
