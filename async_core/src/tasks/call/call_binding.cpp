#include "tasks/call/call_overrides.hpp"
#include "tasks/definition/source_form.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/keyed_hash.hpp>
#include <heddle/lang/check.hpp>

#include <heddle/lang/errors.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/lang/sandbox_policy.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/call/task_call.hpp>
#include <heddle/tasks/definition/task_fields.hpp>
#include <heddle/tasks/definition/template_validation.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>
#include <heddle/tasks/output/task_result.hpp>

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace heddle::tasks {

namespace {

[[nodiscard]] std::string title(const compiled_task& task) { return "task " + task.declared.name; }

class call_binder {
public:
    call_binder(lang::heap& memory, std::shared_ptr<const compiled_task> task,
                host::effect_call call)
        : memory_(memory), task_(*task) {
        call_.task = std::move(task);
        call_.names = std::move(call.request.names);
        call_.scope = std::move(call.scope);
        call_.context = call.context;
        call_.span = call.request.span;
        if (call.fiber) call_.place = lang::place_of(*call.fiber);
        arguments_ = std::move(call.request.arguments);
    }

    result<task_call> bind();

private:
    [[nodiscard]] error malformed(std::string what) const;
    [[nodiscard]] error refused(std::string what, source_span where = {}) const;
    [[nodiscard]] std::string known_inputs() const;

    result<void> bind_positions();
    result<void> bind_clauses();
    [[nodiscard]] bound_input* input_named(std::string_view name, std::size_t clauses);
    [[nodiscard]] bound_input* input_from(std::string_view name);
    result<void> set_reserved(std::string_view name, const lang::value& given);
    result<void> fill_missing();
    result<void> replace_results();

    lang::heap& memory_;
    const compiled_task& task_;
    std::vector<lang::value> arguments_;
    task_call call_;
    std::unordered_map<std::string_view, std::size_t, name_hash> places_; ///< of inputs
};

error call_binder::malformed(std::string what) const {
    return error(lang::errc::evaluation, title(task_) + ": " + std::move(what))
        .with_span(call_.span);
}

error call_binder::refused(std::string what, source_span where) const {
    return task_failed(task_failure_reason::input_validation_failure,
                       title(task_) + ": " + std::move(what))
        .with_span(where.known() ? where : call_.span);
}

std::string call_binder::known_inputs() const {
    if (task_.input_names.empty()) return "it has no inputs";
    std::string all = task_.input_names.size() == 1 ? "its input is " : "its inputs are ";
    return all + "'" + ascii::join(task_.input_names, "', '") + "'";
}

result<task_call> call_binder::bind() {
    if (task_.declared.declares_inputs) {
        call_.inputs.resize(task_.input_names.size());
        for (std::size_t i = 0; i < call_.inputs.size(); ++i) {
            call_.inputs[i].name = task_.input_names[i];
        }
    }
    const bool by_clause = call_.names.is(lang::kind::list);
    HEDDLE_CHECK(by_clause ? bind_clauses() : bind_positions());
    HEDDLE_CHECK(fill_missing());
    HEDDLE_CHECK(replace_results());
    return std::move(call_);
}

result<void> call_binder::bind_positions() {
    if (arguments_.empty()) return {};
    if (!task_.declared.declares_inputs) {
        return malformed("declares no inputs, so each argument must be (name expression)");
    }
    if (arguments_.size() > call_.inputs.size()) {
        return refused("takes " + std::to_string(call_.inputs.size()) +
                       (call_.inputs.size() == 1 ? " input" : " inputs") + ", given " +
                       std::to_string(arguments_.size()))
            .with_hint(known_inputs());
    }
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
        call_.inputs[i].content = std::move(arguments_[i]);
        call_.inputs[i].given = true;
    }
    return {};
}

result<void> call_binder::bind_clauses() {
    const auto names = lang::list_items(call_.names);
    std::string unknown;
    std::optional<std::size_t> first_unknown;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string_view name = lang::symbol_name(names[i]);
        bound_input* input = input_named(name, names.size());
        if (!input) input = input_from(name);
        if (!input) {
            if (is_reserved_call_key(name)) {
                HEDDLE_CHECK(set_reserved(name, arguments_[i]));
                continue;
            }
            if (task_.declared.declares_inputs) {
                unknown += unknown.empty() ? "" : ", ";
                unknown += name;
                if (!first_unknown) first_unknown = i;
                continue;
            }
            input = &call_.inputs.emplace_back();
            input->name = name;
            places_.emplace(name, call_.inputs.size() - 1);
        }
        if (input->given) return malformed("'" + std::string(name) + "' is given twice");
        input->content = std::move(arguments_[i]);
        input->given = true;
    }
    if (first_unknown) {
        std::string hint = lang::unknown_input_hint(lang::symbol_name(names[*first_unknown]),
                                                    task_.input_names, call_names());
        if (hint.empty()) hint = known_inputs();
        return refused("no such input: " + unknown,
                       source_form{call_.names, call_.span}[*first_unknown].span)
            .with_hint(std::move(hint));
    }
    return {};
}

/// One of `clauses` names is looked for; with many, each is not compared with all inputs.
bound_input* call_binder::input_named(std::string_view name, std::size_t clauses) {
    constexpr std::size_t few = 16;
    if (clauses <= few) {
        const auto found =
            std::find_if(call_.inputs.begin(), call_.inputs.end(),
                         [name](const bound_input& one) { return one.name == name; });
        return found == call_.inputs.end() ? nullptr : &*found;
    }
    if (places_.empty()) {
        for (std::size_t i = 0; i < call_.inputs.size(); ++i)
            places_.try_emplace(call_.inputs[i].name, i);
    }
    const auto found = places_.find(name);
    return found == places_.end() ? nullptr : &call_.inputs[found->second];
}

/// The declared input that is also given under this name. Null when there is none.
bound_input* call_binder::input_from(std::string_view name) {
    const auto& declared = task_.declared.inputs;
    for (std::size_t i = 0; task_.declared.declares_inputs && i < declared.size(); ++i) {
        if (declared[i].from == name) return &call_.inputs[i];
    }
    return nullptr;
}

result<void> call_binder::set_reserved(std::string_view name, const lang::value& given) {
    if (!call_.overrides) call_.overrides = std::make_unique<call_overrides>();
    HEDDLE_CHECK(set_override(*call_.overrides, task_.declared, name, given, call_.span));
    const bool chooses_model = name == "model" || name == "provider";
    if (const auto* sandbox = call_.scope->sandbox.get(); sandbox && chooses_model) {
        if (auto refused = sandbox->refuse_model(lang::string_bytes(given)))
            return std::move(*refused).with_span(call_.span);
    }
    return {};
}

result<void> call_binder::fill_missing() {
    if (!task_.declared.declares_inputs) return {};
    std::string missing;
    for (std::size_t i = 0; i < call_.inputs.size(); ++i) {
        bound_input& input = call_.inputs[i];
        if (input.given) continue;
        const task_input& declared = task_.declared.inputs[i];
        if (declared.default_json) {
            HEDDLE_TRY(input.content, lang::json_to_value(memory_, *declared.default_json));
            input.given = true;
        } else if (i != 0 && declared.name == task_description_input &&
                   is_aider_subtype(task_.declared.subtype) && call_.inputs.front().given) {
            // What an aider task is to do is what it was given first.
            input.content = call_.inputs.front().content;
            input.given = true;
        } else if (!declared.optional) {
            missing += missing.empty() ? "" : ", ";
            missing += input.name;
        }
    }
    if (!missing.empty()) return refused("missing input: " + missing).with_hint(known_inputs());
    return {};
}

/// A TaskResult is used as its value. A failed one must not flow on as if it were a response.
result<void> call_binder::replace_results() {
    for (bound_input& input : call_.inputs) {
        const bool may_hold =
            input.content.is(lang::kind::map) || input.content.is(lang::kind::list);
        if (!may_hold) continue;
        auto plain = without_results(memory_, input.content);
        if (!plain) {
            return std::move(plain)
                .error()
                .with_span(call_.span)
                .with_trace("as the input '" + std::string(input.name) + "' of " + title(task_),
                            call_.span);
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

} // namespace heddle::tasks
