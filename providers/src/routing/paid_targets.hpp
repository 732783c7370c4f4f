// The cost of targets of a route whose response is not used.
#pragma once

#include "routing/target_request.hpp"

#include <heddle/providers/routing/route.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace heddle::providers {

/// Records of those from `first` on who was asked, unless a route within this one has done so.
inline void sign_lost(std::vector<ports::lost_request>& lost, std::size_t first,
                      const route_target& target) {
    for (std::size_t i = first; i < lost.size(); ++i) {
        if (lost[i].provider.empty()) {
            lost[i].provider = target.provider->provider_name();
            lost[i].asked_model = target.model;
        }
        if (lost[i].model.empty()) lost[i].model = target.model;
    }
}

/// Adds the requests of a target that failed.
inline void add_lost_of(std::vector<ports::lost_request>& lost, const error& failure,
                        const route_target& target) {
    const std::size_t first = lost.size();
    ports::add_lost(lost, failure);
    sign_lost(lost, first, target);
}

/// The failure of a target, as the failure of the route: its requests are that target's. The last
/// one stays the request under way, which counts with more than its input although nothing has
/// arrived.
[[nodiscard]] inline error signed_failure(error failure, const route_target& target) {
    if (ports::is_unpaid(failure) && ports::lost_with(failure).empty()) return failure;
    const auto* before = dynamic_cast<const ports::partial_response*>(failure.info().payload.get());
    auto object = before ? std::make_shared<ports::partial_response>(*before)
                         : std::make_shared<ports::partial_response>(ports::begun_response());
    sign_lost(object->so_far.lost, 0, target);
    if (!ports::is_unpaid(failure)) {
        sign(object->so_far, target);
        if (object->so_far.model.empty()) object->so_far.model = target.model;
    }
    return std::move(failure).with_payload(std::move(object));
}

/// A response, with the requests that went before it or beside it.
inline void put_lost(ports::chat_response& response, const std::vector<ports::lost_request>& lost) {
    response.lost.insert(response.lost.begin(), lost.begin(), lost.end());
}

} // namespace heddle::providers
