// From named inputs to the arguments of a function.
#pragma once

#include <heddle/lang/value.hpp>

#include <string>
#include <utility>
#include <vector>

namespace heddle::host {

using named_inputs = std::vector<std::pair<std::string, lang::value>>;

/// Inputs as arguments, or what is wrong with them. The host words the error.
struct bound_arguments {
    std::vector<lang::value> arguments; ///< meaningless unless ok()
    std::vector<std::string> missing;   ///< required parameters without an input
    std::vector<std::string> unknown;   ///< inputs that are not parameters
    std::string not_a_list;             ///< the rest parameter, if its input is not a list

    [[nodiscard]] bool ok() const noexcept {
        return missing.empty() && unknown.empty() && not_a_list.empty();
    }
};

/// Binds inputs to the parameters of `callee`, a function of the language, by their names. An
/// optional parameter that is omitted before another one is nil; a rest parameter takes a list.
[[nodiscard]] bound_arguments bind_by_name(const lang::value& callee, const named_inputs& inputs);

} // namespace heddle::host
