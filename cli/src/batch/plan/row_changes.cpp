#include "batch/plan/row_changes.hpp"

#include <algorithm>

namespace heddle::cli {

/// Steps of several branches may have the same path.
void row_changes::add(const plan_log& first, const plan_log& altered, bool has_ended) {
    const auto has = [](const plan_log::steps& steps, const plan_log::steps::value_type& step) {
        const auto found = steps.find(step.first);
        return found != steps.end() && found->second == step.second;
    };
    using counts = std::map<std::string, std::uint64_t>;
    counts more; // of this execution: a call whose path it shifts is counted once
    for (const auto& step : first.known()) {
        // A row that has not come to its end may have come to the step.
        const bool may_ask = has(altered.asked(), step) || !has_ended;
        if (!is_call(step.second) || has(altered.known(), step) || !may_ask) continue;
        changed_.insert(step);
        ++more[step.second];
    }
    for (const auto& step : altered.asked()) {
        if (!is_call(step.second) || has(first.asked(), step) || has(first.known(), step)) continue;
        makes_others_ = true;
        ++more[step.second];
    }
    counts of_all; // responses may differ as in several executions at once
    for (const auto& [path, name] : changed_) ++of_all[name];
    for (const counts& each : {more, of_all}) {
        for (const auto& [name, count] : each) most_[name] = std::max(most_[name], count);
    }
}

} // namespace heddle::cli
