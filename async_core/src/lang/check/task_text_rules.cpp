// What the texts and clauses of tasks refer to.
#include "lang/check/rules.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/keyed_hash.hpp>

#include <algorithm>
#include <unordered_set>

namespace heddle::lang {

namespace {

class task_text_rule {
public:
    explicit task_text_rule(const rule_context& context) : context_(context) {}

    void run() {
        for (const known_callee* each : context_.facts.tasks()) {
            const task_signature& task = *each->task;
            for (const text_call& call : task.calls) check_call(each->name, call);
            for (const named_span& tool : task.tools) check_tool(each->name, tool);
            if (context_.facts.is_handed_on(each->name)) continue;
            for (const named_span& input : task.unused) {
                context_.add(severity::warning, "unused-parameter", input.span,
                             "the parameter '" + input.name + "' of the task '" + each->name +
                                 "' is not used in its prompts",
                             "write {{" + input.name + "}} where it belongs");
            }
        }
    }

private:
    void check_call(const std::string& task, const text_call& call) const {
        const std::string who = "task '" + task + "': {{" + call.text + "}}: ";
        const task_signature* target = nullptr;
        if (const known_callee* known = context_.facts.task_named(call.task)) {
            if (!known->task->is_tool) target = known->task;
        } else if (context_.facts.defines_task(call.task)) {
            return; // one of several
        } else if (const known_callee* known_there = context_.facts.host_task_named(call.task)) {
            if (!known_there->task->is_tool) target = known_there->task;
        }
        if (!target) {
            return report_unknown(call.task, call.span,
                                  who + "there is no task '" + call.task + "'");
        }
        const host_names& host = context_.realm.host();
        std::string mistake = mistake_in(
            call, *target, [&](std::string_view name) { return host.is_reserved_key(name); });
        if (!mistake.empty())
            context_.add(severity::error, "task-inputs", call.span, who + mistake);
    }

    void check_tool(const std::string& task, const named_span& tool) const {
        realm& realm = context_.realm;
        if (context_.facts.defines_task(tool.name) ||
            realm.host().find_operator(realm.memory(), tool.name))
            return;
        report_unknown(tool.name, tool.span,
                       "task '" + task + "' offers the tool '" + tool.name + "', which is unknown");
    }

    void report_unknown(const std::string& name, source_span span, std::string message) const {
        const auto& externs = context_.options.externs;
        if (std::find(externs.begin(), externs.end(), name) != externs.end()) return;
        if (context_.lost_names && context_.lost_names->contains(name)) return;
        const bool open = context_.facts.has_open_names();
        context_.add(open ? severity::warning : severity::error, "unknown-name", span,
                     std::move(message), context_.suggest(name, context_.tasks_and_tools()));
    }

    const rule_context& context_;
};

} // namespace

std::string mistake_in(const text_call& call, const task_signature& target,
                       const std::function<bool(std::string_view)>& is_reserved) {
    if (target.open) {
        return call.positions == 0
                   ? std::string()
                   : "'" + call.task + "' declares no inputs, so each argument needs a name";
    }
    if (call.positions > target.inputs.size()) {
        return "'" + call.task + "' takes " + std::to_string(target.inputs.size()) +
               (target.inputs.size() == 1 ? " input" : " inputs") + " by position, not " +
               std::to_string(call.positions);
    }
    const std::unordered_set<std::string_view, name_hash> inputs(target.inputs.begin(),
                                                                 target.inputs.end());
    std::unordered_set<std::string_view, name_hash> given(
        target.inputs.begin(), target.inputs.begin() + static_cast<std::ptrdiff_t>(call.positions));
    for (const std::string& name : call.names) {
        if (given.contains(name)) return "'" + name + "' is given twice";
        if (!inputs.contains(name) && !is_reserved(name))
            return "'" + call.task + "' has no input '" + name + "'";
        given.insert(name);
    }
    std::vector<std::string> missing;
    for (const std::string& name : target.required) {
        if (!given.contains(name)) missing.push_back(name);
    }
    if (missing.empty()) return {};
    return "'" + call.task + "' needs " + quoted_names(missing);
}

void check_task_texts(const rule_context& context) { task_text_rule(context).run(); }

} // namespace heddle::lang
