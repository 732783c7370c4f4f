// From a row to the arguments of main.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/value.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// Columns bind to the parameters of main by name. A main whose only parameter is `row` takes the
/// row as a map.
struct row_binding {
    std::vector<std::string> inputs; ///< NAME=VALUE for all rows; a column of that name wins
    bool strict = false;             ///< a column that main does not take is an error
    std::string id_column;           ///< names the row, so main need not take it

    /// Looks at `inputs` before there is a row. Errors: invalid_argument naming the ones that main
    /// does not take, or that were given twice.
    [[nodiscard]] result<void> check_inputs(host::session& session, const lang::value& main) const;
    /// The required parameters of main that `inputs` leaves to the columns.
    [[nodiscard]] std::vector<std::string> needed_columns(host::session& session,
                                                          const lang::value& main) const;
    /// Errors: invalid_argument naming columns that are missing or unknown, with a hint.
    [[nodiscard]] result<std::vector<lang::value>> bind(host::session& session,
                                                        const lang::value& main,
                                                        std::string_view row_json) const;
};

} // namespace heddle::cli
