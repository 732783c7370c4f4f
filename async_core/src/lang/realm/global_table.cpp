#include <heddle/lang/global_table.hpp>

#include <utility>

namespace heddle::lang {

void global_table::copy_values() {
    values_ = std::make_shared<std::vector<value>>(*values_);
    data_ = values_->data();
}

std::optional<std::uint32_t> global_table::find(layer where, std::string_view name) const {
    const std::string key(name);
    for (const global_table* at = this; at; at = at->base_) {
        const index_map& names = where == layer::library ? at->library_ : at->program_;
        if (const auto known = names.find(key); known != names.end()) return known->second;
    }
    return std::nullopt;
}

std::uint32_t global_table::index(layer where, std::string_view name, heap& memory) {
    if (const auto known = find(where, name)) return *known;
    const auto index = static_cast<std::uint32_t>(size());
    if (is_shared()) copy_values();
    // Where a later step fails, there is a value without a slot, or a slot that nothing names:
    // neither does harm.
    values_->resize(index + std::size_t{1}, value::unbound());
    data_ = values_->data();
    slots_.push_back({std::string(name), where, {}});
    (where == layer::library ? library_ : program_).emplace(std::string(name), index);
    constexpr std::size_t row = sizeof(slot) + sizeof(value) + sizeof(index_map::value_type) + 32;
    charge_.set(memory, charge_.bytes() + row + 2 * name.size());
    return index;
}

std::optional<std::uint32_t> global_table::find_bound(layer where, std::string_view name) const {
    const auto known = find(where, name);
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
