#include "tasks/run/subtask_request.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>

#include <algorithm>

namespace heddle::tasks {

namespace {

[[nodiscard]] error invalid(const std::string& what) {
    return task_failed(task_failure_reason::input_validation_failure, "subtask_request: " + what)
        .with_hint(
            "fields: type, description and inputs; also name, subtype, template_hints, "
            "context_management, max_depth and file_paths");
}

[[nodiscard]] bool is_text_list(const lang::value& v) {
    if (!v.is(lang::kind::list)) return false;
    const auto items = lang::list_items(v);
    return std::all_of(items.begin(), items.end(),
                       [](const lang::value& each) { return each.is(lang::kind::string); });
}

[[nodiscard]] result<void> read_field(subtask_request& request, std::string_view name,
                                      const lang::value& given) {
    const auto expected = [&](const char* what) {
        return invalid("'" + std::string(name) + "' must be " + what);
    };
    const bool optional = name != "type" && name != "description" && name != "inputs";
    if (optional && given.is_nil()) return {};
    if (name == "type" || name == "description" || name == "name" || name == "subtype") {
        if (!given.is(lang::kind::string)) return expected("a string");
        std::string& field = name == "type"          ? request.type
                             : name == "description" ? request.description
                             : name == "name"        ? request.name
                                                     : request.subtype;
        field = lang::string_bytes(given);
    } else if (name == "inputs") {
        if (!given.is(lang::kind::map)) return expected("an object");
        request.inputs = given;
    } else if (name == "template_hints" || name == "file_paths") {
        if (!is_text_list(given)) return expected("a list of strings");
        if (name == "file_paths") request.file_paths = given;
        else {
            for (const lang::value& each : lang::list_items(given))
                request.hints.emplace_back(lang::string_bytes(each));
        }
    } else if (name == "context_management") {
        if (!given.is(lang::kind::map)) return expected("an object");
        request.context = given;
    } else if (name == "max_depth") {
        if (!given.is_integer() || given.as_integer() < 0) return expected("a number from 0");
        request.max_depth = given.as_integer();
    } else {
        return invalid("there is no field '" + std::string(name) + "'");
    }
    return {};
}

} // namespace

result<subtask_request> read_subtask_request(const lang::value& given) {
    if (!given.is(lang::kind::map)) return invalid("it must be an object");
    subtask_request request;
    for (const lang::map_entry& entry : lang::map_entries(given)) {
        HEDDLE_CHECK(read_field(request, lang::string_bytes(entry.key), entry.item));
    }
    for (const char* name : {"type", "description", "inputs"}) {
        if (!lang::map_find(given, name)) return invalid("'" + std::string(name) + "' is missing");
    }
    if (request.type != "atomic") return invalid("'type' must be \"atomic\"");
    if (request.description.empty()) return invalid("'description' is empty");
    return request;
}

result<const registered_task*> choose_template(const task_registry& tasks,
                                               const subtask_request& request) {
    const auto absent = [&](const std::string& wanted, const std::string& searched) {
        std::vector<std::string> names;
        tasks.collect_names(names);
        return task_failed(task_failure_reason::template_not_found, wanted)
            .with_hint(lang::suggest_names(searched, names));
    };
    if (!request.name.empty()) {
        if (const registered_task* found = tasks.find(request.name)) return found;
        return absent("there is no template '" + request.name + "'", request.name);
    }
    if (!request.subtype.empty()) {
        const std::string kind = request.type + ":" + request.subtype;
        if (const registered_task* found = tasks.find(kind)) return found;
    }
    const auto matching =
        tasks.find_matching_tasks(request.description, default_match_threshold, request.hints);
    if (!matching.empty()) return matching.front().found;
    const std::string shown = utf8::shortened(request.description, 200);
    return absent("no template matches '" + shown + "'", shown);
}

const lang::value* continuation_of(const lang::value& result) noexcept {
    if (!result.is(lang::kind::map)) return nullptr;
    const lang::value* status = lang::map_find(result, "status");
    if (!status || !status->is(lang::kind::string) || lang::string_bytes(*status) != "CONTINUATION")
        return nullptr;
    const lang::value* notes = lang::map_find(result, "notes");
    if (!notes || !notes->is(lang::kind::map)) return nullptr;
    return lang::map_find(*notes, "subtask_request");
}

} // namespace heddle::tasks
