// Garbage cycles. Values are immutable, so a cycle is closed by a cell (a captured variable that
// was assigned), or by storage that grows in place while an older version of the same list or map
// is part of what is added. Trial deletion therefore starts from these and nowhere else.
#include <heddle/lang/heap.hpp>
#include <heddle/lang/objects.hpp>

#include <algorithm>
#include <new>
#include <unordered_map>
#include <vector>

namespace heddle::lang {

namespace {

template <class Visit>
class reference_visitor final : public host_object::value_visitor {
public:
    explicit reference_visitor(Visit& visit) : visit_(visit) {}
    void visit(const value& held) override {
        if (object* next = held.target()) visit_(next);
    }

private:
    Visit& visit_;
};

/// Calls visit(object*) for every reference that `target` holds.
template <class Visit>
void for_each_reference(object* target, Visit visit) {
    switch (target->type) {
    case kind::list: {
        auto* list = static_cast<list_object*>(target);
        for (std::uint32_t i = list->begin; i < list->end; ++i) {
            if (object* next = list->items()[i].target()) visit(next);
        }
        break;
    }
    case kind::map: {
        auto* map = static_cast<map_object*>(target);
        for (std::uint32_t i = 0; i < map->used; ++i) {
            if (object* next = map->entries()[i].item.target()) visit(next);
        }
        break;
    }
    case kind::closure: {
        auto* closure = static_cast<closure_object*>(target);
        for (std::uint32_t i = 0; i < closure->values(); ++i) {
            if (object* next = closure->captured()[i].target()) visit(next);
        }
        break;
    }
    case kind::cell:
        if (object* next = static_cast<cell_object*>(target)->content.target()) visit(next);
        break;
    case kind::host: {
        reference_visitor<Visit> visitor(visit);
        static_cast<host_holder*>(target)->held->visit_values(visitor);
        break;
    }
    default: break;
    }
}

[[nodiscard]] bool may_hold_references(const object* target) noexcept {
    return target->type == kind::list || target->type == kind::map ||
           target->type == kind::closure || target->type == kind::cell ||
           target->type == kind::host;
}

/// Whether the storage behind a value holds references, as far as that can be told at a glance.
[[nodiscard]] bool leads_on(const value& v) {
    constexpr std::size_t glance = 16;
    const auto is_leaf = [](const value& held) {
        return !held.target() || !may_hold_references(held.target());
    };
    if (v.is(kind::list)) {
        const auto* list = static_cast<const list_object*>(v.target());
        return list->end - list->begin > glance ||
               !std::all_of(list->items() + list->begin, list->items() + list->end, is_leaf);
    }
    if (v.is(kind::map)) {
        const auto* map = static_cast<const map_object*>(v.target());
        return map->used > glance ||
               !std::all_of(map->entries(), map->entries() + map->used,
                            [&](const map_entry& each) { return is_leaf(each.item); });
    }
    return true;
}

constexpr std::size_t bytes_of_a_mark = 48;

} // namespace

void heap::note_shared_growth(object* storage, const value& item) {
    if (item.target() != storage && !leads_on(item)) return;
    grown_.insert(storage);
    storage->colour = 1;
    charge(bytes_of_a_mark);
    ++closers_made_;
    if (closers() >= collect_at_) collect_cycles();
}

void heap::forget_growth(object* storage) noexcept {
    grown_.erase(storage);
    discharge(bytes_of_a_mark);
}

void heap::collect_cycles() {
    if (collecting_ || draining_) return;
    release_dead(SIZE_MAX); // what is dead is no part of a cycle
    if (closers() == 0) return;
    collecting_ = true;
    std::size_t visited = 0;
    try {
        visited = empty_garbage_cells();
    } catch (const std::bad_alloc&) { // no memory to look for it: the next time
        visited = closers();
    }
    collecting_ = false;
    release_dead(SIZE_MAX); // what stays is measured
    // The next time when closers have doubled, and when as many were made as what stays had to be
    // looked at: that is what the next time looks at again. Garbage is looked at once, so it pays
    // for itself.
    collect_at_ = closers() + std::max({first_collection, closers(), visited / 4});
    closers_made_ = 0;
    used_after_ = used_;
}

/// Gives the work that the objects were that stay.
std::size_t heap::empty_garbage_cells() {
    // References from inside the graph that the closers reach, per object.
    std::unordered_map<object*, std::uint32_t> inner;
    std::vector<object*> work;
    const auto reach = [&](object* next) {
        if (!may_hold_references(next)) return;
        if (auto [at, fresh] = inner.try_emplace(next, 0); fresh) work.push_back(next);
    };
    for (cell_object* cell : cells_) reach(cell);
    for (object* storage : grown_) reach(storage);
    for (std::size_t i = 0; i < work.size(); ++i) for_each_reference(work[i], reach);
    for (object* from : work) {
        for_each_reference(from, [&](object* to) {
            if (auto at = inner.find(to); at != inner.end()) ++at->second;
        });
    }
    // What is referenced from outside is alive, and all that it reaches.
    std::vector<object*> alive;
    for (object* candidate : work) {
        if (candidate->references > inner[candidate]) alive.push_back(candidate);
    }
    for (object* root : alive) inner.erase(root);
    std::size_t visited = 0;
    for (std::size_t i = 0; i < alive.size(); ++i) {
        ++visited;
        for_each_reference(alive[i], [&](object* to) {
            ++visited;
            if (inner.erase(to) != 0) alive.push_back(to);
        });
    }
    // The rest is garbage: emptying its closers opens every cycle, and counting does the rest.
    std::vector<value> contents;
    for (auto& [garbage, count] : inner) {
        if (garbage->type == kind::cell) {
            contents.push_back(std::move(static_cast<cell_object*>(garbage)->content));
        } else if (garbage->colour != 0 && garbage->type == kind::list) {
            auto* list = static_cast<list_object*>(garbage);
            for (std::uint32_t i = list->begin; i < list->end; ++i)
                contents.push_back(std::move(list->items()[i]));
        } else if (garbage->colour != 0) {
            auto* map = static_cast<map_object*>(garbage);
            for (std::uint32_t i = 0; i < map->used; ++i)
                contents.push_back(std::move(map->entries()[i].item));
        }
    }
    contents.clear();
    return visited;
}

/// A program at its limit asks often: what it has allocated since must pay for looking again.
bool heap::may_have_garbage() const noexcept {
    return closers_made_ != 0 && used_ >= used_after_ && used_ - used_after_ >= limit_ / 16;
}

bool heap::limit_used_up() {
    if (!over_limit()) return false;
    if (has_dead()) {
        // As much as a slice can make, and more: the next safe point goes on where this one ends.
        release_dead(2 * freed_in_a_turn);
        if (!over_limit() || has_dead()) return false;
    }
    if (!may_have_garbage()) return true;
    collect_cycles();
    return used_ > limit_ - limit_ / 16;
}

bool heap::make_room(std::size_t bytes) {
    if (can_allocate(bytes)) return true;
    if (bytes <= limit_ && may_have_garbage()) {
        collect_cycles();
        if (can_allocate(bytes)) return true;
    }
    refused_ = bytes;
    return false;
}

} // namespace heddle::lang
