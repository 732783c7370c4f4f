#include "memory/index/term_table.hpp"

#include <functional>

namespace heddle::memory {

std::string_view term_table::text(std::uint32_t number) const noexcept {
    const std::uint64_t begin = number == 0 ? 0 : ends_[number - 1];
    return std::string_view(bytes_).substr(begin, ends_[number] - begin);
}

/// Where the term is or would be put. There is always a free place.
std::size_t term_table::place_of(std::string_view term) const noexcept {
    const std::size_t mask = places_.size() - 1;
    std::size_t at = std::hash<std::string_view>()(term) & mask;
    while (places_[at] != 0 && text(places_[at] - 1) != term) at = (at + 1) & mask;
    return at;
}

std::optional<std::uint32_t> term_table::find(std::string_view term) const noexcept {
    if (places_.empty()) return std::nullopt;
    const std::uint32_t found = places_[place_of(term)];
    if (found == 0) return std::nullopt;
    return found - 1;
}

std::uint32_t term_table::intern(std::string_view term) {
    if ((ends_.size() + 1) * 4 > places_.size() * 3) grow();
    const std::size_t at = place_of(term);
    if (places_[at] != 0) return places_[at] - 1;
    bytes_ += term;
    ends_.push_back(bytes_.size());
    places_[at] = size();
    return size() - 1;
}

void term_table::grow() {
    places_.assign(places_.empty() ? 16 : places_.size() * 2, 0);
    for (std::uint32_t number = 0; number < size(); ++number) {
        places_[place_of(text(number))] = number + 1;
    }
}

std::size_t term_table::memory_bytes() const noexcept {
    return bytes_.capacity() + ends_.capacity() * sizeof(ends_[0]) +
           places_.capacity() * sizeof(places_[0]);
}

} // namespace heddle::memory
