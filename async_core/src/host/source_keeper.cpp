#include "source_keeper.hpp"

#include <heddle/lang/objects.hpp>

#include <algorithm>
#include <utility>

namespace heddle::host {

namespace {

/// What a function and those inside it keep alive elsewhere.
struct traces {
    bool code = false;  ///< a closure calls one of them
    bool lists = false; ///< they hold lists, which know their places, for quoted data
};

traces traces_of(const lang::function& code) {
    traces found;
    std::vector<const lang::function*> work{&code};
    while (!work.empty() && !found.code) {
        const lang::function& next = *work.back();
        work.pop_back();
        found.code = next.references != 1;
        found.lists = found.lists || std::any_of(next.constants.begin(), next.constants.end(),
                                                 [](const lang::value& constant) {
                                                     return constant.is(lang::kind::list);
                                                 });
        work.insert(work.end(), next.functions.begin(), next.functions.end());
    }
    return found;
}

} // namespace

void source_keeper::evaluated(std::uint32_t position, lang::function_ref code, bool failed) {
    if (code && !failed) {
        const traces left = traces_of(*code);
        if (!left.code && !left.lists) {
            sources_.drop_last(position);
            return;
        }
    }
    kept_.push_back({position, std::move(code)});
}

bool source_keeper::sweep_in_turns() {
    if (kept_.size() < sweep_at_) return searching_ = false;
    if (!std::exchange(searching_, true))
        memory_.begin_search(); // functions that only refer to each other
    memory_.release_dead(lang::heap::freed_in_a_turn);
    memory_.continue_search(lang::heap::searched_in_a_turn);
    if (memory_.search() || memory_.has_dead()) return true;
    searching_ = false;
    sweep();
    return false;
}

/// The work is paid for by the evaluations since the last time.
void source_keeper::sweep() {
    const auto recent = kept_.end() - static_cast<std::ptrdiff_t>(always_kept);
    const auto unused = [&](const kept& each) {
        if (each.code && traces_of(*each.code).code) return false;
        sources_.drop_last(each.position);
        return true;
    };
    kept_.erase(std::remove_if(kept_.begin(), recent, unused), recent);
    sweep_at_ = 2 * kept_.size() + 16 * always_kept;
}

} // namespace heddle::host
