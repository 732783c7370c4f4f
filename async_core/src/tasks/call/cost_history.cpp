#include "tasks/call/cost_history.hpp"

#include <cmath>

namespace heddle::tasks {

void cost_history::add(std::string_view kind, double usd) {
    auto found = kinds_.find(kind);
    if (found == kinds_.end()) {
        if (kinds_.size() == max_kinds) kinds_.clear();
        found = kinds_.emplace(kind, figures{}).first;
    }
    figures& known = found->second;
    ++known.count;
    const double before = usd - known.mean;
    known.mean += before / static_cast<double>(known.count);
    known.squares += before * (usd - known.mean);
}

cost_estimate cost_history::estimate(std::string_view kind, const cost_estimate& first) const {
    const auto found = kinds_.find(kind);
    if (found == kinds_.end()) return first;
    const figures& known = found->second;
    // One figure does not show how far the next may be from it.
    const double deviation = known.count < 2
                                 ? known.mean / 2
                                 : std::sqrt(known.squares / static_cast<double>(known.count - 1));
    return {known.mean, known.mean + 2 * deviation, false, true, known.count};
}

} // namespace heddle::tasks
