// The columns without which no row can run.
#pragma once

#include <heddle/base/error.hpp>

#include <string>
#include <vector>

namespace heddle::cli {

/// Names only, so that any thread can look at columns.
struct needed_columns {
    std::vector<std::string> of_main;   ///< required parameters that have no other value
    std::vector<std::string> of_filter; ///< variables of --where

    /// Errors: invalid_argument naming a column that is missing, with those that are there.
    [[nodiscard]] result<void> look(const std::vector<std::string>& columns) const;
};

} // namespace heddle::cli
