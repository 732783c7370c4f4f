#include "tasks/tools/match_tool.hpp"

#include <heddle/host/session.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/definition/task_source.hpp>

namespace heddle::tasks {

namespace {

using lang::value;

constexpr std::string_view input_schema = R"({
  "type": "object",
  "properties": {
    "text": {"type": "string", "description": "What is to be done, in words"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 10000,
      "description": "Most tasks to give; 10 when it is left out"},
    "threshold": {"type": "number", "minimum": 0, "maximum": 1,
      "description": "Least score; 0.1 when it is left out"},
    "hints": {"type": "array", "items": {"type": "string"}, "maxItems": 1000,
      "description": "Names, or type:subtype, that come first"}
  },
  "required": ["text"], "additionalProperties": false
})";

[[nodiscard]] double number_or(const value& inputs, std::string_view name, double otherwise) {
    const value* given = lang::map_find(inputs, name);
    if (!given) return otherwise;
    return given->is_integer() ? static_cast<double>(given->as_integer()) : given->as_real();
}

[[nodiscard]] value written(lang::heap& memory, const matching_task& match) {
    const task_template& declared = match.found->task->declared;
    value result = value::empty_map();
    const auto put = [&](std::string_view key, value item) {
        result = lang::map_put(memory, std::move(result), key, std::move(item));
    };
    put("name", lang::make_string(memory, declared.name));
    put("score", value::real(match.score));
    put("kind", lang::make_string(memory, declared.type + ":" + declared.subtype));
    put("description", lang::make_string(memory, declared.description));
    return result;
}

coro::task<result<value>> find(tool_call call) {
    const auto* tasks = dynamic_cast<const task_source*>(call.session.operators());
    if (!tasks) co_return value::empty_list();
    lang::heap& memory = call.session.memory();
    const std::string_view text = lang::string_bytes(*lang::map_find(call.inputs, "text"));
    std::vector<std::string> hints;
    if (const value* given = lang::map_find(call.inputs, "hints")) {
        for (const value& each : lang::list_items(*given)) {
            hints.emplace_back(each.is(lang::kind::symbol) ? lang::symbol_name(each)
                                                           : lang::string_bytes(each));
        }
    }
    const auto limit = static_cast<std::size_t>(number_or(call.inputs, "limit", 10));
    const double threshold = number_or(call.inputs, "threshold", default_match_threshold);
    value created = value::empty_list();
    for (const matching_task& each :
         tasks->registry().find_matching_tasks(text, threshold, hints)) {
        if (created.length() == limit) break;
        created = lang::list_push_back(memory, std::move(created), written(memory, each));
    }
    co_return created;
}

} // namespace

tool match_tool() {
    tool result;
    result.name = "match-tasks";
    result.aliases = {"match_tasks", "system:match_tasks"};
    result.description = "Finds the tasks whose descriptions match a text, best first";
    result.input_schema = input_schema;
    result.run = find;
    return result;
}

} // namespace heddle::tasks
