// Data to code.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/realm.hpp>

#include <span>
#include <string>

namespace heddle::lang {

/// Compiles a program: the forms run in order, the value of the last is the result (nil for none).
/// Names are resolved, special forms checked, and nothing is run.
/// Errors: SexpEvaluationError naming the form, with span. Depth: forms nested deeper than what the
/// native stack holds are compiled on a larger stack of their own; reader limits apply.
[[nodiscard]] result<function_ref> compile(realm& world, std::span<const datum> forms);

/// Checks code from outside (a file, a snapshot, the fuzzer): every operand in range, every jump on
/// an instruction. Code from compile() always passes.
[[nodiscard]] result<void> verify(const function& code);

/// Human-readable listing, nested functions included.
[[nodiscard]] std::string disassemble(const function& code, const source_map& sources);

} // namespace heddle::lang
