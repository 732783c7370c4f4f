#include <heddle/lang/map_progress.hpp>

#include "join.hpp"

#include <vector>

namespace heddle::lang {

namespace {

constexpr std::size_t max_fibers = 10'000; ///< a look takes less than a millisecond

/// A group stays in its register when it is over.
bool goes_on(const join& group) {
    return group.living() != 0 || (!group.stopping() && group.ended() < group.slots());
}

} // namespace

map_progress outermost_maps(const fiber& main) {
    map_progress sum;
    std::vector<const fiber*> pending{&main};
    for (std::size_t at = 0; at < pending.size(); ++at) {
        const join* outermost = nullptr;
        for (const join* each = pending[at]->opened_; each; each = each->opened_before()) {
            if (each->is_map() && goes_on(*each)) outermost = each;
        }
        if (outermost) {
            sum.total += outermost->slots();
            sum.ended += outermost->ended();
            sum.failed += outermost->failed();
        }
        // The groups that were opened before it are around it.
        const join* around = outermost ? outermost->opened_before() : pending[at]->opened_;
        for (; around; around = around->opened_before()) {
            for (const fiber* child : around->children()) {
                if (pending.size() < max_fibers) pending.push_back(child);
            }
        }
    }
    return sum;
}

} // namespace heddle::lang
