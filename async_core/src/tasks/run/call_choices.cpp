#include "tasks/run/call_choices.hpp"

#include <heddle/tasks/output/task_failure_reason.hpp>

#include <utility>

namespace heddle::tasks {

call_choices::call_choices(const task_call& call, const task_system_parts& parts)
    : call_(call), parts_(parts), settings_(read_call_settings(*call.scope)) {
    const auto& executors = parts_.executors;
    if (executors.empty()) return;
    const auto found = executors.find(call_.task->declared.subtype);
    if (found != executors.end()) executor_ = found->second;
}

result<void> call_choices::choose_model() {
    const task_template& declared = call_.task->declared;
    const call_overrides* overrides = call_.overrides.get();
    const model_registry* models = parts_.models;
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
    if (!resolved) return std::move(resolved).error();
    chosen_ = std::move(*resolved);
    return {};
}

std::string_view call_choices::provider_name() const noexcept {
    return chosen_.provider ? chosen_.provider->provider_name()
                            : std::string_view(call_.task->declared.subtype);
}

std::optional<std::int64_t> call_choices::window() const noexcept {
    const std::optional<std::int64_t> known = window_of_model(chosen_.model);
    return known ? known : parts_.model_window;
}

model_price call_choices::price() const noexcept {
    return {parts_.prices, provider_name(), chosen_.model, chosen_.route_models};
}

void call_choices::set_parameters(ports::chat_request& request) const {
    const task_template& declared = call_.task->declared;
    request.model = chosen_.model;
    request.temperature = declared.temperature;
    request.max_output_tokens = declared.max_tokens;
    request_parameters chosen = settings_.parameters;
    fill_absent(chosen, declared.parameters);
    apply(chosen, request);
    if (const call_overrides* overrides = call_.overrides.get()) {
        if (overrides->temperature) request.temperature = overrides->temperature;
        if (overrides->max_tokens) request.max_output_tokens = overrides->max_tokens;
    }
    if (declared.output.json) request.format = call_.task->format;
    request.scheduling.cache = settings_.cache;
    request.scheduling.priority = parts_.priority;
}

std::optional<std::chrono::nanoseconds> call_choices::timeout() const noexcept {
    const call_overrides* overrides = call_.overrides.get();
    return overrides && overrides->timeout ? overrides->timeout : call_.task->declared.timeout;
}

std::uint32_t call_choices::retries() const noexcept {
    const task_template& declared = call_.task->declared;
    if (declared.disable_reparsing.value_or(false)) return 0;
    const call_overrides* overrides = call_.overrides.get();
    if (overrides && overrides->retries) return *overrides->retries;
    return settings_.retries.value_or(declared.retries.value_or(0));
}

resource_limits call_choices::limits() const {
    const resource_limits& task = call_.task->declared.limits;
    resource_limits limits = parts_.limits;
#define HEDDLE_LIMIT(type, name, ...) \
    if (task.name) limits.name = task.name;
#include <heddle/tasks/definition/task_settings.def>
    return limits;
}

history_config call_choices::history() const {
    history_config wanted = call_.task->declared.history;
    if (const call_overrides* overrides = call_.overrides.get()) {
        const history_config& of_call = overrides->history;
#define HEDDLE_HISTORY_SETTING(type, name, ...) \
    if (of_call.name) wanted.name = of_call.name;
#include <heddle/tasks/definition/task_settings.def>
    }
    return wanted;
}

} // namespace heddle::tasks
