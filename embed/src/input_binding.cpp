#include "input_binding.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/failure.hpp>
#include <heddle/host/named_arguments.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/lang/text.hpp>

#include <span>

namespace heddle::embed {

namespace {

using lang::value;

constexpr std::size_t max_names = 20; ///< in an error
constexpr std::size_t max_name_bytes = 100;

error no_function(host::session& session, const std::string& function) {
    lang::realm& realm = session.realm();
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < realm.global_count(); ++i) {
        if (!realm.is_prelude_global(i) && realm.global(i).is(lang::kind::closure))
            names.emplace_back(realm.global_name(i));
    }
    std::string hint = lang::suggest_names(function, names);
    if (hint.empty() && !names.empty() && names.size() <= max_names)
        hint = "its functions are: " + ascii::join(names, ", ");
    return error(runtime_errc::no_function, "the program defines no function '" + function + "'")
        .with_hint(std::move(hint));
}

/// Members of an input are as many, and as long, as a client likes.
std::string shown(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i == max_names) return text + " and " + std::to_string(names.size() - i) + " others";
        if (i != 0) text += ", ";
        text += utf8::shortened(names[i], max_name_bytes);
    }
    return text;
}

error bad_input(const std::string& function, const std::vector<std::string>& parameters,
                std::string what) {
    return error(runtime_errc::bad_input, function + ": " + std::move(what))
        .with_hint(parameters.empty() ? "it has no parameters"
                                      : "its parameters are: " + ascii::join(parameters, ", "));
}

result<std::vector<value>> bind_members(const value& callee, const std::string& function,
                                        const value& members) {
    host::named_inputs named;
    const auto entries = lang::map_entries(members);
    named.reserve(entries.size());
    for (const lang::map_entry& each : entries)
        named.emplace_back(lang::string_bytes(each.key), each.item);
    host::bound_arguments bound = host::bind_by_name(callee, named);
    if (bound.ok()) return std::move(bound.arguments);
    const std::vector<std::string>& parameters = lang::closure_of(callee)->code->parameter_names;
    if (!bound.not_a_list.empty())
        return bad_input(function, parameters, bound.not_a_list + " must be an array");
    std::string what;
    if (!bound.missing.empty()) what = "needs " + ascii::join(bound.missing, ", ");
    if (!bound.unknown.empty()) {
        if (!what.empty()) what += "; ";
        what += "has no parameter " + shown(bound.unknown);
    }
    return bad_input(function, parameters, std::move(what));
}

result<std::vector<value>> bind_positions(const lang::function& code, const std::string& function,
                                          std::span<const value> given) {
    const std::size_t count = given.size();
    const std::size_t most = std::size_t{code.required} + code.optional;
    if (count < code.required || (count > most && !code.has_rest)) {
        std::string wanted = std::to_string(code.required);
        if (code.has_rest) wanted = "at least " + wanted;
        else if (code.optional != 0) wanted += " to " + std::to_string(most);
        return bad_input(function, code.parameter_names,
                         "takes " + wanted + (wanted == "1" ? " argument" : " arguments") +
                             ", not " + std::to_string(count));
    }
    return std::vector<value>(given.begin(), given.end());
}

} // namespace

result<value> find_function(host::session& session, const std::string& function) {
    lang::realm& realm = session.realm();
    const auto index = realm.find_program_global(function);
    if (!index || !realm.global(*index).is(lang::kind::closure))
        return no_function(session, function);
    return realm.global(*index);
}

result<std::vector<value>> bind_input(const value& callee, const std::string& function,
                                      const value& input) {
    const lang::function& code = *lang::closure_of(callee)->code;
    const bool takes_whole = code.parameter_names.size() == 1 &&
                             code.parameter_names.front() == "input" && !code.has_rest;
    if (!takes_whole && input.is(lang::kind::map)) return bind_members(callee, function, input);
    if (!takes_whole && input.is(lang::kind::list))
        return bind_positions(code, function, lang::list_items(input));
    const std::size_t count = !takes_whole && input.is_nil() ? 0 : 1;
    return bind_positions(code, function, {&input, count});
}

error refused_input(const std::string& function, const error& why) {
    return {runtime_errc::bad_input, function + ": " + why.message()};
}

} // namespace heddle::embed
