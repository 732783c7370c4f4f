// Rows and columns of text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heddle::cli {

/// A table with a line of headings; columns that contain only numbers are right-aligned. Any text
/// is made printable, in one line (utf8::printable_line).
class table {
public:
    /// The index of the column with that heading, which is added if it does not exist.
    std::size_t column(std::string_view heading);
    /// A row: cells in the order of the columns, missing ones at its end are empty.
    void add(std::vector<std::string> cells);

    [[nodiscard]] const std::vector<std::string>& columns() const noexcept { return columns_; }

    /// At most `width` columns of a terminal wide if that is possible: the widest columns are cut,
    /// but to no less than 8. 0: nothing is cut, and cells wider than 200 exceed their column.
    [[nodiscard]] std::string text(unsigned width) const;
    /// As above; nothing if the padded rows have more than `max_padded` characters.
    [[nodiscard]] std::optional<std::string> text(unsigned width, std::size_t max_padded) const;

private:
    [[nodiscard]] std::vector<std::size_t> widths(unsigned limit) const;
    [[nodiscard]] bool is_numeric(std::size_t column) const;
    [[nodiscard]] std::string_view cell(const std::vector<std::string>& row,
                                        std::size_t column) const {
        return column < row.size() ? std::string_view(row[column]) : std::string_view();
    }

    std::vector<std::string> columns_;
    std::unordered_map<std::string, std::size_t> indexes_; ///< of the columns
    std::vector<std::vector<std::string>> rows_;
};

} // namespace heddle::cli
