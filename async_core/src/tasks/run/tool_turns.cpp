#include "tasks/run/tool_turns.hpp"

#include <heddle/base/utf8.hpp>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace heddle::tasks {

namespace {

/// Ids that were made for calls without one can be those of an earlier turn, and some models give
/// two calls the same; results are distinguished by them.
void make_ids_unique(std::vector<ports::tool_call>& calls,
                     const std::vector<ports::chat_message>& messages) {
    std::set<std::string> taken;
    for (const ports::chat_message& each : messages) taken.insert(each.tool_call_id);
    std::set<std::string> given = taken;
    for (const ports::tool_call& each : calls) given.insert(each.id);
    for (ports::tool_call& each : calls) {
        if (each.id.empty() || taken.insert(each.id).second) continue;
        std::string text;
        for (int n = 2; text.empty() || !given.insert(text).second; ++n) {
            text = each.id + "_" + std::to_string(n);
        }
        each.id = std::move(text);
    }
}

} // namespace

result<void> tool_turns::offer(const compiled_task& task, const task_registry& tasks,
                               const tool_registry& tools, std::vector<ports::tool_spec>& specs) {
    HEDDLE_TRY(offered_, offer_tools(task, tasks, tools, specs));
    return {};
}

const offered_tool* tool_turns::find(const std::string& name) const noexcept {
    const auto found = std::find_if(offered_.begin(), offered_.end(), [&](const offered_tool& one) {
        return one.wire_name == name || one.name == name;
    });
    return found == offered_.end() ? nullptr : &*found;
}

std::string tool_turns::offered_names() const {
    std::string all;
    for (const offered_tool& each : offered_) all += (all.empty() ? "" : ", ") + each.wire_name;
    return all.empty() ? "there are no tools" : "the tools: " + all;
}

std::optional<std::string> tool_turns::resolve_choice(std::string& choice) const {
    if (offered_.empty()) choice.clear();
    if (choice.empty() || choice == "auto" || choice == "none" || choice == "required")
        return std::nullopt;
    if (const offered_tool* found = find(choice)) {
        choice = found->wire_name;
        return std::nullopt;
    }
    std::string warning =
        "tool-choice '" + utf8::shortened(choice, 100) + "' has no effect: " + offered_names();
    choice.clear();
    return warning;
}

void tool_turns::begin(std::vector<ports::tool_call>& calls,
                       const std::vector<ports::chat_message>& messages) {
    make_ids_unique(calls, messages);
    for (const ports::tool_call& each : calls) {
        called_tool& called = turn_.emplace_back();
        called.offered = find(each.name);
        called.asked = each;
    }
}

void tool_turns::end(model_dialog& dialog, result_notes& notes) {
    for (called_tool& each : turn_) {
        const std::string_view name = each.offered ? std::string_view(each.offered->name)
                                                   : utf8::prefix(each.asked.name, 200);
        notes.add_tool(name, !each.failed, each.took);
        ports::chat_message message;
        message.role = ports::chat_role::tool;
        message.text = std::move(each.text);
        message.tool_call_id = std::move(each.asked.id);
        message.tool_name = each.asked.name;
        message.tool_failed = each.failed;
        dialog.add_result(std::move(message));
    }
    turn_.clear();
    dialog.end_turn();
}

} // namespace heddle::tasks
