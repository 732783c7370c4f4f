// All problems of files of task templates.
#pragma once

#include <heddle/base/diagnostic.hpp>
#include <heddle/base/error.hpp>
#include <heddle/base/source.hpp>
#include <heddle/lang/check.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace heddle::tasks {

/// The violations that a load of templates found, in the order of their positions, with the texts.
/// May be the payload of an error. Immutable once it is returned; threads: any.
///
/// Codes are listed in docs/reference/templates.md.
class template_report final : public error_payload {
public:
    std::vector<lang::problem> problems;
    source_map sources;

    [[nodiscard]] std::size_t errors() const noexcept;
    [[nodiscard]] std::size_t warnings() const noexcept;

    /// Each problem with its line and a caret, then a line with their number; empty if there are
    /// none.
    [[nodiscard]] std::string text(const diagnostic_style& style = {}) const;
    /// `{"errors": n, "warnings": n, "problems": [{file, line, column, end, severity, code,
    /// message, hint}]}`
    [[nodiscard]] std::string json() const;
};

} // namespace heddle::tasks
