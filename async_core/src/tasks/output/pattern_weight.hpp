// What compiling a regular expression may take, before it is compiled.
#pragma once

#include <string_view>

namespace heddle::tasks {

/// Looks at the text of a pattern once. The figures are somewhat too high rather than too low, also
/// for text that is not a pattern. Real numbers: nested repetitions make large ones.
struct pattern_weight {
    double instructions = 0; ///< of its program
    double squares = 0;      ///< steps that grow with the square of repetitions

    [[nodiscard]] static pattern_weight of(std::string_view pattern);
    /// In units of a meter.
    [[nodiscard]] double units() const noexcept;
};

} // namespace heddle::tasks
