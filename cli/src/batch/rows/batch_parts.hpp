// What all that executes rows of a batch needs.
#pragma once

#include "application.hpp"
#include "batch/request/batch_request.hpp"
#include "batch/rows/needed_columns.hpp"
#include "batch/rows/row_binding.hpp"
#include "batch/rows/row_filter.hpp"
#include "batch/rows/row_sessions.hpp"

namespace heddle::cli {

/// Outlives what is made of it.
struct batch_parts {
    application& tools;
    const batch_request& asked;
    const row_binding& binding;
    row_sessions& sessions;
    row_filter* filter = nullptr; ///< null: all rows are a part of the run
    const needed_columns& columns;
};

} // namespace heddle::cli
