// Memory of one session: allocation, accounting, symbols, cycles.
#pragma once

#include <heddle/base/keyed_hash.hpp>
#include <heddle/lang/value.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::lang {

template <class Entry>
class chained_buckets;
class cycle_search;
class object_table;
struct cell_object;
struct symbol_object;

/// Where the objects of a session live. Small objects come from free lists of 16-byte steps (3 to 5
/// ns where malloc takes 20); large ones are blocks of their own; every byte is counted, so that a
/// limit can be kept.
///
/// Lifetime: the session releases its heap with release_owner(); it frees itself when the last
/// value is gone too, so a result may outlive its session; its functions cannot be called any more,
/// and their variables are emptied. Only a cell can close a cycle, and the storage of a list or map
/// that is shared and grows. The search for garbage cycles runs in turns whenever the number of
/// these objects has doubled, and at release_owner().
/// Threads: one at a time.
class heap {
public:
    /// Creates a heap; call release_owner() in place of delete.
    [[nodiscard]] static heap* create();
    /// As create(). A name that is a symbol of `base` is the same symbol here. `base` is frozen,
    /// and outlives the owner of the new heap.
    [[nodiscard]] static heap* create_over(heap& base);
    void release_owner() noexcept;

    /// From here on nothing is allocated here, and no storage of this heap grows: others may refer
    /// to its values, and it never to theirs. Frees garbage first.
    void freeze() noexcept;
    [[nodiscard]] bool is_frozen() const noexcept { return frozen_; }

    heap(const heap&) = delete;
    heap& operator=(const heap&) = delete;

    /// Memory for an object with header filled in and one reference. Never null; the process's own
    /// exhaustion throws bad_alloc. Going over the limit is not refused here (so that no operation
    /// fails half way): it is seen at the machine's next safe point, and builtins that make much at
    /// once ask can_allocate first.
    [[nodiscard]] object* allocate(kind type, std::size_t bytes);
    /// Memory beside objects that counts too: stacks of fibers, indexes. What may outlive the
    /// heap's last value has a heap_charge instead.
    void charge(std::size_t bytes) noexcept { used_ += bytes; }
    void discharge(std::size_t bytes) noexcept { used_ -= bytes; }

    [[nodiscard]] std::size_t used() const noexcept { return used_; }
    [[nodiscard]] std::size_t limit() const noexcept { return limit_; }
    void set_limit(std::size_t bytes) noexcept { limit_ = bytes; }
    /// What was there before the limit was set is in addition to what messages call the limit.
    void set_held(std::size_t bytes) noexcept { held_ = bytes; }
    /// The limit for messages: as it was asked for.
    [[nodiscard]] std::size_t limit_asked() const noexcept {
        return limit_ == SIZE_MAX || limit_ < held_ ? limit_ : limit_ - held_;
    }
    [[nodiscard]] bool over_limit() const noexcept { return used_ > limit_; }
    /// Frees what is dead first where that may help.
    [[nodiscard]] bool can_allocate(std::size_t bytes) noexcept {
        if (fits(bytes)) return true;
        if (bytes <= limit_ && has_dead()) release_dead(SIZE_MAX);
        return fits(bytes);
    }

    /// Objects that nothing refers to wait to be freed: so much was dropped at once that to free it
    /// all would keep timers waiting.
    [[nodiscard]] bool has_dead() const noexcept { return dying_ != nullptr; }
    /// Frees about `objects` dead objects.
    void release_dead(std::size_t objects) noexcept;
    /// A slice of a computation begins: it may drop `freed_in_a_turn` objects that are freed at
    /// once. What is dead is freed, and a search for garbage cycles goes on, for about a
    /// millisecond.
    void begin_turn() noexcept {
        allowance_ = freed_in_a_turn;
        if (dying_ || search_) [[unlikely]]
            work_in_turn();
    }
    static constexpr std::size_t freed_in_a_turn = 32 * 1024;   ///< some 0.3 ms
    static constexpr std::size_t searched_in_a_turn = 8 * 1024; ///< units of work: some 0.4 ms

    /// The symbol of that name; the same object each time. Invalid UTF-8 in the name becomes
    /// U+FFFD.
    [[nodiscard]] value symbol(std::string_view name);
    /// A symbol that equals no other, for macros.
    [[nodiscard]] value fresh_symbol(std::string_view prefix);

    /// The key of the hash tables in this heap, drawn at random for each heap.
    [[nodiscard]] const hash_key& hash_seed() const noexcept { return hash_seed_; }

    /// The storage of a list or map grows in place by `item`, while others see it: what is new may
    /// lead to them, and they to the storage. To be called before.
    static void note_growth(object* storage, const value& item) {
        if (item.is_object() && item.type() > kind::symbol &&
            (storage->colour & object::grown) == 0 &&
            (storage->references > 1 || item.target() == storage))
            storage->owner->note_shared_growth(storage, item);
    }

    [[nodiscard]] std::size_t live_objects() const noexcept { return live_; }
    [[nodiscard]] std::size_t live_cells() const noexcept { return cells_.size(); }
    /// Frees all garbage cycles at once. Linear in what cells reach.
    void collect_cycles() noexcept;
    /// Begins a search for what is garbage now, unless one is under way. It goes on at each
    /// begin_turn().
    void begin_search() noexcept;
    /// Goes on with that search, if one is under way, for so many units of work
    /// (cycle_search::step).
    void continue_search(std::size_t units) noexcept;
    /// To be called by an object outside of the heap's memory that has the mark object::searched,
    /// when nothing refers to it any more.
    void note_death(object* searched) noexcept;
    /// The search for garbage cycles that is under way, or null.
    [[nodiscard]] const cycle_search* search() const noexcept { return search_.get(); }
    /// Whether a computation has to leave this turn to the search: the search is behind what is
    /// made, or the limit is reached and there may be garbage. To be asked after begin_turn(). Once
    /// the search has ended it is false. `woken`: of a computation that has waited, and so has made
    /// nothing lately: only where the search is far behind.
    [[nodiscard]] bool search_comes_first(bool woken) noexcept;
    /// As over_limit(), after garbage cycles were given a chance to go. False as long as some are
    /// searched for: each call does a part of that.
    [[nodiscard]] bool limit_used_up() noexcept;
    /// As can_allocate(), after garbage cycles were given a chance to go, all at once.
    [[nodiscard]] bool make_room(std::size_t bytes) noexcept;
    /// The bytes that make_room() refused last; 0 if it has refused none since the last call.
    [[nodiscard]] std::size_t take_refused() noexcept { return std::exchange(refused_, 0); }

private:
    friend void destroy_object(object* target) noexcept;
    friend struct cell_access;
    friend class heap_charge;
    friend class cycle_search;

    explicit heap(heap* base);
    ~heap();

    static constexpr std::size_t step = 16;
    static constexpr std::size_t classes = 33; // up to 512 bytes
    struct free_node {
        free_node* next;
    };
    void refill(std::size_t size_class);
    [[nodiscard]] symbol_object* find_symbol(std::string_view name,
                                             std::uint32_t hash) const noexcept;
    void destroy(object* target) noexcept;
    void drain(std::size_t& budget) noexcept;
    [[nodiscard]] bool finalize(object* target, std::size_t& budget) noexcept;
    [[nodiscard]] bool give_back(object*& target, std::size_t& budget) noexcept;
    [[nodiscard]] bool fits(std::size_t bytes) const noexcept {
        return bytes <= limit_ && used_ <= limit_ - bytes;
    }
    void deallocate(object* target) noexcept;
    void register_cell(cell_object* cell);
    void unregister_cell(cell_object* cell) noexcept;
    void note_shared_growth(object* storage, const value& item);
    void forget_growth(object* storage) noexcept;
    void on_many_closers() noexcept;
    void begin_search_for_room() noexcept;
    void work_in_turn() noexcept;
    void note_made() noexcept;
    void end_search() noexcept;
    void empty_cells() noexcept;
    void maybe_delete() noexcept;

    free_node* free_[classes] = {};
    std::vector<std::unique_ptr<std::byte[]>> blocks_;
    std::byte* bump_ = nullptr;
    std::size_t bump_left_ = 0;
    std::size_t next_block_;
    std::size_t used_ = 0;
    std::size_t limit_ = SIZE_MAX;
    std::size_t held_ = 0; ///< of limit_: before it was set
    std::size_t refused_ = 0;
    std::size_t live_ = 0;
    object* dying_ = nullptr; ///< the last of them, linked by object::owner
    bool draining_ = false;
    std::size_t allowance_ = freed_in_a_turn; ///< of this turn, what is left
    bool owned_ = true;
    bool frozen_ = false;
    heap* base_;              ///< null: none
    std::size_t charges_ = 0; ///< heap_charges that live
    std::vector<cell_object*> cells_;
    std::unique_ptr<object_table> grown_; ///< storages that grew while they were shared
    std::size_t grown_count_ = 0;
    /// What may close a cycle.
    [[nodiscard]] std::size_t closers() const noexcept { return cells_.size() + grown_count_; }
    [[nodiscard]] bool may_have_garbage() const noexcept;
    std::unique_ptr<cycle_search> search_;
    bool search_for_room_ = false;      ///< it was begun at the limit
    bool collecting_ = false;           ///< a step of it is under way
    std::size_t search_at_ = min_added; ///< number of closers
    std::size_t closers_made_ = 0;      ///< since the last search began
    std::size_t used_after_ = 0;        ///< it
    std::size_t owed_ = 0;          ///< work of the search, in units, for what was made meanwhile
    std::size_t used_noted_ = 0;    ///< when that was last reckoned
    std::size_t closers_noted_ = 0; ///< of closers_made_, at the same time
    static constexpr std::size_t min_added = 10'000; ///< closers, before another search
    const hash_key hash_seed_;
    std::unique_ptr<chained_buckets<symbol_object>> symbols_; ///< by name; null: none yet
    std::uint64_t fresh_;
};

/// Bytes beside the objects of a heap that count as its memory as long as this lives. The heap
/// lives as long too.
class heap_charge {
public:
    heap_charge() = default;
    heap_charge(heap_charge&& other) noexcept
        : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    heap_charge& operator=(heap_charge&& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~heap_charge() {
        if (memory_) release();
    }

    /// Changes the charge to `bytes`.
    void set(heap& memory, std::size_t bytes) noexcept {
        if (!memory_) {
            memory_ = &memory;
            ++memory.charges_;
        }
        memory.used_ += bytes - bytes_;
        bytes_ = bytes;
    }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
    void release() noexcept;

    heap* memory_ = nullptr;
    std::size_t bytes_ = 0;
};

/// Owns a heap for a scope.
struct heap_deleter {
    void operator()(heap* h) const noexcept { h->release_owner(); }
};
using heap_owner = std::unique_ptr<heap, heap_deleter>;

} // namespace heddle::lang
