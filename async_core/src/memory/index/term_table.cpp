#include "memory/index/term_table.hpp"

namespace heddle::memory {

std::string_view term_table::text(std::uint32_t number) const noexcept {
    const std::uint64_t begin = number == 0 ? 0 : ends_[number - 1];
    return std::string_view(bytes_).substr(begin, ends_[number] - begin);
}

std::uint32_t term_table::hash_of(std::string_view term) const noexcept {
    return static_cast<std::uint32_t>(hash_text(key_, term));
}

/// Where the term is or would be put. There is always a free place.
std::size_t term_table::place_of(std::string_view term, std::uint32_t hash) const noexcept {
    const std::size_t mask = places_.size() - 1;
    std::size_t at = hash & mask;
    while (places_[at].entry != 0 &&
           (places_[at].hash != hash || text(places_[at].entry - 1) != term)) {
        at = (at + 1) & mask;
    }
    return at;
}

std::optional<std::uint32_t> term_table::find(std::string_view term) const noexcept {
    if (places_.empty()) return std::nullopt;
    const std::uint32_t found = places_[place_of(term, hash_of(term))].entry;
    if (found == 0) return std::nullopt;
    return found - 1;
}

std::uint32_t term_table::intern(std::string_view term) {
    if ((ends_.size() + 1) * 4 > places_.size() * 3) grow();
    const std::uint32_t hash = hash_of(term);
    place& found = places_[place_of(term, hash)];
    if (found.entry != 0) return found.entry - 1;
    bytes_ += term;
    ends_.push_back(bytes_.size());
    found = {hash, size()};
    return size() - 1;
}

void term_table::grow() {
    std::vector<place> old(places_.empty() ? 16 : places_.size() * 2);
    old.swap(places_);
    const std::size_t mask = places_.size() - 1;
    for (const place& one : old) {
        if (one.entry == 0) continue;
        std::size_t at = one.hash & mask;
        while (places_[at].entry != 0) at = (at + 1) & mask;
        places_[at] = one;
    }
}

std::size_t term_table::memory_bytes() const noexcept {
    return bytes_.capacity() + ends_.capacity() * sizeof(ends_[0]) +
           places_.capacity() * sizeof(places_[0]);
}

} // namespace heddle::memory
