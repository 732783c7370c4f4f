#include "batch/row_changes.hpp"

#include <algorithm>

namespace heddle::cli {

/// Steps of several branches may have the same path.
void row_changes::add(const plan_log& first, const plan_log& altered, bool has_ended) {
    const auto has = [](const plan_log::steps& steps, const plan_log::steps::value_type& step) {
        const auto found = steps.find(step.first);
        return found != steps.end() && found->second == step.second;
    };
    std::map<std::string, std::uint64_t> more;
    for (const auto& step : first.known()) {
        // A row that has not come to its end may have come to the step.
        const bool may_ask = has(altered.asked(), step) || !has_ended;
        if (is_call(step.second) && !has(altered.known(), step) && may_ask) changed_.insert(step);
    }
    for (const auto& [path, name] : changed_) ++more[name];
    for (const auto& step : altered.asked()) {
        if (!is_call(step.second) || has(first.asked(), step) || has(first.known(), step)) continue;
        makes_others_ = true;
        ++more[step.second];
    }
    for (const auto& [name, count] : more) {
        std::uint64_t& most = most_[name];
        most = std::max(most, count);
    }
}

} // namespace heddle::cli
