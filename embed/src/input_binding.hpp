// From the input of a call to the arguments of a function.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/host/session.hpp>

#include <string>
#include <vector>

namespace heddle::embed {

/// The function of this name. Errors: runtime_errc::no_function, with what the program defines.
[[nodiscard]] result<lang::value> find_function(host::session& session,
                                                const std::string& function);

/// The arguments of `callee`, from the input of a call as a value. Errors: runtime_errc::bad_input.
[[nodiscard]] result<std::vector<lang::value>> bind_input(const lang::value& callee,
                                                          const std::string& function,
                                                          const lang::value& input);

/// For an input that is not a value of the language, whatever limit it breaks: what the host passes
/// is at fault.
[[nodiscard]] error refused_input(const std::string& function, const error& why);

} // namespace heddle::embed
