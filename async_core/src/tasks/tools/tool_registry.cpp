#include <heddle/tasks/tools/tool_registry.hpp>

#include "tasks/call/call_settings.hpp"
#include "tasks/output/in_turns.hpp"
#include "tasks/output/message_json.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/json_parser.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/output/task_result.hpp>

#include <boost/json/array.hpp>
#include <boost/json/error.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <algorithm>

namespace heddle::tasks {

namespace {

namespace json = boost::json;

[[nodiscard]] error unfit(const tool& declared, std::string what) {
    return error(heddle::errc::invalid_argument, "tool '" + declared.name + "': " + what);
}

/// The clauses out of the schema's properties.
[[nodiscard]] result<void> read_clauses(registered_tool& registered) {
    const tool& declared = registered.declared;
    if (declared.input_schema.empty()) {
        registered.open = true;
        return {};
    }
    auto schema = output_schema::compile(declared.input_schema);
    if (!schema) return unfit(declared, "its input schema: " + schema.error().message());
    registered.schema = *std::move(schema);
    boost::system::error_code unreadable;
    const json::value read =
        parse_json(declared.input_schema, unreadable, output_schema::max_json_depth);
    const json::object* top = unreadable ? nullptr : read.if_object();
    const json::value* type = top ? top->if_contains("type") : nullptr;
    if (!type || *type != json::value("object")) {
        return unfit(declared, "its input schema must describe an object")
            .with_hint(R"(write {"type": "object", "properties": {…}})");
    }
    if (const json::value* properties = top->if_contains("properties")) {
        for (const auto& [name, property] : properties->as_object()) {
            registered.clauses.emplace_back(name.data(), name.size());
        }
    }
    if (const json::value* required = top->if_contains("required")) {
        for (const json::value& name : required->as_array()) {
            registered.required.emplace_back(name.as_string().data(), name.as_string().size());
        }
    }
    const json::value* more = top->if_contains("additionalProperties");
    registered.open = more && *more != json::value(false);
    return {};
}

[[nodiscard]] error malformed(const registered_tool& one, std::string what, source_span span) {
    return error(lang::errc::evaluation, one.declared.name + ": " + std::move(what))
        .with_span(span);
}

[[nodiscard]] std::string clauses_hint(const registered_tool& one, std::string_view name) {
    std::string hint = name.empty() ? std::string() : lang::suggest_names(name, one.clauses);
    if (!hint.empty()) return hint;
    return one.clauses.empty() ? "it takes no clauses"
                               : "its clauses: " + ascii::join(one.clauses, ", ");
}

/// The clauses as a map. What calls functions (a phase of a loop, map) calls tools too: then the
/// arguments are the inputs in their order.
[[nodiscard]] result<lang::value> bind_clauses(const registered_tool& one, lang::heap& memory,
                                               lang::effect_request request) {
    lang::value created = lang::value::empty_map();
    const bool by_clause = request.names.is(lang::kind::list);
    if (!by_clause && request.arguments.size() > one.clauses.size()) {
        return malformed(one,
                         "takes " + std::to_string(one.clauses.size()) +
                             (one.clauses.size() == 1 ? " input" : " inputs") + ", not " +
                             std::to_string(request.arguments.size()),
                         request.span)
            .with_hint(clauses_hint(one, {}));
    }
    for (std::size_t i = 0; i < request.arguments.size(); ++i) {
        const std::string_view name =
            by_clause ? lang::symbol_name(lang::list_items(request.names)[i]) : one.clauses[i];
        const bool known =
            std::find(one.clauses.begin(), one.clauses.end(), name) != one.clauses.end();
        if (!known && !one.open) {
            return malformed(one, "there is no clause '" + std::string(name) + "'", request.span)
                .with_hint(clauses_hint(one, name));
        }
        if (lang::map_find(created, name)) {
            return malformed(one, "the clause '" + std::string(name) + "' is given twice",
                             request.span);
        }
        created = lang::map_put(memory, std::move(created), name, std::move(request.arguments[i]));
    }
    std::vector<std::string> missing;
    for (const std::string& name : one.required) {
        if (!lang::map_find(created, name)) missing.push_back(name);
    }
    if (!missing.empty()) {
        return malformed(one, "needs the clause " + ascii::join(missing, ", "), request.span)
            .with_hint("write (" + one.declared.name + " (" + missing.front() + " …))");
    }
    return created;
}

/// Meaningless when `work` stops.
[[nodiscard]] result<void> check_values(const registered_tool& one, lang::heap& memory,
                                        const lang::value& inputs, source_span span,
                                        lang::work_meter& work) {
    if (one.declared.check_values || one.schema.accepts_all()) return {};
    auto written = message_json(inputs);
    if (!written) return malformed(one, written.error().message(), span);
    // Read back, so that symbols are the strings that they are in JSON.
    lang::json_read_options options;
    options.work = &work;
    auto plain = lang::json_to_value(memory, *written, options);
    if (!plain) return malformed(one, plain.error().message(), span);
    if (const auto wrong = one.schema.check(*plain, *written, "its input", work)) {
        return malformed(one, wrong->message, span);
    }
    return {};
}

/// A call of a tool that computes its result (lang::immediate_call). `one` outlives it.
[[nodiscard]] lang::value compute(const registered_tool& one, lang::native_call& call,
                                  std::span<lang::value> arguments) {
    lang::effect_request request;
    request.names = arguments[0];
    request.arguments.assign(arguments.begin() + 1, arguments.end());
    auto inputs = bind_clauses(one, call.memory(), std::move(request));
    if (!inputs) return call.fail(std::move(inputs).error());
    const auto fits = check_values(one, call.memory(), *inputs, {}, call.work());
    if (call.work().stopped()) return {};
    if (!fits) return call.fail(fits.error());
    auto computed = one.declared.compute(call.memory(), *inputs);
    if (!computed) return call.fail(std::move(computed).error());
    return *std::move(computed);
}

/// (with ((on-failure 'raise)) …) around the call.
[[nodiscard]] bool raises_failures(const lang::scope_ref& scope) {
    return read_call_settings(*scope).raise_failures;
}

} // namespace

std::size_t footprint(const registered_tool& one) noexcept {
    // Measured: each property is compiled to a separate schema, with its tables.
    constexpr std::size_t of_a_tool = 3072;
    constexpr std::size_t of_a_property = 2048;
    const tool& declared = one.declared;
    return of_a_tool + 2 * (declared.name.size() + declared.description.size()) +
           8 * declared.input_schema.size() + of_a_property * one.clauses.size();
}

result<void> tool_registry::add(lang::heap& memory, tool declared) {
    if (declared.name.empty()) {
        return error(heddle::errc::invalid_argument, "a tool has no name");
    }
    if (!declared.run) return unfit(declared, "it has no coroutine");
    auto object = std::make_shared<registered_tool>();
    object->declared = std::move(declared);
    HEDDLE_CHECK(read_clauses(*object));
    if (object->declared.compute) {
        lang::immediate_call& code = object->at_once.emplace();
        code.row.name = object->declared.name;
        code.row.max_arguments = lang::builtin::any_number;
        code.run = [one = object.get()](lang::native_call& call, std::span<lang::value> arguments) {
            return compute(*one, call, arguments);
        };
    }
    const lang::value callable =
        lang::make_host(memory, std::make_unique<tool_callable>(memory, object));
    if (by_name_.use_count() != 1) by_name_ = std::make_shared<name_map>(*by_name_);
    for (const std::string& alias : object->declared.aliases) {
        by_name_->insert_or_assign(alias, callable);
    }
    by_name_->insert_or_assign(object->declared.name, callable);
    return {};
}

lang::operator_info tool_registry::describe(const registered_tool& one) {
    lang::operator_info info;
    info.is_tool = !one.declared.by_position; // the language calls it as a task then
    info.declares_inputs = !one.open;
    info.inputs = one.clauses;
    info.name = one.declared.name;
    info.aliases = one.declared.aliases;
    return info;
}

std::optional<lang::operator_info> tool_registry::find(std::string_view name) const {
    const auto found = by_name_->find(name);
    if (found == by_name_->end()) return std::nullopt;
    lang::operator_info info = describe(*lang::host_as<tool_callable>(found->second)->get());
    info.callable = found->second;
    return info;
}

void tool_registry::collect_names(std::vector<std::string>& names) const {
    for (const auto& [name, callable] : *by_name_) names.push_back(name);
}

coro::task<result<lang::value>> call_tool(std::shared_ptr<const registered_tool> one,
                                          host::effect_call call) {
    const source_span span = call.request.span;
    auto inputs = bind_clauses(*one, call.session.memory(), std::move(call.request));
    if (!inputs) co_return std::move(inputs).error();
    result<void> fits;
    lang::metered_work check = [&](lang::work_meter& work) {
        fits = check_values(*one, call.session.memory(), *inputs, span, work);
    };
    if (!lang::done_in_a_turn(check)) {
        result<void> checked = co_await run_in_turns(call.session, std::move(check), call.context);
        if (!checked) co_return std::move(checked).error();
    }
    if (!fits) co_return std::move(fits).error();
    const bool raises = raises_failures(call.scope);
    tool_call tool{call.session, *std::move(inputs), std::move(call.scope), call.context, span};
    result<lang::value> ended = co_await one->declared.run(std::move(tool));
    if (!ended) co_return std::move(ended).error().with_span(span);
    if (raises && is_failed_result(*ended)) {
        co_return task_error_of(*ended).with_span(span).with_trace("in tool " + one->declared.name,
                                                                   span);
    }
    co_return ended;
}

} // namespace heddle::tasks
