// Data to code.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/realm.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace heddle::lang {

/// Compiles a program: the forms run in order, the value of the last is the result (nil for none).
/// Names are resolved, special forms checked, and nothing is run.
/// Errors: SexpEvaluationError naming the form, with span. Depth: forms nested too deeply for the
/// native stack are compiled on a larger one; the limits of the reader apply.
[[nodiscard]] result<function_ref> compile(realm& realm, std::span<const datum> forms);

/// Checks code: every operand in range and of its kind, every jump on an instruction, no path off
/// the end. Code from compile() always passes (the tests verify that); code from outside (a
/// snapshot) must be checked before it runs. `globals`: number of globals in the realm.
/// Errors: invalid_argument, with the function, the instruction and the reason.
[[nodiscard]] result<void> verify(const function& code, std::size_t globals);

/// True when a list with that name at its head is a special form, whatever the name is bound to.
[[nodiscard]] bool is_special_form(std::string_view name) noexcept;

/// Human-readable listing, nested functions included: index, opcode, operands, constants, places.
[[nodiscard]] std::string disassemble(const function& code, realm& realm);

} // namespace heddle::lang
