// An execution up to its first request.
#include "tasks/run/task_execution.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>
#include <heddle/tasks/output/task_result.hpp>

#include <algorithm>

namespace heddle::tasks {

namespace {

/// Output tokens that a budget sets aside while it has not seen what such calls cost.
constexpr std::int64_t first_output = 4096;

coro::task<result<std::optional<spent_budget>>> refused(error failure) {
    co_return std::move(failure);
}

[[nodiscard]] bool has_dollar_limit(const lang::dynamic_scope& scope) {
    for (const auto* each = scope.counted.get(); each; each = each->outer().get()) {
        if (each->usd()) return true;
    }
    return false;
}

/// What a template leaves open is the host's to say.
[[nodiscard]] resource_limits merged(const resource_limits& host, const resource_limits& task) {
    resource_limits limits = host;
    if (task.max_turns) limits.max_turns = task.max_turns;
    if (task.max_context) limits.max_context = task.max_context;
    if (task.max_output) limits.max_output = task.max_output;
    if (task.max_tokens_total) limits.max_tokens_total = task.max_tokens_total;
    if (task.max_cost_usd) limits.max_cost_usd = task.max_cost_usd;
    return limits;
}

} // namespace

task_execution::task_execution(task_runner& runner, task_call call)
    : runner_(runner), call_(std::move(call)), context_(call_.context),
      number_(runner.next_execution()) {
    chain_.outer = call_.chain;
    chain_.task = call_.task.get();
    chain_.inputs = &call_.inputs;
    chain_.session = &session_;
    chain_.depth_left = chain_.outer ? chain_.outer->depth_left - 1 : runner_.parts().subtask_depth;
    // A request may ask for more than the default, too.
    if (call_.max_depth) {
        const std::int64_t room = std::max(task_chain::max_depth, runner_.parts().subtask_depth);
        chain_.depth_left = std::min(*call_.max_depth, room - chain_.nesting());
    }
}

task_execution::~task_execution() {
    // Destroyed while it waits: the loop is going down.
    report(task_outcome::cancelled, {});
}

/// Once: what a step says of its error is kept by the step after it.
error task_execution::placed(error failure) const {
    std::string what = "in task " + call_.task->declared.name;
    const std::vector<trace_entry>& trace = failure.info().trace;
    if (!trace.empty() && trace.back().what == what && trace.back().where == call_.span)
        return failure;
    return std::move(failure).with_span(call_.span).with_trace(std::move(what), call_.span);
}

result<void> task_execution::choose_model() {
    const task_template& declared = call_.task->declared;
    const call_overrides* overrides = call_.overrides.get();
    const model_registry* models = runner_.parts().models;
    std::string_view model;
    std::string_view provider;
    // A provider belongs to the models that are chosen where it is, or further out. One that is
    // given further out than a model is replaced by the provider that the model names.
    const auto choose = [&](std::string_view its_model, std::string_view its_provider) {
        if (!its_model.empty()) {
            model = its_model;
            const std::size_t colon = its_model.find(':');
            if (colon != std::string_view::npos && models &&
                models->find(its_model.substr(0, colon)))
                provider = {};
        }
        if (!its_provider.empty()) provider = its_provider;
    };
    choose(declared.model, declared.provider);
    choose(settings_.model, settings_.provider);
    if (overrides) choose(overrides->model, overrides->provider);
    auto resolved =
        models ? models->resolve(model, provider)
               : task_failed(task_failure_reason::configuration_error, "no model is configured");
    if (!resolved) return placed(std::move(resolved).error());
    chosen_ = std::move(*resolved);
    request_.model = chosen_.model;
    return {};
}

/// Settings of the call go before `with`, and that before the template.
void task_execution::choose_parameters() {
    const task_template& declared = call_.task->declared;
    request_.temperature = declared.temperature;
    request_.max_output_tokens = declared.max_tokens;
    request_parameters said = settings_.parameters;
    fill_absent(said, declared.parameters);
    apply(said, request_);
    timeout_ = declared.timeout;
    std::optional<std::uint32_t> retries = settings_.retries ? settings_.retries : declared.retries;
    if (const call_overrides* overrides = call_.overrides.get()) {
        if (overrides->temperature) request_.temperature = overrides->temperature;
        if (overrides->max_tokens) request_.max_output_tokens = overrides->max_tokens;
        if (overrides->timeout) timeout_ = overrides->timeout;
        if (overrides->retries) retries = overrides->retries;
    }
    asks_left_ = declared.disable_reparsing.value_or(false) ? 0 : retries.value_or(0);
    if (declared.output.json) request_.format = call_.task->format;
    request_.scheduling.cache = settings_.cache;
    request_.scheduling.flow = runner_.flow();
    request_.scheduling.priority = runner_.parts().priority;
}

void task_execution::begin_session() {
    std::optional<std::int64_t> window = window_of_model(chosen_.model);
    if (!window) window = runner_.parts().model_window;
    if (call_.task->declared.limits.max_context && !window && !executor_) {
        warnings_.push_back("max_context has no effect: the window of the model '" + chosen_.model +
                            "' is not known");
        runner_.warn_once("task " + call_.task->declared.name + ": " + warnings_.back());
    }
    session_.begin(merged(runner_.parts().limits, call_.task->declared.limits), asks_left_, window,
                   price(), chain_.outer ? chain_.outer->session : nullptr);
    began_ = context_.loop->now();
    if (timeout_) context_ = context_.with_deadline(coro::deadline(began_ + *timeout_));
    const spending_ledger* session = runner_.session_budget();
    spends_ = !executor_ && (session || call_.scope->counted);
    has_dollars_ =
        spends_ && ((session && session->bounds().usd) || has_dollar_limit(*call_.scope));
}

result<void> task_execution::fill_prompt(std::span<const lang::value> contents) {
    const compiled_task& task = *call_.task;
    const std::size_t of_system = task.system.calls().size();
    system_ = runner_.parts().base_system;
    if (!task.system.empty()) {
        if (!system_.empty()) system_ += "\n\n";
        auto done = task.system.fill(system_, call_.inputs, contents.first(of_system));
        if (!done) return placed(std::move(done).error());
    }
    auto done = task.instructions.fill(prompt_, call_.inputs, contents.subspan(of_system));
    if (!done) return placed(std::move(done).error());
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
    const context_management& context = call_.task->declared.context;
    if (context.accumulate_data == true ||
        context.accumulation_format == accumulation::full_output) {
        runner_.warn_once(
            "task " + call_.task->declared.name +
            ": accumulate_data and accumulation_format have no effect; a FAILED result "
            "keeps the last response in its content");
    }
}

result<void> task_execution::begin() {
    settings_ = read_call_settings(*call_.scope);
    const auto& executors = runner_.parts().executors;
    if (!executors.empty()) {
        const auto found = executors.find(call_.task->declared.subtype);
        if (found != executors.end()) executor_ = found->second;
    }
    if (has_prompt_calls()) {
        for (const prompt_template* each : {&call_.task->system, &call_.task->instructions}) {
            if (auto good = each->check(call_.inputs); !good) {
                return placed(std::move(good).error());
            }
        }
    } else {
        HEDDLE_CHECK(fill_prompt({}));
    }
    if (!executor_) HEDDLE_CHECK(choose_model());
    choose_parameters();
    if (!executor_ && !call_.task->declared.tools.empty()) {
        auto offered = offer_tools(*call_.task, runner_.tasks(), runner_.tools(), request_.tools);
        if (!offered) return placed(std::move(offered).error());
        offered_ = *std::move(offered);
    }
    choose_tool();
    note_unused();
    if (!executor_) choose_history();
    if (!executor_ && !chain_.outer) {
        receiver_ = call_.scope->receiver;
        streams_ = !receiver_.is_nil() || runner_.parts().on_delta;
    }
    if (auto stop = context_.stop_error()) return *std::move(stop);
    begin_session();
    if (context_preparer* preparer = runner_.parts().context) {
        const bool inherits = chain_.outer && chain_.outer->files;
        wants_context_ = preparer->concerns(call_, inherits);
    }
    return {};
}

result<std::vector<bound_prompt_call>> task_execution::bind_prompt_calls() {
    lang::heap& memory = runner_.owner().memory();
    std::vector<bound_prompt_call> list;
    for (const prompt_template* text : {&call_.task->system, &call_.task->instructions}) {
        for (const prompt_call& wanted : text->calls()) {
            const auto fail = [&](task_failure_reason reason, const std::string& what) {
                return placed(task_failed(reason, "{{" + wanted.text + "}}: " + what));
            };
            const registered_task* found = runner_.tasks().find(wanted.task);
            if (!found) {
                std::vector<std::string> names;
                runner_.tasks().collect_names(names);
                return fail(task_failure_reason::template_not_found,
                            "there is no task '" + wanted.task + "'")
                    .with_hint(lang::suggest_names(wanted.task, names));
            }
            if (chain_.has(*found->task)) {
                return fail(task_failure_reason::execution_halted,
                            "the prompt of '" + wanted.task + "' would be needed for itself");
            }
            if (chain_.depth_left <= 0) {
                return fail(task_failure_reason::execution_halted,
                            "prompts call each other too deep");
            }
            const auto& declared = found->task->input_names;
            host::effect_call call{runner_.owner(), {}, call_.scope, context_};
            call.request.callee = found->callable;
            call.request.span = call_.span;
            lang::value names = lang::value::empty_list();
            for (std::size_t i = 0; i < wanted.arguments.size(); ++i) {
                const prompt_argument& argument = wanted.arguments[i];
                if (argument.name.empty() && i >= declared.size()) {
                    return fail(task_failure_reason::input_validation_failure,
                                "'" + wanted.task + "' takes " + std::to_string(declared.size()) +
                                    " inputs by position");
                }
                const std::string& name = argument.name.empty() ? declared[i] : argument.name;
                names = lang::list_push_back(memory, std::move(names), memory.symbol(name));
                lang::value content;
                if (argument.input.empty()) {
                    HEDDLE_TRY(content, lang::json_to_value(memory, argument.json));
                } else {
                    const bound_input* input = prompt_template::find_input(
                        call_.inputs, argument.input, argument.input_index);
                    if (!input) {
                        return fail(task_failure_reason::input_validation_failure,
                                    "there is no input '" + argument.input + "'");
                    }
                    content = input->content;
                }
                call.request.arguments.push_back(std::move(content));
            }
            call.request.names = std::move(names);
            auto bound = bind_call(memory, found->task, std::move(call));
            if (!bound) return placed(std::move(bound).error());
            bound->chain = &chain_;
            list.push_back({std::move(*bound), wanted.text});
        }
    }
    return list;
}

context_request task_execution::context_wanted() {
    context_request wanted;
    wanted.owner = &runner_.owner();
    wanted.call = &call_;
    wanted.model = chosen_.model;
    if (chain_.outer) wanted.inherited = chain_.outer->files;
    if (const auto room = session_.room()) {
        wanted.room =
            std::max<std::int64_t>(0, *room - session_.estimate(system_.size() + prompt_.size()));
    }
    wanted.context = context_;
    return wanted;
}

executor_request task_execution::executor_wanted() {
    executor_request wanted;
    wanted.owner = &runner_.owner();
    wanted.call = &call_;
    wanted.prompt = std::move(prompt_);
    if (wanted.prompt.empty()) wanted.prompt = call_.task->declared.description;
    wanted.system = std::move(system_);
    wanted.files = chain_.files;
    wanted.context = context_;
    return wanted;
}

/// history_config of the template, then of the call.
void task_execution::choose_history() {
    history_config wanted = call_.task->declared.history;
    if (const call_overrides* set = call_.overrides.get()) {
        const history_config& of_call = set->history;
        if (of_call.use_session_history) wanted.use_session_history = of_call.use_session_history;
        if (of_call.history_turns_to_include)
            wanted.history_turns_to_include = of_call.history_turns_to_include;
        if (of_call.record_in_session_history)
            wanted.record_in_session_history = of_call.record_in_session_history;
    }
    const bool open = settings_.conversation != nullptr;
    const bool uses = wanted.use_session_history.value_or(open);
    records_ = wanted.record_in_session_history.value_or(open);
    if (!uses && !records_) return;
    said_ = runner_.conversation_of(call_, settings_);
    if (!said_) {
        records_ = false;
        return;
    }
    if (!uses) return;
    const auto most = static_cast<std::int64_t>(conversation::max_turns);
    history_turns_ = static_cast<std::size_t>(
        std::clamp<std::int64_t>(wanted.history_turns_to_include.value_or(most), 0, most));
}

/// The newest turns that fit into the window beside the prompt, the oldest of them first.
void task_execution::add_history() {
    std::vector<const conversation_turn*> turns = said_->last(history_turns_);
    if (const auto room = session_.room()) {
        std::int64_t left =
            *room - session_.estimate(text_bytes(request_)) - session_.estimate(prompt_.size());
        std::size_t fit = 0;
        while (fit < turns.size() && (left -= session_.estimate(turns[fit]->bytes())) >= 0) ++fit;
        turns.resize(fit);
    }
    earlier_turns_ = static_cast<std::uint32_t>(turns.size());
    request_.messages.reserve(2 + 2 * turns.size());
    for (auto each = turns.rbegin(); each != turns.rend(); ++each) {
        request_.messages.emplace_back().text = (*each)->prompt;
        ports::chat_message& answer = request_.messages.emplace_back();
        answer.role = ports::chat_role::assistant;
        answer.text = lang::string_bytes((*each)->answer);
    }
}

/// The prompt is of no use any more: it moves.
void task_execution::record_turn(const lang::value& result) {
    if (!records_) return;
    const lang::value* content = lang::map_find(result, "content");
    if (!content || !content->is(lang::kind::string)) return;
    said_->record(std::move(request_.messages[prompt_at_].text), *content);
}

result<void> task_execution::make_request() {
    if (auto stop = context_.stop_error()) {
        if (!own_time_is_over(*stop)) return *std::move(stop);
    }
    if (chain_.files) {
        const auto& said = chain_.files->warnings;
        warnings_.insert(warnings_.end(), said.begin(), said.end());
        for (const std::string& each : said) {
            runner_.warn_once("task " + call_.task->declared.name + ": " + each);
        }
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
    if (chain_.files) add(chain_.files->text);
    add(call_.task->format_note);
    request_.messages.reserve(2);
    if (!system_.empty()) {
        ports::chat_message& first = request_.messages.emplace_back();
        first.role = ports::chat_role::system;
        first.text = std::move(system_);
    }
    if (history_turns_ != 0) add_history();
    prompt_at_ = request_.messages.size();
    request_.messages.emplace_back().text = std::move(prompt_);
    settled_messages_ = request_.messages.size();
    return {};
}

model_price task_execution::price() const noexcept {
    return {runner_.parts().prices, provider_name(), chosen_.model};
}

/// Before anything is known of such calls: the input, and room for the output.
result<cost_estimate> task_execution::first_estimate() const {
    ports::token_usage least;
    least.input = session_.estimate(request_);
    ports::token_usage most = least;
    most.output = std::min(request_.max_output_tokens.value_or(first_output), first_output);
    const auto input = price().of(least);
    const auto both = price().of(most);
    if (!input || !both) {
        return placed(
            task_failed(task_failure_reason::configuration_error,
                        "a budget in dollars cannot be held: the price of the model '" +
                            chosen_.model + "' is not known")
                .with_hint("give its price in the price file (prices in heddle.toml), or bound the "
                           "calls with max-calls"));
    }
    const bool bounded = request_.max_output_tokens && *request_.max_output_tokens <= first_output;
    return cost_estimate{*input, *both, !bounded};
}

result<expected_cost> task_execution::expected() {
    if (!has_dollars_) return expected_cost{};
    HEDDLE_TRY(const cost_estimate first, first_estimate());
    if (cost_kind_.empty()) {
        cost_kind_ = call_.task->declared.name;
        cost_kind_ += '\n';
        cost_kind_ += provider_name();
        cost_kind_ += '\n';
        cost_kind_ += chosen_.model;
    }
    return expected_cost{&runner_.costs(), cost_kind_, first};
}

coro::task<result<std::optional<spent_budget>>> task_execution::reserve() {
    auto wanted = expected();
    if (!wanted) return refused(std::move(wanted).error());
    return share_.reserve(call_.scope->counted, runner_.session_budget(), *wanted, context_,
                          runner_.parts().observer);
}

std::string_view task_execution::provider_name() const noexcept {
    return chosen_.provider ? chosen_.provider->provider_name()
                            : std::string_view(call_.task->declared.subtype);
}

void task_execution::report(task_outcome outcome, std::string_view reason) noexcept {
    if (!std::exchange(started_, false)) return;
    task_observer* observer = runner_.parts().observer;
    if (!observer) return;
    task_finished event;
    event.task = call_.task->declared.name;
    event.provider = provider_name();
    event.model = chosen_.model;
    event.outcome = outcome;
    event.reason = reason;
    event.usage = session_.usage();
    if (session_.used()) event.cost_usd = session_.cost();
    event.estimated = session_.estimated();
    event.earlier_turns = earlier_turns_;
    event.requests = session_.requests();
    event.latency = context_.loop->now() - began_;
    observer->on_task_finished(event);
}

} // namespace heddle::tasks
