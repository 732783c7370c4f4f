// From the input of a call to the arguments of a function.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/host/session.hpp>
#include <heddle/json.hpp>

#include <string>
#include <vector>

namespace heddle::embed {

struct bound_input {
    lang::value callee;
    std::vector<lang::value> arguments;
};

/// Errors: runtime_errc::no_function, with what the program defines; runtime_errc::bad_input.
[[nodiscard]] result<bound_input> bind_input(host::session& session, const std::string& function,
                                             const json& input);

} // namespace heddle::embed
