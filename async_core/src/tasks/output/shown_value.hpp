// Values in messages.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/printer.hpp>

#include <string>
#include <string_view>

namespace heddle::tasks {

/// The beginning of the written form, for a message about a wrong value.
[[nodiscard]] inline std::string shown_value(const lang::value& given) {
    lang::print_options options;
    options.max_bytes = 80;
    return lang::print_value(given, options);
}

/// What a tool replies to a clause that is not what it must be: `wanted`, such as "a string".
[[nodiscard]] inline error wrong_value(std::string_view tool, std::string_view clause,
                                       std::string_view wanted, const lang::value& given) {
    return error(lang::errc::evaluation, std::string(tool) + ": " + std::string(clause) +
                                             " must be " + std::string(wanted) + ", not " +
                                             shown_value(given));
}

} // namespace heddle::tasks
