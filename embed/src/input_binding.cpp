#include "input_binding.hpp"

#include "json_values.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/failure.hpp>
#include <heddle/host/named_arguments.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/realm.hpp>

namespace heddle::embed {

namespace {

using lang::value;

constexpr std::size_t max_names = 20; ///< in a hint

error no_function(host::session& session, const std::string& function) {
    lang::realm& realm = session.realm();
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < realm.global_count(); ++i) {
        if (!realm.is_library_global(i) && realm.global(i).is(lang::kind::closure))
            names.emplace_back(realm.global_name(i));
    }
    std::string hint = lang::suggest_names(function, names);
    if (hint.empty() && !names.empty() && names.size() <= max_names)
        hint = "its functions are: " + ascii::join(names, ", ");
    return error(runtime_errc::no_function, "the program defines no function '" + function + "'")
        .with_hint(std::move(hint));
}

error bad_input(const std::string& function, const std::vector<std::string>& parameters,
                std::string what) {
    return error(runtime_errc::bad_input, function + ": " + std::move(what))
        .with_hint(parameters.empty() ? "it has no parameters"
                                      : "its parameters are: " + ascii::join(parameters, ", "));
}

result<std::vector<value>> bind_members(lang::heap& memory, const value& callee,
                                        const std::string& function, const json::object& members) {
    host::named_inputs named;
    named.reserve(members.size());
    for (const json_member& each : members) {
        HEDDLE_TRY(value item, to_value(memory, each.value));
        named.emplace_back(each.name, std::move(item));
    }
    host::bound_arguments bound = host::bind_by_name(callee, named);
    if (bound.ok()) return std::move(bound.arguments);
    const std::vector<std::string>& parameters = lang::closure_of(callee)->code->parameter_names;
    if (!bound.not_a_list.empty())
        return bad_input(function, parameters, bound.not_a_list + " must be an array");
    std::string what;
    if (!bound.missing.empty()) what = "needs " + ascii::join(bound.missing, ", ");
    if (!bound.unknown.empty()) {
        if (!what.empty()) what += "; ";
        what += "has no parameter " + ascii::join(bound.unknown, ", ");
    }
    return bad_input(function, parameters, std::move(what));
}

result<std::vector<value>> bind_positions(lang::heap& memory, const lang::function& code,
                                          const std::string& function, const json* first,
                                          std::size_t count) {
    const std::size_t most = std::size_t{code.required} + code.optional;
    if (count < code.required || (count > most && !code.has_rest)) {
        std::string wanted = std::to_string(code.required);
        if (code.has_rest) wanted = "at least " + wanted;
        else if (code.optional != 0) wanted += " to " + std::to_string(most);
        return bad_input(function, code.parameter_names,
                         "takes " + wanted + (wanted == "1" ? " argument" : " arguments") +
                             ", not " + std::to_string(count));
    }
    std::vector<value> arguments;
    arguments.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        HEDDLE_TRY(value item, to_value(memory, first[i]));
        arguments.push_back(std::move(item));
    }
    return arguments;
}

result<std::vector<value>> bind_any(lang::heap& memory, const value& callee,
                                    const std::string& function, const json& input) {
    const lang::function& code = *lang::closure_of(callee)->code;
    const bool takes_whole = code.parameter_names.size() == 1 &&
                             code.parameter_names.front() == "input" && !code.has_rest;
    if (takes_whole) return bind_positions(memory, code, function, &input, 1);
    if (const auto* members = input.get_if<json::object>())
        return bind_members(memory, callee, function, *members);
    if (const auto* items = input.get_if<json::array>())
        return bind_positions(memory, code, function, items->data(), items->size());
    return bind_positions(memory, code, function, &input, input.is_null() ? 0 : 1);
}

} // namespace

result<bound_input> bind_input(host::session& session, const std::string& function,
                               const json& input) {
    lang::realm& realm = session.realm();
    const auto index = realm.find_program_global(function);
    if (!index || !realm.global(*index).is(lang::kind::closure))
        return no_function(session, function);
    bound_input bound;
    bound.callee = realm.global(*index);
    auto arguments = bind_any(session.memory(), bound.callee, function, input);
    if (!arguments) {
        // What the host passes is at fault, whatever limit it breaks.
        error failure = std::move(arguments).error();
        if (failure.code().category() == runtime_category()) return failure;
        return error(runtime_errc::bad_input, function + ": " + failure.message());
    }
    bound.arguments = *std::move(arguments);
    return bound;
}

} // namespace heddle::embed
