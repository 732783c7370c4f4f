#include "step_ways.hpp"

#include "step_path.hpp"

#include <array>
#include <utility>
#include <vector>

namespace heddle::host {

using ports::digest128;

step_ways::step_ways(std::uint64_t evaluation) noexcept
    : root_(step_path::inside({}, step_path::part::root, evaluation)) {}

digest128 step_ways::path_of(const lang::branch_place& branch, std::uint32_t ordinal) const {
    return step_path::inside(way_to(branch), step_path::part::step, ordinal);
}

digest128 step_ways::path_of_part(std::uint64_t number) const noexcept {
    return step_path::inside(root_, step_path::part::nested, number);
}

digest128 step_ways::way_to(const lang::branch_place& branch) const {
    // Outwards to the first group whose way is known, and from there back inwards.
    std::vector<lang::branch_place> inwards;
    lang::branch_place at = branch;
    digest128 way;
    for (;;) {
        auto* group = lang::host_as<lang::branch_group>(at.group);
        if (!group) {
            const auto known = fibers_.find(at.slot);
            way = known != fibers_.end() ? known->second : root_;
            break;
        }
        const lang::branch_place outer = group->outer();
        inwards.push_back(std::move(at));
        if (group->way != std::array<std::uint64_t, 2>{}) break;
        at = outer;
    }
    for (; !inwards.empty(); inwards.pop_back()) {
        auto& group = *lang::host_as<lang::branch_group>(inwards.back().group);
        if (group.way == std::array<std::uint64_t, 2>{}) {
            way = step_path::inside(way, step_path::part::group, group.ordinal());
            group.way = {way.high, way.low};
        }
        way = step_path::inside({group.way[0], group.way[1]}, step_path::part::branch,
                                inwards.back().slot);
    }
    return way;
}

void step_ways::note_fiber(std::uint32_t number, const digest128& path) {
    fibers_.insert_or_assign(number, path);
}

} // namespace heddle::host
