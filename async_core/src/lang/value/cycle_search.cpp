#include "cycle_search.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace heddle::lang {

namespace {

/// In entry::counted of an object on the path, beside the place among its references: it has met
/// one that was visited before it, and is not the first of its component.
constexpr std::uint32_t not_first = std::uint32_t{1} << 31;

} // namespace

bool cycle_search::step(std::size_t units) noexcept {
    constexpr auto most = std::numeric_limits<work_left>::max() / 2;
    const auto given = static_cast<work_left>(std::min(units, static_cast<std::size_t>(most)));
    left_ = given;
    ++steps_;
    while (!ended_ && left_ > 0) {
        try {
            run_phase();
        } catch (...) { // no memory for the table
            give_up();
        }
    }
    work_ += static_cast<std::uint64_t>(given - left_);
    return ended_;
}

void cycle_search::give_up() noexcept {
    given_up_ = true;
    phase_ = phase::forget;
}

void cycle_search::run_phase() {
    switch (phase_) {
    case phase::free_dead:
        // What is dead refers to others: garbage that it holds would not be found.
        if (!free_dead()) return;
        cells_left_ = memory_.cells_.size();
        grown_left_ = memory_.grown_count_;
        phase_ = phase::gather;
        return;
    case phase::gather: return gather();
    case phase::mark_alive: return mark_alive();
    case phase::order: return order();
    case phase::verify: return verify();
    case phase::count: return count();
    case phase::compare: return compare();
    case phase::empty: return empty();
    case phase::forget: return forget();
    }
}

/// Result: whether nothing is dead any more.
bool cycle_search::free_dead() {
    if (!memory_.has_dead()) return true;
    auto budget = static_cast<std::size_t>(left_);
    memory_.drain(budget);
    left_ = static_cast<work_left>(budget);
    return !memory_.has_dead();
}

/// Whether an object is in the table. One of another heap never is: its mark is for the search of
/// that heap.
bool cycle_search::is_known(const object* target) const noexcept {
    return (target->colour & object::searched) != 0 && target->owner == &memory_;
}

void cycle_search::know(object* target) {
    (void)table_.insert(target);
    target->colour |= object::searched;
}

void cycle_search::object_died(object* target) noexcept {
    table_.take_out(table_.find(target));
    target->colour &= static_cast<std::uint8_t>(~object::searched);
}

// ---------------------------------------------------------------- gather

/// Finds all that closers reach, and counts the references from there.
void cycle_search::gather() {
    // Backwards: what is removed from among the closers is replaced by the last of them, and what
    // is new comes behind it.
    cells_left_ = std::min(cells_left_, memory_.cells_.size());
    for (; cells_left_ != 0 && left_ > 0; --left_) add_closer(memory_.cells_[--cells_left_]);
    grown_left_ = std::min(grown_left_, memory_.grown_count_);
    for (; grown_left_ != 0 && left_ > 0; --left_)
        add_closer((*memory_.grown_)[static_cast<index>(--grown_left_)].target);
    for (; left_ > 0; ++next_, --left_) {
        if (next_ == table_.size()) {
            next_ = 0;
            phase_ = phase::mark_alive;
            return;
        }
        object* from = table_[next_].target;
        const auto note = [&](object* to) {
            if (to->owner != &memory_) return true;
            if (!is_known(to)) know(to);
            ++table_[table_.find(to)].counted;
            return true;
        };
        if (from && !visit_references(from, at_, left_, note)) return;
        at_ = 0;
    }
}

void cycle_search::add_closer(object* closer) {
    if (closer->references != 0 && !is_known(closer)) know(closer); // the dead are still among them
}

// ---------------------------------------------------------------- mark_alive

/// What is referenced from outside is alive, and so is all that it reaches. It leaves the table.
void cycle_search::mark_alive() {
    const auto mark = [&](index i) {
        table_[i].rank = 1;
        table_[i].link = std::exchange(alive_, i);
    };
    while (left_ > 0) {
        if (visited_ != none) {
            const work_left before = left_;
            object* from = table_[visited_].target;
            const auto reach = [&](object* to) {
                if (!is_known(to)) return true;
                if (const index i = table_.find(to); table_[i].rank == 0) mark(i);
                return true;
            };
            const bool done = !from || visit_references(from, at_, left_, reach);
            work_on_alive_ += static_cast<std::uint64_t>(before - left_);
            if (!done) return;
            if (from) {
                from->colour &= static_cast<std::uint8_t>(~object::searched);
                table_.take_out(visited_);
            }
            at_ = 0;
            visited_ = none;
        } else if (alive_ != none) {
            visited_ = alive_;
            alive_ = table_[visited_].link;
            ++work_on_alive_;
            --left_;
        } else if (next_ != table_.size()) {
            const entry& candidate = table_[next_];
            if (candidate.target && candidate.rank == 0 &&
                candidate.target->references > candidate.counted)
                mark(next_);
            ++next_;
            --left_;
        } else {
            next_ = 0;
            phase_ = phase::order;
            return;
        }
    }
}

// ---------------------------------------------------------------- order

/// Divides what is left into strongly connected components, and links them, those first that no
/// other one refers to: once these are freed, others are referenced only from inside, too.
void cycle_search::order() {
    while (left_ > 0) {
        if (path_ == none) {
            if (next_ == table_.size()) {
                phase_ = phase::verify;
                return;
            }
            const entry& candidate = table_[next_];
            if (candidate.target && candidate.rank == 0) visit_first(next_);
            if (++next_ % 16 == 0) --left_;
            continue;
        }
        entry& from = table_[path_];
        std::uint32_t at = from.counted & ~not_first;
        index unvisited = none;
        const auto reach = [&](object* to) {
            if (!is_known(to)) return true;
            const index i = table_.find(to);
            if (table_[i].rank == 0) {
                unvisited = i;
                return false;
            }
            if (table_[i].rank < from.rank) {
                from.rank = table_[i].rank;
                from.counted |= not_first;
            }
            return true;
        };
        const bool done = !from.target || visit_references(from.target, at, left_, reach);
        from.counted = at | (from.counted & not_first);
        if (unvisited != none) visit_first(unvisited);
        else if (done) leave_innermost();
    }
}

void cycle_search::visit_first(index first) noexcept {
    entry& begun = table_[first];
    begun.rank = next_rank_++;
    begun.counted = 0;
    begun.link = std::exchange(path_, first);
    --left_;
}

/// Unfinished where the step ends.
void cycle_search::leave_innermost() noexcept {
    const index left = path_;
    entry& innermost = table_[left];
    const index outer = innermost.link;
    if ((innermost.counted & not_first) != 0) {
        innermost.link = std::exchange(open_, left);
    } else {
        const auto complete = [&](index i) {
            table_[i].rank = next_component_;
            table_[i].counted = 0;
            table_[i].link = std::exchange(component_, i);
            --next_rank_;
        };
        for (; open_ != none && table_[open_].rank >= innermost.rank; --left_) {
            if (left_ <= 0) return;
            const index member = open_;
            open_ = table_[member].link;
            complete(member);
        }
        complete(left);
        --next_component_;
    }
    path_ = outer;
    if (path_ == none || innermost.rank >= table_[path_].rank) return;
    table_[path_].rank = innermost.rank;
    table_[path_].counted |= not_first;
}

// ---------------------------------------------------------------- verify

/// Takes up the next component.
void cycle_search::verify() {
    // What was emptied before holds references to this one as long as it is not freed.
    if (!free_dead()) return;
    if (component_ == none) {
        phase_ = phase::forget;
        return;
    }
    begin_count();
}

void cycle_search::begin_count() noexcept {
    member_ = component_;
    at_ = 0;
    verified_since_ = steps_;
    phase_ = phase::count;
}

/// Counts the references to a component from itself.
void cycle_search::count() {
    const std::uint32_t component = table_[component_].rank;
    const auto add = [&](object* to) {
        if (!is_known(to)) return true;
        if (entry& found = table_[table_.find(to)]; found.rank == component) ++found.counted;
        return true;
    };
    for (; member_ != none && table_[member_].rank == component; member_ = table_[member_].link) {
        if (left_ <= 0) return;
        object* from = table_[member_].target;
        if (from && !visit_references(from, at_, left_, add)) return;
        at_ = 0;
        --left_;
    }
    component_end_ = std::exchange(member_, component_);
    phase_ = phase::compare;
}

/// Whether there are no other ones.
void cycle_search::compare() {
    for (; member_ != component_end_; member_ = table_[member_].link) {
        if (left_ <= 0) return;
        --left_;
        const entry& each = table_[member_];
        if (each.target && each.target->references != each.counted) {
            component_ = component_end_;
            phase_ = phase::verify;
            return;
        }
    }
    if (verified_since_ == steps_) {
        phase_ = phase::empty;
        return;
    }
    // This took more than one step. A program that still holds some of the component could, between
    // two steps, take hold of another object whose references were counted, let go of the one whose
    // references were not, and assign the cell between them. Only a test at each assignment would
    // show that, so once more, and in one go: all of it is garbage, most probably.
    for (index i = component_; i != component_end_; i = table_[i].link) table_[i].counted = 0;
    constexpr work_left any = std::numeric_limits<work_left>::max();
    const work_left before = std::exchange(left_, any);
    begin_count();
    count();
    compare();
    left_ = before - (any - left_);
}

// ---------------------------------------------------------------- empty

/// Emptying the closers of a component opens every cycle, and counting does the rest. Nobody can
/// take hold of it any more, so this takes as many steps as it needs.
void cycle_search::empty() {
    while (component_ != component_end_) {
        if (left_ <= 0) return;
        const std::size_t live = memory_.live_;
        object* closer = table_[component_].target;
        const bool done = !closer || empty_closer(closer);
        left_ -= static_cast<work_left>(live - memory_.live_) + 1; // these were freed at once
        if (done) component_ = table_[component_].link;
    }
    phase_ = phase::verify;
}

/// The object may be freed with that. Result: whether it was emptied; else the step has ended.
bool cycle_search::empty_closer(object* closer) {
    if (closer->type == kind::cell) {
        const value content = std::move(static_cast<cell_object*>(closer)->content);
        return true;
    }
    if ((closer->colour & object::grown) == 0) return true;
    ++closer->references; // as long as this runs
    const value held = value::adopt(closer->type, closer);
    if (closer->type == kind::list) {
        auto* list = static_cast<list_object*>(closer);
        for (; list->begin != list->end && left_ > 0; --left_) {
            const value item = std::move(list->items()[list->begin++]);
        }
        return list->begin == list->end;
    }
    auto* map = static_cast<map_object*>(closer);
    for (; map->used != 0 && left_ > 0; --left_) {
        const map_entry item = std::move(map->entries()[--map->used]);
    }
    return map->used == 0;
}

// ---------------------------------------------------------------- forget

void cycle_search::forget() noexcept {
    for (; table_.size() != 0; table_.drop_last()) {
        if (left_ <= 0) return;
        object* target = table_[table_.size() - 1].target;
        if (target) target->colour &= static_cast<std::uint8_t>(~object::searched);
        if (target || table_.size() % 16 == 0) --left_;
    }
    ended_ = true;
}

} // namespace heddle::lang
