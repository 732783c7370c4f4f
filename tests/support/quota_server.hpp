// Services with quotas as real servers on 127.0.0.1.
#pragma once

#include "limit_cases.hpp"

#include <memory>
#include <string>
#include <vector>

namespace heddle::testing {

/// One server for each case that is added, all on one thread. Destruction closes everything and
/// joins.
class quota_servers {
public:
    quota_servers();
    ~quota_servers();
    quota_servers(const quota_servers&) = delete;
    quota_servers& operator=(const quota_servers&) = delete;

    /// Begins to listen; returns the base URL of the service. `of` outlives this.
    [[nodiscard]] std::string add(const limit_case& of);
    /// Stops all of them. Then what the service of a base URL saw; times from its first request.
    void stop();
    [[nodiscard]] const limit_case_log& log_of(const std::string& base_url) const;

private:
    class impl;
    std::unique_ptr<impl> impl_;
};

/// Runs the cases side by side against such servers, in real time: as long as the slowest may take.
[[nodiscard]] std::vector<limit_case_figures> run_cases_over_sockets(
    const std::vector<limit_case>& cases);

} // namespace heddle::testing
