#include <heddle/lang/heap.hpp>

#include "chained_buckets.hpp"
#include "cycle_search.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/objects.hpp>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <new>
#include <utility>

namespace heddle::lang {

namespace {

/// Dropping an object frees so many in any case, so that garbage does not pile up.
constexpr std::size_t min_freed = 64;

/// A large block has its size in front of it, for the account of the heap when it is freed.
constexpr std::size_t bytes_of_size = 16;
[[nodiscard]] std::size_t& size_of_block(object* target) noexcept {
    return *reinterpret_cast<std::size_t*>(reinterpret_cast<std::byte*>(target) - bytes_of_size);
}

// The allocators of sanitizers copy a block to make it smaller.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool shrinks_in_place = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool shrinks_in_place = false;
#else
constexpr bool shrinks_in_place = true;
#endif
#else
constexpr bool shrinks_in_place = true;
#endif

/// What the system takes back in one go. To free 100 MB at once would take 10 ms.
constexpr std::size_t piece_of_block = std::size_t{1} << 20;
constexpr std::size_t work_of_piece = 10'000; ///< in objects that are freed
/// Of a kind whose content may be given up twice, see heap::drain.
[[nodiscard]] bool is_large_block(object* target) noexcept {
    const bool of_kind =
        target->type == kind::string || target->type == kind::list || target->type == kind::map;
    return shrinks_in_place && of_kind && target->size_class == 0 &&
           size_of_block(target) > 2 * piece_of_block;
}

} // namespace

heap* heap::create() { return new heap(nullptr); }

heap* heap::create_over(heap& base) {
    assert(base.frozen_);
    return new heap(&base);
}

// A heap over another one is often small: its memory and its tables begin with nothing.
heap::heap(heap* base)
    : next_block_(base ? 1024 : 4096), base_(base),
      hash_seed_(base ? base->hash_seed_ : random_hash_key()), fresh_(base ? base->fresh_ : 0) {}
heap::~heap() = default;

void destroy_object(object* target) noexcept { target->owner->destroy(target); }

void heap::release_owner() noexcept {
    limit_ = SIZE_MAX;
    collect_cycles();
    empty_cells();
    owned_ = false;
    base_ = nullptr;
    maybe_delete();
}

void heap::freeze() noexcept {
    collect_cycles();
    frozen_ = true;
}

/// No code that could read them runs any more. This breaks cycles that the search does not find:
/// those through another heap or through references that an object does not report.
void heap::empty_cells() noexcept {
    // Backwards: the last cell takes the place of a removed one.
    for (std::size_t left = cells_.size(); left != 0; left = std::min(left - 1, cells_.size())) {
        const value content = std::move(cells_[left - 1]->content);
    }
    release_dead(SIZE_MAX);
}

void heap::maybe_delete() noexcept {
    if (!owned_ && live_ == 0 && charges_ == 0 && !draining_ && !collecting_) delete this;
}

void heap_charge::release() noexcept {
    memory_->used_ -= bytes_;
    --memory_->charges_;
    memory_->maybe_delete();
}

object* heap::allocate(kind type, std::size_t bytes) {
    assert(!frozen_);
    const std::size_t size_class = (bytes + step - 1) / step;
    object* result = nullptr;
    if (size_class < classes) {
        if (!free_[size_class]) refill(size_class);
        free_node* node = free_[size_class];
        free_[size_class] = node->next;
        result = reinterpret_cast<object*>(node);
        result->size_class = static_cast<std::uint16_t>(size_class);
        used_ += size_class * step;
    } else {
        auto* raw = static_cast<std::byte*>(std::malloc(bytes + bytes_of_size));
        if (!raw) throw std::bad_alloc();
        result = reinterpret_cast<object*>(raw + bytes_of_size);
        size_of_block(result) = bytes;
        result->size_class = 0;
        used_ += bytes;
    }
    result->references = 1;
    result->type = type;
    result->colour = 0;
    result->owner = this;
    ++live_;
    return result;
}

void heap::refill(std::size_t size_class) {
    const std::size_t bytes = size_class * step;
    if (bump_left_ < bytes) {
        blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(next_block_));
        // What is left of the old block becomes free nodes of its size.
        if (const std::size_t rest = bump_left_ / step; rest != 0) {
            auto* node = reinterpret_cast<free_node*>(bump_);
            node->next = free_[rest];
            free_[rest] = node;
        }
        bump_ = blocks_.back().get();
        bump_left_ = next_block_;
        next_block_ = std::min<std::size_t>(next_block_ * 2, 256 * 1024);
    }
    auto* node = reinterpret_cast<free_node*>(bump_);
    node->next = nullptr;
    free_[size_class] = node;
    bump_ += bytes;
    bump_left_ -= bytes;
}

void heap::deallocate(object* target) noexcept {
    --live_;
    if (const std::size_t size_class = target->size_class; size_class != 0) {
        used_ -= size_class * step;
        auto* node = reinterpret_cast<free_node*>(target);
        node->next = free_[size_class];
        free_[size_class] = node;
    } else {
        used_ -= size_of_block(target);
        std::free(static_cast<void*>(&size_of_block(target)));
    }
}

void heap::destroy(object* target) noexcept {
    if (target->type == kind::string && !is_large_block(target)) { // leaf, the most frequent
        deallocate(target);
        if (!owned_) maybe_delete();
        return;
    }
    if (target->type == kind::symbol) { // at once: its name must not be found any more
        auto* symbol = static_cast<symbol_object*>(target);
        if (symbol->interned) symbols_->remove(*symbol);
        deallocate(target);
        if (!owned_) maybe_delete();
        return;
    }
    if ((target->colour & object::searched) != 0) [[unlikely]]
        note_death(target);
    // A million nested lists must not need a million native frames: what dies meanwhile queues. It
    // needs no memory for that, and its owner no more.
    target->owner = reinterpret_cast<heap*>(std::exchange(dying_, target));
    if (draining_) return;
    std::size_t budget = std::max(allowance_, min_freed);
    const std::size_t given = budget;
    if (!owned_) budget = SIZE_MAX;
    drain(budget);
    allowance_ -= std::min(allowance_, given - std::min(given, budget));
    if (!owned_) maybe_delete();
}

void heap::note_death(object* searched) noexcept { search_->object_died(searched); }

void heap::release_dead(std::size_t objects) noexcept {
    if (!draining_) drain(objects);
}

/// Takes what it has done from `budget`.
void heap::drain(std::size_t& budget) noexcept {
    draining_ = true;
    while (dying_ && budget != 0) {
        object* next = dying_;
        dying_ = reinterpret_cast<object*>(next->owner);
        if (!finalize(next, budget) || !give_back(next, budget)) {
            // The rest of it later, after what it held.
            next->owner = reinterpret_cast<heap*>(std::exchange(dying_, next));
            continue;
        }
        deallocate(next);
    }
    draining_ = false;
}

/// Drops what an object holds. False: the budget was used up before that.
bool heap::finalize(object* target, std::size_t& budget) noexcept {
    --budget;
    // An element counts as much as an object, or, when it is none, as a sixteenth.
    auto pay = [&budget, scanned = 0U](const value& each) mutable {
        if (!each.is_object() && ++scanned % 16 != 0) return;
        if (budget != 0) --budget;
    };
    switch (target->type) {
    case kind::list: {
        auto* list = static_cast<list_object*>(target);
        if (list->colour != 0) {
            forget_growth(list);
            list->colour = 0; // once, if its elements are dropped in several turns
        }
        while (list->begin < list->end) {
            if (budget == 0) return false;
            value& item = list->items()[list->begin++];
            pay(item);
            item.~value();
        }
        if (list->places) {
            discharge(list_places::bytes_for(list->places->count));
            delete std::exchange(list->places, nullptr);
        }
        break;
    }
    case kind::map: {
        auto* map = static_cast<map_object*>(target);
        if (map->colour != 0) {
            forget_growth(map);
            map->colour = 0; // once, if its entries are dropped in several turns
        }
        while (map->used != 0) {
            if (budget == 0) return false;
            map_entry& entry = map->entries()[--map->used];
            pay(entry.key);
            pay(entry.item);
            entry.~map_entry();
        }
        if (map->index) {
            discharge(map->capacity * 2 * sizeof(std::uint32_t));
            std::free(std::exchange(map->index, nullptr));
        }
        break;
    }
    case kind::closure: {
        auto* closure = static_cast<closure_object*>(target);
        for (std::uint32_t i = 0; i < closure->values(); ++i) closure->captured()[i].~value();
        function_release(closure->code);
        break;
    }
    case kind::cell: {
        auto* cell = static_cast<cell_object*>(target);
        unregister_cell(cell);
        cell->content.~value();
        break;
    }
    case kind::host: {
        auto* holder = static_cast<host_holder*>(target);
        discharge(holder->charged);
        delete holder->held;
        break;
    }
    default: break;
    }
    return true;
}

/// Of a large block whose content is gone, all but its beginning. False: the budget was used up
/// before that.
bool heap::give_back(object*& target, std::size_t& budget) noexcept {
    while (is_large_block(target)) {
        if (budget == 0) return false;
        const std::size_t left = size_of_block(target) - piece_of_block;
        auto* raw = static_cast<std::byte*>(
            std::realloc(static_cast<void*>(&size_of_block(target)), left + bytes_of_size));
        if (!raw) return true; // it goes as a whole
        target = reinterpret_cast<object*>(raw + bytes_of_size);
        size_of_block(target) = left;
        used_ -= piece_of_block;
        budget -= std::min(budget, work_of_piece);
    }
    return true;
}

symbol_object* heap::find_symbol(std::string_view name, std::uint32_t hash) const noexcept {
    for (const heap* at = this; at; at = at->base_) {
        if (!at->symbols_) continue;
        symbol_object* const found = at->symbols_->find(
            hash, [name](const symbol_object& each) { return each.name() == name; });
        if (found) return found;
    }
    return nullptr;
}

value heap::symbol(std::string_view name) {
    // Heaps over another one have its key.
    const auto hash = static_cast<std::uint32_t>(hash_text(hash_seed_, name));
    if (symbol_object* found = find_symbol(name, hash)) {
        ++found->references;
        return value::adopt(kind::symbol, found);
    }
    if (!utf8::is_valid(name)) return symbol(utf8::replace_invalid(std::string(name)));
    if (!symbols_) symbols_ = std::make_unique<chained_buckets<symbol_object>>();
    auto* result =
        static_cast<symbol_object*>(allocate(kind::symbol, sizeof(symbol_object) + name.size()));
    result->length = static_cast<std::uint32_t>(name.size());
    result->interned = false; // until it can be found
    result->hash = hash;
    if (!name.empty()) std::memcpy(reinterpret_cast<char*>(result + 1), name.data(), name.size());
    value symbol = value::adopt(kind::symbol, result);
    symbols_->insert(*result);
    result->interned = true;
    return symbol;
}

value heap::fresh_symbol(std::string_view prefix) {
    std::string name(prefix);
    name += '#';
    name += std::to_string(++fresh_);
    auto* result =
        static_cast<symbol_object*>(allocate(kind::symbol, sizeof(symbol_object) + name.size()));
    result->length = static_cast<std::uint32_t>(name.size());
    result->interned = false;
    std::memcpy(reinterpret_cast<char*>(result + 1), name.data(), name.size());
    return value::adopt(kind::symbol, result);
}

void heap::register_cell(cell_object* cell) {
    cell->position = static_cast<std::uint32_t>(cells_.size());
    cells_.push_back(cell);
    ++closers_made_;
}

void heap::unregister_cell(cell_object* cell) noexcept {
    cells_[cell->position] = cells_.back();
    cells_[cell->position]->position = cell->position;
    cells_.pop_back();
}

/// Lets make_cell reach the registry and the trigger of the collector.
struct cell_access {
    static void make_room(heap& memory) {
        if (memory.cells_.size() == memory.cells_.capacity())
            memory.cells_.reserve(memory.cells_.size() * 2 + 16);
    }
    static void add(heap& memory, cell_object* cell) {
        memory.register_cell(cell);
        if (memory.closers() >= memory.search_at_) memory.on_many_closers();
    }
};

value make_cell(heap& memory, value content) {
    cell_access::make_room(memory);
    auto* cell = static_cast<cell_object*>(memory.allocate(kind::cell, sizeof(cell_object)));
    new (&cell->content) value(std::move(content));
    value result = value::adopt(kind::cell, cell);
    cell_access::add(memory, cell);
    return result;
}

value make_closure(heap& memory, const function& code, std::uint32_t captured,
                   const value& policy) {
    const bool confined = !policy.is_nil();
    const std::size_t values = captured + (confined ? 1U : 0U);
    auto* closure = static_cast<closure_object*>(
        memory.allocate(kind::closure, sizeof(closure_object) + values * sizeof(value)));
    closure->code = &code;
    function_retain(&code);
    closure->count = captured;
    closure->arity = confined                              ? closure_object::is_confined
                     : code.optional != 0 || code.has_rest ? closure_object::varies
                                                           : code.required;
    for (std::uint32_t i = 0; i < captured; ++i) new (closure->captured() + i) value();
    if (confined) new (closure->captured() + captured) value(policy);
    return value::adopt(kind::closure, closure);
}

value make_host(heap& memory, std::unique_ptr<host_object> held, std::size_t bytes) {
    constexpr std::size_t of_malloc = 16;
    auto* holder = static_cast<host_holder*>(memory.allocate(kind::host, sizeof(host_holder)));
    holder->held = held.release();
    holder->charged = bytes + of_malloc;
    memory.charge(holder->charged);
    return value::adopt(kind::host, holder);
}

std::string_view kind_name(kind k) noexcept {
    switch (k) {
    case kind::unbound: return "unbound";
    case kind::nil: return "nil";
    case kind::boolean: return "boolean";
    case kind::integer: return "integer";
    case kind::real: return "float";
    case kind::string: return "string";
    case kind::symbol: return "symbol";
    case kind::list: return "list";
    case kind::map: return "map";
    case kind::closure: return "function";
    case kind::builtin: return "builtin";
    case kind::host: return "host";
    case kind::cell: return "cell";
    case kind::code: return "code";
    }
    return "value";
}

} // namespace heddle::lang
