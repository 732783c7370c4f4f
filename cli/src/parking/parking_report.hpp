// The batches of a run, for listings.
#pragma once

#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/store/run_parking.hpp>

#include <boost/json/array.hpp>

#include <string>
#include <vector>

namespace heddle::cli {

/// Reads what is parked in the run of a folder. Errors: io_error.
struct parking_report {
    std::vector<store::parked_batch> batches;
    store::parking_sums sums;

    [[nodiscard]] static coro::task<result<parking_report>> read(std::string folder,
                                                                 coro::call_context context);
    /// Lines for people; empty: nothing was ever parked.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] boost::json::array json() const;
};

} // namespace heddle::cli
