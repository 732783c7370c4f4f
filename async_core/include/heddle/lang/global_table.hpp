// Globals by name and index.
#pragma once

#include <heddle/base/source.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/lang/value.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heddle::lang {

template <class Entry>
class chained_buckets;

/// The globals of a realm, in two layers of names: those of the prelude and those of the program. A
/// name may be in both, with a slot in each. A table may begin with the slots of another one: it
/// shares their names, and their values until one of them changes.
/// Threads: one at a time.
class global_table {
public:
    enum class layer : std::uint8_t { program, prelude };

    global_table();
    /// Begins as a copy of `base`, which outlives it and does not change any more. Constant time.
    explicit global_table(const global_table* base);
    ~global_table();
    global_table(const global_table&) = delete;
    global_table& operator=(const global_table&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return base_size_ + slots_.size(); }
    [[nodiscard]] const value& operator[](std::uint32_t index) const noexcept {
        return data_[index];
    }
    /// To write a value. Exceptions: bad_alloc, while the values are those of another table.
    [[nodiscard]] value& change(std::uint32_t index) {
        if (is_shared()) copy_values();
        return (*values_)[index];
    }
    /// As change(); null while the values are those of another table.
    [[nodiscard]] value* try_change(std::uint32_t index) noexcept {
        return is_shared() ? nullptr : values_->data() + index;
    }

    /// The slot of a name, created (unbound) if it does not exist. `memory` is charged for it.
    [[nodiscard]] std::uint32_t index(layer where, std::string_view name, heap& memory);
    /// The slot of a name if it is bound.
    [[nodiscard]] std::optional<std::uint32_t> find_bound(layer where, std::string_view name) const;

    [[nodiscard]] std::string_view name(std::uint32_t index) const noexcept {
        return slot_of(index).name;
    }
    [[nodiscard]] bool is_prelude(std::uint32_t index) const noexcept {
        return slot_of(index).of == layer::prelude;
    }
    [[nodiscard]] source_span definition(std::uint32_t index) const noexcept;
    void note_definition(std::uint32_t index, source_span place);

private:
    struct slot {
        std::string name;
        layer of;
        std::uint32_t index;
        std::uint32_t hash; ///< of the name
        slot* chain = nullptr;
        source_span definition{};
    };

    [[nodiscard]] const slot& slot_of(std::uint32_t index) const noexcept {
        return index < base_size_ ? base_->slot_of(index)
                                  : slots_[index - static_cast<std::uint32_t>(base_size_)];
    }
    [[nodiscard]] std::optional<std::uint32_t> find(layer where, std::string_view name,
                                                    std::uint32_t hash) const;
    [[nodiscard]] bool is_shared() const noexcept { return values_.use_count() != 1; }
    void copy_values();

    const global_table* base_ = nullptr;
    std::size_t base_size_ = 0;
    std::shared_ptr<std::vector<value>> values_;               ///< of all slots
    const value* data_ = nullptr;                              ///< theirs
    std::deque<slot> slots_;                                   ///< except the base's
    std::unique_ptr<chained_buckets<slot>> named_;             ///< those, by name; null: none yet
    std::unordered_map<std::uint32_t, source_span> redefined_; ///< slots of the base
    heap_charge charge_;
};

} // namespace heddle::lang
