#include "tasks/tools/file_tools.hpp"

#include "tasks/tools/process_result_value.hpp"

#include <heddle/host/session.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>

namespace heddle::tasks {

namespace {

using lang::value;

constexpr std::size_t max_text_bytes = 64 * 1024 * 1024; ///< of one call of read_files

constexpr std::string_view read_schema = R"({
  "type": "object",
  "properties": {"path": {"type": "string", "description": "A file in the workspace"}},
  "required": ["path"], "additionalProperties": false
})";
constexpr std::string_view read_all_schema = R"({
  "type": "object",
  "properties": {"file_paths": {"type": "array", "items": {"type": "string"}, "maxItems": 1000,
    "description": "Files in the workspace"}},
  "required": ["file_paths"], "additionalProperties": false
})";
constexpr std::string_view write_schema = R"({
  "type": "object",
  "properties": {
    "path": {"type": "string",
      "description": "The file, in a directory of the workspace that exists"},
    "content": {"type": "string", "description": "Its new text, all of it"}},
  "required": ["path", "content"], "additionalProperties": false
})";
constexpr std::string_view list_schema = R"({
  "type": "object",
  "properties": {"path": {"type": "string",
    "description": "A directory in the workspace; without it, the workspace itself"}},
  "additionalProperties": false
})";

/// The port, or the error of a host that has none.
[[nodiscard]] result<ports::file_port*> files_of(const tool_call& call, std::string_view tool) {
    ports::file_port* files = call.session.engine().parts().files;
    if (files) return files;
    return error(lang::errc::permission,
                 std::string(tool) + ": this host does not give access to files");
}

[[nodiscard]] error in_script(const error& failure, std::string_view tool) {
    if (failure.is_cancelled()) return failure;
    return error(lang::errc::evaluation, std::string(tool) + ": " + failure.message())
        .with_hint(failure.info().hint)
        .with_cause(failure);
}

[[nodiscard]] error no_room(std::string_view tool) {
    return error(lang::errc::limit,
                 std::string(tool) + ": what was read does not fit in the memory limit");
}

/// The text of a clause that the schema has checked.
[[nodiscard]] std::string text_of(const tool_call& call, std::string_view clause,
                                  std::string_view missing = {}) {
    const value* given = lang::map_find(call.inputs, clause);
    if (!given) return std::string(missing);
    if (given->is(lang::kind::symbol)) return std::string(lang::symbol_name(*given));
    return std::string(lang::string_bytes(*given));
}

coro::task<result<value>> read_one(tool_call call) {
    auto files = files_of(call, "read-file");
    if (!files) co_return std::move(files).error();
    const result<std::string> text = co_await (*files)->read(text_of(call, "path"), call.context);
    if (!text) co_return in_script(text.error(), "read-file");
    lang::heap& memory = call.session.memory();
    if (!memory.can_allocate(text->size())) co_return no_room("read-file");
    co_return lang::make_string(memory, *text);
}

/// Several files as one text, each between tags with its path; what cannot be read is noted.
coro::task<result<value>> read_several(tool_call call) {
    constexpr std::string_view name = "system:read_files";
    auto files = files_of(call, name);
    if (!files) co_return std::move(files).error();
    lang::heap& memory = call.session.memory();
    const value paths = *lang::map_find(call.inputs, "file_paths");
    std::string all;
    value read = value::empty_list();
    value skipped = value::empty_list();
    value errors = value::empty_list();
    for (const value& each : lang::list_items(paths)) {
        const std::string path(each.is(lang::kind::symbol) ? lang::symbol_name(each)
                                                           : lang::string_bytes(each));
        result<std::string> text = co_await (*files)->read(path, call.context);
        if (!text && text.error().is_cancelled()) co_return std::move(text).error();
        if (text && all.size() + text->size() > max_text_bytes) {
            text =
                error(errc::limit_exceeded, "\"" + path +
                                                "\" is left out: the files are longer "
                                                "than " +
                                                std::to_string(max_text_bytes) + " bytes together");
        }
        if (!text) {
            skipped = lang::list_push_back(memory, std::move(skipped), each);
            errors = lang::list_push_back(memory, std::move(errors),
                                          lang::make_string(memory, text.error().message()));
            continue;
        }
        read = lang::list_push_back(memory, std::move(read), each);
        all += "<file path=\"" + path + "\">\n" + *text;
        if (!text->empty() && text->back() != '\n') all += '\n';
        all += "</file>\n";
    }
    if (!memory.can_allocate(all.size())) co_return no_room(name);
    value notes = value::empty_map();
    const auto count = static_cast<std::int64_t>(read.length());
    notes = lang::map_put(memory, std::move(notes), "files_read_count", value::integer(count));
    notes = lang::map_put(memory, std::move(notes), "files", std::move(read));
    notes = lang::map_put(memory, std::move(notes), "skipped_files", std::move(skipped));
    notes = lang::map_put(memory, std::move(notes), "errors", std::move(errors));
    const bool none = count == 0 && paths.length() != 0;
    co_return tool_result(memory, lang::make_string(memory, all), std::move(notes),
                          none ? to_string(task_failure_reason::tool_execution_error) : "",
                          none ? "none of the files could be read" : "");
}

coro::task<result<value>> write_one(tool_call call) {
    auto files = files_of(call, "write-file");
    if (!files) co_return std::move(files).error();
    std::string path = text_of(call, "path");
    const result<void> written =
        co_await (*files)->write(path, text_of(call, "content"), call.context);
    if (!written) co_return in_script(written.error(), "write-file");
    co_return lang::make_string(call.session.memory(), path);
}

coro::task<result<value>> list_one(tool_call call) {
    constexpr std::string_view name = "system:list_directory";
    auto files = files_of(call, name);
    if (!files) co_return std::move(files).error();
    const result<std::vector<std::string>> names =
        co_await (*files)->list(text_of(call, "path", "."), call.context);
    if (!names) co_return in_script(names.error(), name);
    lang::heap& memory = call.session.memory();
    value created = value::empty_list();
    for (const std::string& each : *names) {
        created = lang::list_push_back(memory, std::move(created), lang::make_string(memory, each));
    }
    co_return created;
}

[[nodiscard]] tool file_tool(std::string name, std::vector<std::string> aliases,
                             std::string description, std::string_view schema,
                             coro::task<result<value>> (*run)(tool_call)) {
    tool created;
    created.name = std::move(name);
    created.aliases = std::move(aliases);
    created.description = std::move(description);
    created.input_schema = schema;
    created.run = run;
    return created;
}

} // namespace

std::vector<tool> file_tools() {
    return {
        file_tool("read-file", {"system:read_file"}, "Reads a text file of the workspace",
                  read_schema, &read_one),
        file_tool("system:read_files", {},
                  "Reads several text files of the workspace into one text", read_all_schema,
                  &read_several),
        file_tool("write-file", {"system:write_file"},
                  "Replaces a text file of the workspace, or makes a new one; returns its path",
                  write_schema, &write_one),
        file_tool("system:list_directory", {},
                  "Lists the names in a directory of the workspace; directories end in /",
                  list_schema, &list_one),
    };
}

} // namespace heddle::tasks
