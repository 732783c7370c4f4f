#include "stub_harness.hpp"

#include "notation.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>

#include <algorithm>

namespace heddle::conformance {

namespace {

namespace json = boost::json;

[[nodiscard]] std::string text_or(const json::object& from, const char* key,
                                  const char* otherwise) {
    const json::value* found = from.if_contains(key);
    return found ? found->as_string().c_str() : otherwise;
}

class stub_tool final : public lang::host_object {
public:
    explicit stub_tool(std::string name) : name_(std::move(name)) {}
    [[nodiscard]] std::string_view type_name() const noexcept override { return "tool"; }
    [[nodiscard]] bool callable() const noexcept override { return true; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
    std::string name_;
};

/// A task of a case as the task system knows it.
[[nodiscard]] tasks::task_template declare(const json::object& one) {
    tasks::task_template declared;
    declared.name = text_or(one, "name", "");
    declared.instructions = text_or(one, "instructions", "x");
    declared.system = text_or(one, "system", "");
    if (const json::value* output = one.if_contains("output_format")) {
        const json::object& format = output->as_object();
        declared.output.json = text_or(format, "type", "text") == "json";
        if (const json::value* schema = format.if_contains("schema")) {
            declared.output.schema = schema->is_string() ? std::string(schema->as_string().c_str())
                                                         : json::serialize(*schema);
        }
    }
    const json::value* params = one.if_contains("params");
    if (!params) return declared;
    declared.declares_inputs = true;
    for (const json::value& param : params->as_array()) {
        tasks::task_input input;
        input.name = param.as_string().c_str();
        // None is required unless a placeholder needs it.
        const std::string written = "{{" + input.name + "}}";
        input.optional = declared.instructions.find(written) == std::string::npos &&
                         declared.system.find(written) == std::string::npos;
        declared.inputs.push_back(std::move(input));
    }
    return declared;
}

coro::task<result<lang::value>> ready(result<lang::value> ended) { co_return ended; }

} // namespace

void reply_list::set(const json::array& replies) {
    for (const json::value& reply : replies) replies_.push_back(reply.as_object());
}

const json::object* reply_list::next() {
    if (replies_.empty()) return nullptr;
    const std::size_t at = std::min(at_++, replies_.size() - 1);
    return &replies_[at];
}

coro::task<result<ports::chat_response>> stub_llm::complete(const ports::chat_request& request,
                                                            coro::call_context) {
    recorded_call call = std::move(next_call);
    call.model = request.model;
    for (const ports::chat_message& message : request.messages) {
        if (message.role == ports::chat_role::system) call.system = message.text;
        if (message.role == ports::chat_role::user) call.prompt = message.text;
    }
    record->push_back(std::move(call));
    ports::chat_response response;
    response.text = std::move(next_text);
    co_return response;
}

coro::task<result<ports::chat_response>> stub_llm::stream(const ports::chat_request& request,
                                                          ports::chat_delta_sink,
                                                          coro::call_context context) {
    return complete(request, context);
}

stub_memory::stub_memory(const json::object& one_case) {
    if (const auto* prepared = one_case.if_contains("memory")) responses_.set(prepared->as_array());
}

coro::task<result<ports::memory_response>> stub_memory::relevant_files(
    ports::memory_request request, coro::call_context) {
    json::object asked{{"query", request.query}};
    const auto put = [&](const char* key, const std::optional<std::string>& text) {
        if (text) asked[key] = *text;
    };
    put("history", request.history);
    put("inherited_context", request.inherited_context);
    put("previous_outputs", request.previous_outputs);
    put("template_description", request.template_description);
    if (request.strategy) asked["matching_strategy"] = ports::to_string(*request.strategy);
    if (request.limit) asked["limit"] = *request.limit;
    if (request.inputs) {
        json::object inputs;
        for (const ports::memory_input& input : *request.inputs) inputs[input.name] = input.text;
        asked["inputs"] = json::object{{"map", inputs}};
    }
    recorded_call call;
    call.kind = "memory";
    call.inputs = to_value(*heap, json::object{{"map", asked}});
    record->push_back(std::move(call));
    ports::memory_response response;
    if (const json::object* reply = responses_.next()) {
        if (reply->contains("error")) response.error = text_or(*reply, "error", "");
        if (const json::value* paths = reply->if_contains("paths")) {
            for (const json::value& path : paths->as_array()) {
                response.matches.emplace_back().path = path.as_string().c_str();
            }
        }
    }
    co_return response;
}

stub_harness::stub_harness(host::session& session, tasks::task_system_parts parts, stub_llm& llm,
                           stub_memory& memory, const json::object& one_case)
    : session_tasks(session, std::move(parts)), llm_(llm) {
    llm_.record = &record;
    memory.record = &record;
    memory.heap = &session.memory();
    if (const auto* declared = one_case.if_contains("tasks")) add_tasks(declared->as_array());
    if (const auto* declared = one_case.if_contains("tools")) add_tools(declared->as_array());
    if (const auto* defined = one_case.if_contains("defined_replies")) {
        for (const auto& [name, replies] : defined->as_object()) {
            replies_[std::string(name.data(), name.size())].set(replies.as_array());
        }
    }
}

void stub_harness::add_tasks(const json::array& declared) {
    for (const json::value& one : declared) {
        tasks::task_template definition = declare(one.as_object());
        if (const json::value* replies = one.as_object().if_contains("replies")) {
            replies_[definition.name].set(replies->as_array());
        }
        if (const auto added = add(std::move(definition)); !added)
            trouble = added.error().message();
    }
}

void stub_harness::add_tools(const json::array& declared) {
    for (const json::value& one : declared) {
        const std::string name = text_or(one.as_object(), "name", "");
        tools_[name] = lang::make_host(session().memory(), std::make_unique<stub_tool>(name));
        if (const json::value* replies = one.as_object().if_contains("replies")) {
            replies_[name].set(replies->as_array());
        }
    }
}

std::optional<lang::operator_info> stub_harness::find(lang::heap& memory,
                                                      std::string_view name) const {
    if (auto task = session_tasks::find(memory, name)) return task;
    const auto found = tools_.find(name);
    if (found == tools_.end()) return std::nullopt;
    lang::operator_info info;
    info.callable = found->second;
    info.is_tool = true;
    return info;
}

std::optional<lang::operator_info> stub_harness::describe(const lang::host_object& callable) const {
    if (!dynamic_cast<const stub_tool*>(&callable)) return session_tasks::describe(callable);
    lang::operator_info info;
    info.is_tool = true;
    return info;
}

/// The settings that a call gave, as the recording has them; nil when it gave none.
lang::value stub_harness::context_value(const tasks::context_management& given) {
    if (given.empty()) return {};
    lang::heap& memory = session().memory();
    lang::value result = lang::value::empty_map();
    const auto put = [&](std::string_view key, std::string_view text) {
        result = lang::map_put(memory, std::move(result), key, lang::make_string(memory, text));
    };
    if (given.inherit_context) {
        static constexpr std::string_view modes[] = {"full", "subset", "none"};
        put("inherit_context", modes[static_cast<std::size_t>(*given.inherit_context)]);
    }
    if (given.accumulate_data) {
        result = lang::map_put(memory, std::move(result), "accumulate_data",
                               lang::value::boolean(*given.accumulate_data));
    }
    if (given.accumulation_format) {
        const bool notes = *given.accumulation_format == tasks::accumulation::notes_only;
        put("accumulation_format", notes ? "notes_only" : "full_output");
    }
    if (given.fresh_context) put("fresh_context", *given.fresh_context ? "enabled" : "disabled");
    return result;
}

std::optional<result<lang::value>> stub_harness::failure(const json::object& reply) {
    if (reply.contains("raise")) {
        return error(lang::errc::evaluation, text_or(reply, "raise", ""));
    }
    if (text_or(reply, "status", "COMPLETE") != "FAILED") return std::nullopt;
    const json::object members{{"status", "FAILED"},
                               {"content", text_or(reply, "content", "")},
                               {"notes",
                                {{"error",
                                  {{"type", "TASK_FAILURE"},
                                   {"reason", text_or(reply, "reason", "")},
                                   {"message", text_or(reply, "content", "")}}}}}};
    return to_value(session().memory(), members);
}

coro::task<result<lang::value>> stub_harness::execute(tasks::task_call call) {
    return answer(std::move(call));
}

coro::task<result<lang::value>> stub_harness::answer(tasks::task_call call) {
    recorded_call recorded;
    recorded.kind = "task";
    recorded.name = call.task->declared.name;
    recorded.inputs = lang::value::empty_map();
    for (const tasks::bound_input& input : call.inputs) {
        if (!input.given) continue;
        recorded.inputs = lang::map_put(session().memory(), std::move(recorded.inputs), input.name,
                                        input.content);
    }
    if (call.overrides) {
        recorded.files = call.overrides->files;
        recorded.context = context_value(call.overrides->context);
    }
    const json::object* reply = replies_[recorded.name].next();
    if (reply) {
        if (auto failed = failure(*reply)) {
            record.push_back(std::move(recorded));
            co_return *std::move(failed);
        }
    }
    // From here to the stub's response nothing waits, so no other call comes between.
    llm_.next_text = reply ? text_or(*reply, "content", "") : "";
    llm_.next_call = std::move(recorded);
    result<lang::value> ended = co_await session_tasks::execute(std::move(call));
    co_return ended;
}

coro::task<result<lang::value>> stub_harness::call(host::effect_call call) {
    const auto* tool = lang::host_as<stub_tool>(call.request.callee);
    if (!tool) return session_tasks::call(std::move(call));
    return ready(call_tool(tool->name(), std::move(call)));
}

result<lang::value> stub_harness::call_tool(std::string name, host::effect_call call) {
    recorded_call recorded;
    recorded.kind = "tool";
    recorded.name = name;
    recorded.inputs = lang::value::empty_map();
    // The shapes of `files` and `context` are those of a task's, so the task system checks them.
    tasks::task_template shape;
    shape.name = name;
    auto bound = tasks::bind_call(session().memory(), tasks::compile_task(shape).value(), call);
    if (!bound) return std::move(bound).error();
    for (const tasks::bound_input& input : bound->inputs) {
        recorded.inputs = lang::map_put(session().memory(), std::move(recorded.inputs), input.name,
                                        input.content);
    }
    if (const tasks::call_overrides* set = bound->overrides.get()) {
        if (!set->files.is_nil()) {
            recorded.inputs =
                lang::map_put(session().memory(), std::move(recorded.inputs), "files", set->files);
        }
        if (!set->context.empty()) {
            recorded.inputs = lang::map_put(session().memory(), std::move(recorded.inputs),
                                            "context", context_value(set->context));
        }
    }
    record.push_back(std::move(recorded));
    const json::object* reply = replies_[name].next();
    if (reply) {
        if (auto failed = failure(*reply)) return *std::move(failed);
    }
    const json::object done{{"status", "COMPLETE"},
                            {"content", reply ? text_or(*reply, "content", "") : ""},
                            {"notes", json::object()}};
    return to_value(session().memory(), done);
}

} // namespace heddle::conformance
