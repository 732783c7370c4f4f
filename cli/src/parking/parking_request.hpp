// How a run parks requests.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace heddle::cli {

struct parking_request {
    std::string folder;      ///< of the run
    bool parks = false;      ///< also the requests of tasks that leave it open
    bool has_parked = false; ///< earlier processes have parked requests
    bool waits = false;      ///< until batches have ended
    /// What a batch has not performed is submitted again, also where nothing else is.
    bool submits_again = false;
    bool quiet = false;                                ///< people read only what went wrong
    std::optional<std::chrono::milliseconds> interval; ///< between looks at the batches
    /// For how long a batch is looked for whose submission was not acknowledged.
    std::optional<std::chrono::milliseconds> settling;
};

} // namespace heddle::cli
