// Problems of a source text, for people and for editors.
#pragma once

#include "console.hpp"
#include "exit_code.hpp"

#include <heddle/base/error.hpp>
#include <heddle/base/source.hpp>
#include <heddle/lang/check.hpp>

#include <string>

namespace heddle::cli {

/// Writes an error of the reader or the compiler to standard error: kind, message, line, caret; or
/// one JSON object. Result: exit_code::usage.
[[nodiscard]] exit_code report_source_error(const error& failure, const source_map& sources,
                                            bool json, console& output);

/// A problem with its line, caret and hint, for standard output.
[[nodiscard]] std::string render_problem(const lang::problem& found, const source_map& sources,
                                         const console& output);

/// A problem as a JSON object in one line: file, line, column, end, severity, code, message, hint.
[[nodiscard]] std::string problem_as_json(const lang::problem& found, const source_map& sources);

} // namespace heddle::cli
