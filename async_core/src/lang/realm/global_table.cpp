#include <heddle/lang/global_table.hpp>

#include "lang/value/chained_buckets.hpp"

#include <heddle/base/keyed_hash.hpp>

#include <utility>

namespace heddle::lang {

namespace {

[[nodiscard]] std::uint32_t hash_of(std::string_view name) noexcept {
    return static_cast<std::uint32_t>(name_hash()(name));
}

} // namespace

global_table::global_table() : values_(std::make_shared<std::vector<value>>()) {}
global_table::global_table(const global_table* base)
    : base_(base), base_size_(base->size()), values_(base->values_), data_(base->data_) {}
global_table::~global_table() = default;

void global_table::copy_values() {
    values_ = std::make_shared<std::vector<value>>(*values_);
    data_ = values_->data();
}

std::optional<std::uint32_t> global_table::find(layer where, std::string_view name,
                                                std::uint32_t hash) const {
    for (const global_table* at = this; at; at = at->base_) {
        if (!at->named_) continue;
        const slot* const known = at->named_->find(
            hash, [&](const slot& each) { return each.of == where && each.name == name; });
        if (known) return known->index;
    }
    return std::nullopt;
}

std::uint32_t global_table::index(layer where, std::string_view name, heap& memory) {
    const std::uint32_t hash = hash_of(name);
    if (const auto known = find(where, name, hash)) return *known;
    const auto index = static_cast<std::uint32_t>(size());
    if (is_shared()) copy_values();
    if (!named_) named_ = std::make_unique<chained_buckets<slot>>();
    // Where a later step fails, there is a value without a slot, or a slot that nothing names:
    // neither does harm.
    values_->resize(index + std::size_t{1}, value::unbound());
    data_ = values_->data();
    slots_.push_back({std::string(name), where, index, hash});
    named_->insert(slots_.back());
    constexpr std::size_t row = sizeof(slot) + sizeof(value) + 2 * sizeof(slot*);
    charge_.set(memory, charge_.bytes() + row + name.size());
    return index;
}

std::optional<std::uint32_t> global_table::find_bound(layer where, std::string_view name) const {
    const auto known = find(where, name, hash_of(name));
    return known && !data_[*known].is_unbound() ? known : std::nullopt;
}

source_span global_table::definition(std::uint32_t index) const noexcept {
    if (index < base_size_) {
        const auto later = redefined_.find(index);
        return later == redefined_.end() ? base_->definition(index) : later->second;
    }
    return slot_of(index).definition;
}

void global_table::note_definition(std::uint32_t index, source_span place) {
    if (index < base_size_) redefined_.insert_or_assign(index, place);
    else slots_[index - base_size_].definition = place;
}

} // namespace heddle::lang
