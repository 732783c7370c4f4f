// Inputs of a workflow: from the command line to the arguments of main.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/host/named_arguments.hpp>
#include <heddle/lang/heap.hpp>

#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

using host::named_inputs;

/// NAME=TEXT (literal text) or NAME:=JSON, each name once; `json` is the text of an object whose
/// members are inputs as well, with lower precedence. Errors: invalid_argument, one for all
/// mistakes.
[[nodiscard]] result<named_inputs> read_inputs(lang::heap& memory,
                                               const std::vector<std::string>& pairs,
                                               const std::optional<std::string>& json);

/// The arguments of a call of `callee` (a function of the language), by the names of its
/// parameters. An optional parameter that is omitted before another one is nil; a rest parameter
/// takes a list. Errors: invalid_argument naming the missing and the unknown inputs.
[[nodiscard]] result<std::vector<lang::value>> bind_inputs(const lang::value& callee,
                                                           const named_inputs& inputs);

} // namespace heddle::cli
