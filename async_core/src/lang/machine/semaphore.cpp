#include "semaphore.hpp"

#include "future.hpp"

#include <algorithm>
#include <vector>

namespace heddle::lang {

namespace {

constexpr std::size_t most_looked_at = 1000; ///< branches, in the search for holders

} // namespace

bool semaphore::never_free_for(const branch_place& branch, const dynamic_scope& scope) const {
    std::size_t held = 0;
    for (const auto& [who, permits] : holders_) held += permits;
    if (held < limit()) return false; // one is being handed over
    struct waiting_branch {
        branch_place place;
        const future* spawned; ///< the innermost one that it is part of
    };
    std::vector<waiting_branch> waiting{{branch, scope.spawned.get()}};
    std::vector<holder> keys;
    for (std::size_t k = 0; k < waiting.size(); ++k) {
        const auto [place, spawned] = waiting[k];
        const holder key = key_of(place);
        if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
        if (keys.size() == most_looked_at) return false;
        keys.push_back(key);
        const auto* group = static_cast<const join*>(host_of(place.group));
        if (!group) continue;
        if (!group->of_futures()) {
            waiting.push_back({group->outer(), spawned});
        } else if (spawned) {
            for (const fiber* each : spawned->waiters())
                waiting.push_back({place_of(*each), each->scope()->spawned.get()});
        }
    }
    return std::all_of(holders_.begin(), holders_.end(), [&](const auto& each) {
        return std::find(keys.begin(), keys.end(), each.first) != keys.end();
    });
}

} // namespace heddle::lang
