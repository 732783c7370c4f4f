// The settings of requests, besides model and prompt, that a task, `with` or the configuration
// sets.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/request_settings.hpp>
#include <heddle/ports/llm_port.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// The type of the value of a setting, by its lang::request_setting_kind.
namespace parameter_types {
using number = double;
using whole = std::int64_t;
using flag = bool;
using word = std::string;
using strings = std::vector<std::string>;
using parameters = std::vector<ports::extra_parameter>;
} // namespace parameter_types

/// One member for each of lang::request_settings(), declared by request_settings.def: temperature,
/// max_tokens, top_p and so on; nullopt: not set.
struct request_parameters {
#define HEDDLE_REQUEST_SETTING(name, written, kind, ...) std::optional<parameter_types::kind> name;
#include <heddle/lang/request_settings.def>
};

/// Sets one of them from its value as JSON text. Errors: invalid_argument, "must be …" without the
/// name.
[[nodiscard]] result<void> set_parameter(request_parameters& into,
                                         const lang::request_setting& setting,
                                         std::string_view json);
/// As set_parameter, for a value in a text that is not JSON, such as an XML element: a number, true
/// or false, a word; a list or an object as JSON. Errors: as set_parameter.
[[nodiscard]] result<void> set_parameter_from_text(request_parameters& into,
                                                   const lang::request_setting& setting,
                                                   std::string_view text);
/// The expected value of such a text, to follow "must be": as setting.expected, for a list or
/// object in terms of JSON.
[[nodiscard]] std::string expected_in_text(const lang::request_setting& setting);
/// Sets what `stronger` does not set from `weaker`; extra parameters by name.
void fill_absent(request_parameters& stronger, const request_parameters& weaker);
/// Applies the parameters to `request`, replacing its values.
void apply(const request_parameters& parameters, ports::chat_request& request);
/// As apply, only for what `request` does not set. A reasoning effort or budget of the request
/// excludes both of `parameters`.
void apply_absent(const request_parameters& parameters, ports::chat_request& request);
/// The parameters that are set, as one JSON object with the names of heddle.toml.
[[nodiscard]] std::string parameters_json(const request_parameters& parameters);

} // namespace heddle::tasks
