// `heddle runs export`.
#pragma once

#include "console.hpp"
#include "exit_code.hpp"

#include <string>

namespace heddle::cli {

struct export_request {
    std::string run;
    std::string file = "-";
    std::string status = "all"; ///< done, failed, rejected, all
    bool force = false;
    bool json = false;
};
/// Results as the journal has them.
[[nodiscard]] exit_code export_run(const export_request& asked, console& output);

} // namespace heddle::cli
