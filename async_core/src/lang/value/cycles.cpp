// When garbage cycles are searched for.
#include "cycle_search.hpp"

#include <heddle/lang/heap.hpp>
#include <heddle/lang/objects.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace heddle::lang {

namespace {

/// Whether the storage behind a value holds references, as far as that is seen at a glance.
[[nodiscard]] bool leads_on(const value& v) {
    constexpr std::size_t glance = 16;
    if (v.is(kind::list)) {
        const auto* list = static_cast<const list_object*>(v.target());
        return list->end - list->begin > glance ||
               std::any_of(list->items() + list->begin, list->items() + list->end,
                           may_hold_references);
    }
    if (v.is(kind::map)) {
        const auto* map = static_cast<const map_object*>(v.target());
        return map->used > glance ||
               std::any_of(map->entries(), map->entries() + map->used,
                           [&](const map_entry& each) { return may_hold_references(each.item); });
    }
    return true;
}

constexpr std::size_t bytes_of_a_mark = object_table::bytes_of_an_object;

// What a search has to do for what is made meanwhile: else a program could make garbage faster than
// one search after the other finds it, and ever more of it. An object that is garbage takes some
// six units, and so does a reference to it: a cell and a closure, 96 bytes, which refer to each
// other, some 24.
constexpr std::size_t bytes_of_a_unit = 2;
constexpr std::size_t units_of_a_closer = 16;
/// Units in each turn in any case.
constexpr std::size_t min_searched = 512;
/// Turns that a search may be behind before what has waited has to wait for it, too.
constexpr std::size_t max_turns_behind = 64;
/// Closers that may be made without a turn.
constexpr std::size_t max_without_turn = 100'000;

} // namespace

void heap::note_shared_growth(object* storage, const value& item) {
    if (item.target() != storage && !leads_on(item)) return;
    if (!grown_) grown_ = std::make_unique<object_table>();
    (void)grown_->insert(storage);
    ++grown_count_;
    storage->colour |= object::grown;
    charge(bytes_of_a_mark);
    ++closers_made_;
    if (closers() >= search_at_) on_many_closers();
}

void heap::forget_growth(object* storage) noexcept {
    grown_->remove(storage);
    --grown_count_;
    discharge(bytes_of_a_mark);
}

void heap::on_many_closers() noexcept {
    if (!search_) return begin_search();
    search_at_ = closers() + max_without_turn;
    if (closers_made_ - closers_noted_ < max_without_turn) return;
    // No driver runs the turns of the search.
    note_made();
    continue_search(std::exchange(owed_, 0));
}

void heap::begin_search() noexcept {
    if (search_ || collecting_ || draining_ || !owned_) return;
    search_for_room_ = false;
    try {
        search_ = std::make_unique<cycle_search>(*this);
    } catch (const std::bad_alloc&) { // the next time
        search_at_ = closers() + std::max(min_added, closers());
        return;
    }
    search_at_ = closers() + max_without_turn;
    closers_made_ = closers_noted_ = 0;
    used_noted_ = used_;
    owed_ = 0;
}

/// Reckons the work that is owed for what was made since the last time.
void heap::note_made() noexcept {
    if (used_ > used_noted_) owed_ += (used_ - used_noted_) / bytes_of_a_unit;
    owed_ += (closers_made_ - closers_noted_) * units_of_a_closer;
    used_noted_ = used_;
    closers_noted_ = closers_made_;
}

void heap::work_in_turn() noexcept {
    if (search_) note_made();
    release_dead(freed_in_a_turn);
    if (!search_) return;
    const std::size_t units = std::clamp(owed_, min_searched, searched_in_a_turn);
    owed_ -= std::min(owed_, units);
    continue_search(units);
    used_noted_ = used_; // what the search frees makes up for nothing
}

void heap::continue_search(std::size_t units) noexcept {
    if (!search_ || collecting_ || draining_) return;
    collecting_ = true;
    const bool ended = search_->step(units);
    collecting_ = false;
    if (ended) end_search();
}

void heap::end_search() noexcept {
    // The next one when closers have doubled, and when as many were made as what stays had to be
    // looked at: that is what the next one looks at again. Garbage is looked at once, so it pays
    // for itself.
    const std::size_t seen = closers() - std::min(closers(), closers_made_);
    const std::size_t work = search_->given_up() ? closers() : search_->work_on_alive() / 4;
    search_at_ = closers() + std::max({min_added, seen, work});
    // What was made during the search may be garbage that a program at its limit needs back. Of a
    // search for that it has made nothing.
    used_after_ = search_for_room_ || closers_made_ == 0 ? used_ : 0;
    search_.reset();
}

void heap::collect_cycles() noexcept {
    if (collecting_ || draining_) return;
    release_dead(SIZE_MAX);
    if (search_) { // of what has become garbage since it began it finds nothing
        search_->give_up();
        continue_search(SIZE_MAX);
    }
    if (closers() == 0) return;
    begin_search();
    if (!search_) return;
    continue_search(SIZE_MAX);
    release_dead(SIZE_MAX);
    used_after_ = used_;
}

/// A program at its limit asks often: what it has allocated since must pay for looking again.
bool heap::may_have_garbage() const noexcept {
    return closers_made_ != 0 && used_ >= used_after_ && used_ - used_after_ >= limit_ / 16;
}

void heap::begin_search_for_room() noexcept {
    if (!search_ && may_have_garbage()) {
        begin_search();
        search_for_room_ = true;
    }
}

bool heap::search_comes_first(bool woken) noexcept {
    if (over_limit() && !has_dead()) {
        begin_search_for_room();
        if (search_) {
            owed_ = std::max(owed_, searched_in_a_turn);
            // What has waited goes on as long as that takes little.
            return !woken || used_ - limit_ > limit_ / 16;
        }
    }
    return search_ && owed_ > (woken ? max_turns_behind : 1) * searched_in_a_turn;
}

bool heap::limit_used_up() noexcept {
    if (!over_limit()) return false;
    if (has_dead()) {
        // As much as a slice can make, and more: the next safe point goes on where this one ends.
        release_dead(2 * freed_in_a_turn);
        if (!over_limit() || has_dead()) return false;
    }
    begin_search_for_room();
    if (!search_) return true;
    continue_search(2 * searched_in_a_turn);
    return false;
}

bool heap::make_room(std::size_t bytes) noexcept {
    if (can_allocate(bytes)) return true;
    if (bytes <= limit_ && (search_ || may_have_garbage())) {
        collect_cycles();
        if (can_allocate(bytes)) return true;
    }
    refused_ = bytes;
    return false;
}

} // namespace heddle::lang
