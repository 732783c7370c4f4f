// What the fields of an instruction mean, read from ops.def: for what looks at code without running
// it.
#pragma once

#include <heddle/lang/code.hpp>

#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace heddle::lang {

struct op_description {
    std::string_view name;
    std::string_view first;  ///< letters of the operands in the first word
    std::string_view second; ///< of those in the second word; empty when there is none
    std::string_view result; ///< see ops.def

    constexpr op_description(std::string_view opcode, std::string_view operands,
                             std::string_view effect)
        : name(opcode), first(operands.substr(0, operands.find('W'))), result(effect) {
        if (first.size() == operands.size()) return;
        second = operands.substr(first.size() + 2, operands.size() - first.size() - 3); // W(…)
    }

    [[nodiscard]] std::size_t words() const noexcept { return second.empty() ? 1 : 2; }
    /// Whether no register refers to an object because of the instruction.
    [[nodiscard]] bool leaves_nothing() const noexcept { return result[0] == '0'; }
    /// Whether any register may; otherwise only the first one does.
    [[nodiscard]] bool may_leave_any() const noexcept { return result[0] == '*'; }
    /// Whether the first register is written and not read.
    [[nodiscard]] bool overwrites_first() const noexcept { return has('w'); }
    /// Whether it calls, or is a safe point wherever it jumps to.
    [[nodiscard]] bool may_stop() const noexcept { return has('s'); }
    /// Whether the instruction after it is reached by jumps only.
    [[nodiscard]] bool ends_path() const noexcept { return has('e'); }

private:
    [[nodiscard]] bool has(char letter) const noexcept {
        return result.find(letter) != std::string_view::npos;
    }
};

inline constexpr op_description op_table[] = {
#define HEDDLE_OP(name, operands, result) {#name, operands, result},
#include <heddle/lang/ops.def>
#undef HEDDLE_OP
};

/// Number of opcodes: a byte from here on is none.
inline constexpr std::size_t op_count = std::size(op_table);

[[nodiscard]] inline const op_description& describe(op code) noexcept {
    return op_table[static_cast<std::uint8_t>(code)];
}

/// The index of the instruction that the one at `at` may jump to: outside the code, or a second
/// word, only before verify.
[[nodiscard]] inline std::optional<std::size_t> jump_target(const function& code,
                                                            std::size_t at) noexcept {
    const op_description& known = describe(code.code[at].code);
    if (!(known.second.empty() ? known.first : known.second).ends_with('J')) return std::nullopt;
    const std::size_t next = at + known.words();
    return next + static_cast<std::size_t>(std::int64_t{code.code[next - 1].d});
}

/// Registers in a row that an instruction uses.
struct register_range {
    std::size_t first = 0;
    std::size_t count = 0;
    bool overwritten = false; ///< what they held is not read
};

struct operand {
    char letter;          ///< see ops.def
    std::int64_t content; ///< an index, a count, a number or the target of a jump
    register_range used;  ///< what it names or counts
};

/// Calls visit(operand) for the operands of the instruction at `at`.
template <class Visit>
void for_each_operand(const function& code, std::size_t at, Visit visit) {
    const op_description& known = describe(code.code[at].code);
    bool overwritten = known.overwrites_first();
    const auto word = [&](const instruction& now, std::string_view letters) {
        const std::uint16_t fields[] = {now.a, now.b, now.c};
        for (std::size_t k = 0; k < letters.size(); ++k) {
            operand each{letters[k], fields[k], {}};
            switch (each.letter) {
            case '-': continue;
            case 'R': each.used = {fields[k], 1, std::exchange(overwritten, false)}; break;
            case 'N': each.used = {fields[k - 1], fields[k]}; break;
            case 'A': each.used = {fields[k - 1] + std::size_t{1}, fields[k]}; break;
            case 'i': each.content = static_cast<std::int16_t>(fields[k]); break;
            case 'J': each.content = static_cast<std::int64_t>(*jump_target(code, at)); break;
            case 'K':
            case 'G':
            case 'I':
            case 'F': each.content = now.d; break;
            default: break;
            }
            visit(each);
        }
    };
    word(code.code[at], known.first);
    if (!known.second.empty()) word(code.code[at + 1], known.second);
}

/// Calls visit(range) for the registers that an operand names, counts or, as a nested function,
/// captures: that function must exist.
template <class Visit>
void for_each_range(const function& code, const operand& of, Visit visit) {
    if (of.used.count != 0) visit(of.used);
    if (of.letter != 'F') return;
    for (const capture& each : code.functions[static_cast<std::size_t>(of.content)]->captures)
        if (each.where == capture::from::local) visit(register_range{each.index, 1});
}

/// Calls visit(range) for all registers of the instruction at `at`: first for the one that it
/// overwrites, if any, then for those that it reads.
template <class Visit>
void for_each_range(const function& code, std::size_t at, Visit visit) {
    for_each_operand(code, at, [&](const operand& each) { for_each_range(code, each, visit); });
}

} // namespace heddle::lang
