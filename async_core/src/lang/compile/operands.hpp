// What the fields of each opcode mean, read from ops.def.
#pragma once

#include <heddle/lang/code.hpp>

#include <string_view>

namespace heddle::lang {

struct op_description {
    std::string_view name;
    std::string_view operands; ///< letters of a, b, c, then the second word's in W(…)
    std::string_view result;   ///< "0", "1" or "*", then "w" or "e", see ops.def

    /// Whether no register refers to an object because of the instruction.
    [[nodiscard]] bool leaves_nothing() const noexcept { return result[0] == '0'; }
    /// Whether any register may; otherwise only the first one does.
    [[nodiscard]] bool may_leave_any() const noexcept { return result[0] == '*'; }
    /// Whether the first register is written and not read.
    [[nodiscard]] bool overwrites_first() const noexcept { return result.ends_with('w'); }
    /// Whether the instruction after it is reached by jumps only.
    [[nodiscard]] bool ends_path() const noexcept { return result.ends_with('e'); }
};

[[nodiscard]] inline op_description describe(op code) noexcept {
    static constexpr op_description table[] = {
#define HEDDLE_OP(name, operands, result) {#name, operands, result},
#include <heddle/lang/ops.def>
#undef HEDDLE_OP
    };
    return table[static_cast<std::uint8_t>(code)];
}

/// Number of opcodes: a byte from here on is none.
inline constexpr std::size_t op_count = [] {
    std::size_t count = 0;
#define HEDDLE_OP(name, operands, result) ++count;
#include <heddle/lang/ops.def>
#undef HEDDLE_OP
    return count;
}();

/// The letters before the second word.
[[nodiscard]] inline std::string_view first_word(std::string_view operands) noexcept {
    return operands.substr(0, operands.find('W'));
}

/// The letters of the second word; empty when there is none.
[[nodiscard]] inline std::string_view second_word(std::string_view operands) noexcept {
    const std::size_t at = operands.find('W');
    if (at == std::string_view::npos) return {};
    return operands.substr(at + 2, operands.size() - at - 3);
}

/// True when the second of `letters` is a 32-bit field that lies over b and c.
[[nodiscard]] inline bool is_wide(std::string_view letters) noexcept {
    return letters.size() == 2 && (letters[1] == 'K' || letters[1] == 'G' || letters[1] == 'J' ||
                                   letters[1] == 'F' || letters[1] == 'I');
}

} // namespace heddle::lang
