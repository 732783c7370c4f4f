// A service as a row has found it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace heddle::cli {

/// A service that a row has asked in this process, and whether its last request got a response.
struct service_contact {
    std::string service;
    bool answered = false;
    bool answered_before = false; ///< an earlier request of the row got one
};

/// Whether one of them was down.
[[nodiscard]] inline bool has_outage(const std::vector<service_contact>& contacts) noexcept {
    return std::any_of(contacts.begin(), contacts.end(),
                       [](const service_contact& each) { return !each.answered; });
}

} // namespace heddle::cli
