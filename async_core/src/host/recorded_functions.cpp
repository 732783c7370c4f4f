#include "recorded_functions.hpp"

#include "step_path.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::host {

using ports::digest128;

void recorded_functions::add(const ports::step_record& record, std::size_t at) {
    if (record.kind != ports::step_kind::nested) return;
    if (record.content.is_zero()) by_path_.emplace(record.path, at);
    else by_step_.emplace(record.content, at);
}

void recorded_functions::clear() noexcept {
    by_step_.clear();
    by_path_.clear();
}

std::vector<std::size_t> recorded_functions::of(const digest128& step) const {
    std::vector<std::size_t> found;
    const auto [first, last] = by_step_.equal_range(step);
    for (auto each = first; each != last; ++each) found.push_back(each->second);
    for (std::uint64_t n = 0;; ++n) {
        const auto numbered = by_path_.find(step_path::inside(step, step_path::part::nested, n));
        if (numbered == by_path_.end()) break;
        found.push_back(numbered->second);
    }
    std::sort(found.begin(), found.end());
    return found;
}

bool recorded_functions::any(const digest128& step) const {
    return by_step_.contains(step) || are_numbered(step);
}

bool recorded_functions::are_numbered(const digest128& step) const {
    return by_path_.contains(step_path::inside(step, step_path::part::nested, 0));
}

} // namespace heddle::host
