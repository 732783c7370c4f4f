// Garbage cycles. Values are immutable, so only a cell (a captured variable that was assigned) can
// close a cycle; trial deletion therefore starts from the cells and nowhere else.
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

} // namespace

void heap::collect_cycles() {
    if (collecting_ || draining_ || cells_.empty()) return;
    collecting_ = true;
    std::size_t visited = 0;
    try {
        visited = empty_garbage_cells();
    } catch (const std::bad_alloc&) { // no memory to look for it: the next time
        visited = cells_.size();
    }
    collecting_ = false;
    // The next time when cells have doubled, and when as many were made as what stays had to be looked
    // at: that is what the next time looks at again. Garbage is looked at once, so it pays for itself.
    collect_at_ = cells_.size() + std::max({first_collection, cells_.size(), visited / 4});
    cells_made_ = 0;
    used_after_ = used_;
}

/// Gives the work that the objects were that stay.
std::size_t heap::empty_garbage_cells() {
    // References from inside the graph that the cells reach, per object.
    std::unordered_map<object*, std::uint32_t> inner;
    std::vector<object*> work;
    const auto reach = [&](object* next) {
        if (!may_hold_references(next)) return;
        if (auto [at, fresh] = inner.try_emplace(next, 0); fresh) work.push_back(next);
    };
    for (cell_object* cell : cells_) reach(cell);
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
    // The rest is garbage: emptying its cells opens every cycle, and counting does the rest.
    std::vector<value> contents;
    for (auto& [garbage, count] : inner) {
        if (garbage->type != kind::cell) continue;
        contents.push_back(std::move(static_cast<cell_object*>(garbage)->content));
    }
    contents.clear();
    return visited;
}

/// A program at its limit asks often: what it has allocated since must pay for looking again.
bool heap::may_have_garbage() const noexcept {
    return cells_made_ != 0 && used_ >= used_after_ && used_ - used_after_ >= limit_ / 16;
}

bool heap::limit_used_up() {
    if (!over_limit()) return false;
    if (!may_have_garbage()) return true;
    collect_cycles();
    return used_ > limit_ - limit_ / 16;
}

bool heap::make_room(std::size_t bytes) {
    if (can_allocate(bytes)) return true;
    if (bytes > limit_ || !may_have_garbage()) return false;
    collect_cycles();
    return can_allocate(bytes);
}

} // namespace heddle::lang
