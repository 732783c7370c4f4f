#include "context_clauses.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/lang/sandbox_policy.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/effective_context.hpp>
#include <heddle/tasks/task_call.hpp>
#include <heddle/tasks/task_result.hpp>
#include <heddle/tasks/template_validation.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace heddle::tasks {

namespace {

enum class reserved : std::uint8_t {
    none,
    files,
    context,
    history,
    model,
    provider,
    timeout,
    temperature,
    max_tokens,
    retries
};

struct reserved_row {
    std::string_view name;
    reserved key;
};

constexpr std::array<reserved_row, 14> reserved_keys{{
    {"files", reserved::files},
    {"file_paths", reserved::files},
    {"file-paths", reserved::files},
    {"context", reserved::context},
    {"history_config", reserved::history},
    {"history-config", reserved::history},
    {"model", reserved::model},
    {"provider", reserved::provider},
    {"timeout", reserved::timeout},
    {"temperature", reserved::temperature},
    {"max-tokens", reserved::max_tokens},
    {"max_tokens", reserved::max_tokens},
    {"max_output_tokens", reserved::max_tokens},
    {"retries", reserved::retries},
}};

[[nodiscard]] reserved reserved_key(std::string_view name) noexcept {
    for (const reserved_row& row : reserved_keys) {
        if (row.name == name) return row.key;
    }
    return reserved::none;
}

[[nodiscard]] std::string shown(const lang::value& v) {
    lang::print_options options;
    options.max_bytes = 80;
    return lang::print_value(v, options);
}

[[nodiscard]] bool is_list_of_strings(const lang::value& given) {
    if (!given.is(lang::kind::list) || given.length() == 0) return false;
    const auto items = lang::list_items(given);
    return std::all_of(items.begin(), items.end(),
                       [](const lang::value& each) { return each.is(lang::kind::string); });
}

[[nodiscard]] std::string title(const compiled_task& task) { return "task " + task.declared.name; }

class call_binder {
public:
    call_binder(lang::heap& memory, std::shared_ptr<const compiled_task> task,
                host::effect_call call)
        : memory_(memory), task_(*task) {
        made_.task = std::move(task);
        made_.names = std::move(call.request.names);
        made_.scope = std::move(call.scope);
        made_.context = call.context;
        made_.span = call.request.span;
        if (call.strand) made_.place = lang::place_of(*call.strand);
        arguments_ = std::move(call.request.arguments);
    }

    result<task_call> bind();

private:
    [[nodiscard]] error malformed(std::string what) const;
    [[nodiscard]] error malformed_clause(std::string_view name, const error& inner) const;
    [[nodiscard]] error refused(std::string what) const;
    [[nodiscard]] std::string known_inputs() const;

    result<void> bind_positions();
    result<void> bind_clauses();
    [[nodiscard]] bound_input* input_from(std::string_view name);
    result<void> set_reserved(reserved key, std::string_view name, lang::value given);
    result<void> set_files(std::string_view name, lang::value given);
    result<void> set_context(const lang::value& given);
    result<double> number(std::string_view name, const lang::value& given) const;
    result<void> fill_missing();
    result<void> replace_results();

    lang::heap& memory_;
    const compiled_task& task_;
    std::vector<lang::value> arguments_;
    task_call made_;
};

error call_binder::malformed(std::string what) const {
    return error(lang::errc::evaluation, title(task_) + ": " + std::move(what))
        .with_span(made_.span);
}

error call_binder::malformed_clause(std::string_view name, const error& inner) const {
    return malformed(std::string(name) + " " + inner.message()).with_hint(inner.info().hint);
}

error call_binder::refused(std::string what) const {
    return lang::task_error("input_validation_failure", title(task_) + ": " + std::move(what))
        .with_span(made_.span);
}

std::string call_binder::known_inputs() const {
    if (task_.input_names.empty()) return "it has no inputs";
    std::string all = "its inputs:";
    for (const std::string& name : task_.input_names) all += " " + name;
    return all;
}

result<task_call> call_binder::bind() {
    if (task_.declared.declares_inputs) {
        made_.inputs.resize(task_.input_names.size());
        for (std::size_t i = 0; i < made_.inputs.size(); ++i) {
            made_.inputs[i].name = task_.input_names[i];
        }
    }
    const bool by_clause = made_.names.is(lang::kind::list);
    HEDDLE_CHECK(by_clause ? bind_clauses() : bind_positions());
    HEDDLE_CHECK(fill_missing());
    HEDDLE_CHECK(replace_results());
    return std::move(made_);
}

result<void> call_binder::bind_positions() {
    if (arguments_.empty()) return {};
    if (!task_.declared.declares_inputs) {
        return malformed("declares no inputs, so each argument must be (name expression)");
    }
    if (arguments_.size() > made_.inputs.size()) {
        return refused("takes " + std::to_string(made_.inputs.size()) +
                       (made_.inputs.size() == 1 ? " input" : " inputs") + ", given " +
                       std::to_string(arguments_.size()))
            .with_hint(known_inputs());
    }
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
        made_.inputs[i].content = std::move(arguments_[i]);
        made_.inputs[i].given = true;
    }
    return {};
}

result<void> call_binder::bind_clauses() {
    const auto names = lang::list_items(made_.names);
    std::string unknown;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string_view name = lang::symbol_name(names[i]);
        bound_input* input = nullptr;
        for (bound_input& one : made_.inputs) {
            if (one.name == name) input = &one;
        }
        if (!input) input = input_from(name);
        if (!input) {
            if (const reserved key = reserved_key(name); key != reserved::none) {
                HEDDLE_CHECK(set_reserved(key, name, std::move(arguments_[i])));
                continue;
            }
            if (task_.declared.declares_inputs) {
                unknown += unknown.empty() ? "" : ", ";
                unknown += name;
                continue;
            }
            input = &made_.inputs.emplace_back();
            input->name = name;
        }
        if (input->given) return malformed("'" + std::string(name) + "' is given twice");
        input->content = std::move(arguments_[i]);
        input->given = true;
    }
    if (!unknown.empty()) {
        std::string hint = lang::suggest_names(unknown, task_.input_names);
        if (hint.empty()) hint = known_inputs();
        return refused("no such input: " + unknown).with_hint(std::move(hint));
    }
    return {};
}

/// The declared input that is also given under this name. Null when there is none.
bound_input* call_binder::input_from(std::string_view name) {
    const auto& declared = task_.declared.inputs;
    for (std::size_t i = 0; task_.declared.declares_inputs && i < declared.size(); ++i) {
        if (declared[i].from == name) return &made_.inputs[i];
    }
    return nullptr;
}

result<double> call_binder::number(std::string_view name, const lang::value& given) const {
    if (given.is_integer()) return static_cast<double>(given.as_integer());
    if (given.is_real() && std::isfinite(given.as_real())) return given.as_real();
    return malformed(std::string(name) + " must be a number, not " + shown(given));
}

result<void> call_binder::set_reserved(reserved key, std::string_view name, lang::value given) {
    if (!made_.overrides) made_.overrides = std::make_unique<call_overrides>();
    call_overrides& set = *made_.overrides;
    switch (key) {
    case reserved::none: return {};
    case reserved::files: return set_files(name, std::move(given));
    case reserved::context: return set_context(given);
    case reserved::history: {
        auto read = read_history_config({given, made_.span});
        if (!read) return malformed_clause(name, read.error());
        set.history = *read;
        return {};
    }
    case reserved::model:
    case reserved::provider: {
        if (!given.is(lang::kind::string)) {
            return malformed(std::string(name) + " must be a string, not " + shown(given));
        }
        if (const auto* sandbox = made_.scope->sandbox.get()) {
            if (auto refused = sandbox->refuse_model(lang::string_bytes(given)))
                return std::move(*refused).with_span(made_.span);
        }
        (key == reserved::model ? set.model : set.provider) = lang::string_bytes(given);
        return {};
    }
    case reserved::timeout: {
        HEDDLE_TRY(const double seconds, number(name, given));
        if (!(seconds > 0) || seconds > 1e8) return malformed("timeout must be above 0");
        set.timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(
            std::chrono::duration<double>(seconds));
        return {};
    }
    case reserved::temperature: {
        HEDDLE_TRY(const double degree, number(name, given));
        if (degree < 0 || degree > 10) return malformed("temperature must be from 0 to 10");
        set.temperature = degree;
        return {};
    }
    case reserved::max_tokens:
    case reserved::retries: {
        const bool tokens = key == reserved::max_tokens;
        const std::int64_t least = tokens ? 1 : 0;
        const std::int64_t most = tokens ? 1'000'000'000 : template_limits::max_retries;
        if (!given.is_integer() || given.as_integer() < least || given.as_integer() > most) {
            return malformed(std::string(name) + " must be a whole number from " +
                             std::to_string(least) + " to " + std::to_string(most) + ", not " +
                             shown(given));
        }
        if (tokens) set.max_tokens = given.as_integer();
        else set.retries = static_cast<std::uint32_t>(given.as_integer());
        return {};
    }
    }
    return {};
}

result<void> call_binder::set_files(std::string_view name, lang::value given) {
    const bool good = given.is(lang::kind::list) && given.length() == 0;
    if (!good && !is_list_of_strings(given)) {
        return malformed(std::string(name) + " must be a list of strings, not " + shown(given));
    }
    if (!made_.overrides->files.is_nil()) return malformed("files are given twice");
    made_.overrides->files = std::move(given);
    return {};
}

result<void> call_binder::set_context(const lang::value& given) {
    auto read = read_context_management({given, made_.span});
    if (!read && is_list_of_strings(given)) {
        return malformed("context takes settings, not paths")
            .with_hint("files go into (files paths)");
    }
    if (!read) return malformed_clause("context", read.error());
    if (auto fits = check_context_layer(task_.declared.subtype, *read); !fits) {
        return refused("context: " + fits.error().message()).with_hint(fits.error().info().hint);
    }
    made_.overrides->context = *read;
    return {};
}

result<void> call_binder::fill_missing() {
    if (!task_.declared.declares_inputs) return {};
    std::string missing;
    for (std::size_t i = 0; i < made_.inputs.size(); ++i) {
        bound_input& input = made_.inputs[i];
        if (input.given) continue;
        const task_input& declared = task_.declared.inputs[i];
        if (declared.default_json) {
            HEDDLE_TRY(input.content, lang::json_to_value(memory_, *declared.default_json));
            input.given = true;
        } else if (i != 0 && declared.name == task_description_input &&
                   is_aider_subtype(task_.declared.subtype) && made_.inputs.front().given) {
            // What an aider task is to do is what it was given first.
            input.content = made_.inputs.front().content;
            input.given = true;
        } else if (!declared.optional) {
            missing += missing.empty() ? "" : ", ";
            missing += input.name;
        }
    }
    if (!missing.empty()) return refused("missing input: " + missing).with_hint(known_inputs());
    return {};
}

/// A TaskResult stands for its value. What failed must not flow on as if it were a response.
result<void> call_binder::replace_results() {
    for (bound_input& input : made_.inputs) {
        const bool may_hold =
            input.content.is(lang::kind::map) || input.content.is(lang::kind::list);
        if (!may_hold) continue;
        auto plain = without_results(memory_, input.content);
        if (!plain) {
            return std::move(plain)
                .error()
                .with_span(made_.span)
                .with_trace("as the input '" + std::string(input.name) + "' of " + title(task_),
                            made_.span);
        }
        if (plain->identical(input.content)) continue;
        input.as_given = std::exchange(input.content, *std::move(plain));
    }
    return {};
}

} // namespace

result<task_call> bind_call(lang::heap& memory, std::shared_ptr<const compiled_task> task,
                            host::effect_call call) {
    return call_binder(memory, std::move(task), std::move(call)).bind();
}

bool is_reserved_call_key(std::string_view name) noexcept {
    return reserved_key(name) != reserved::none;
}

} // namespace heddle::tasks
