#include "memory/index/field_index.hpp"

#include <cmath>

namespace heddle::memory {

namespace {

constexpr double k1 = 1.2;
constexpr double b = 0.75;

struct occurrence {
    std::uint32_t slot;
    std::uint32_t count;
};

} // namespace

std::uint32_t field_index::add(std::uint32_t file, const term_counts& text) {
    const auto slot = static_cast<std::uint32_t>(owners_.size());
    for (const term_count& term : text.terms()) {
        const std::uint32_t number = terms_.intern(text.text(term));
        if (number >= lists_.size()) lists_.resize(number + 1);
        lists_[number].append(slot, term.count);
    }
    owners_.push_back(file);
    lengths_.push_back(text.length());
    total_length_ += text.length();
    ++live_;
    return slot;
}

void field_index::remove(std::uint32_t slot) {
    owners_[slot] = dead;
    total_length_ -= lengths_[slot];
    --live_;
    ++dead_;
}

void field_index::score(std::span<const weighted_term> terms, double field_weight,
                        score_board& board) const {
    if (live_ == 0) return;
    const double average =
        std::max(1.0, static_cast<double>(total_length_) / static_cast<double>(live_));
    std::vector<occurrence> found;
    bool first = true;
    for (const weighted_term& wanted : terms) {
        const auto number = terms_.find(wanted.term);
        if (!number) continue;
        const posting_list& list = lists_[*number];
        // At least a byte for each place.
        if (!first && list.bytes().size() > board.postings_left) continue;
        first = false;
        board.postings_left -= std::min(board.postings_left, list.bytes().size());
        found.clear();
        list.each([&](std::uint32_t slot, std::uint32_t count) {
            if (owners_[slot] != dead) found.push_back({slot, count});
        });
        if (found.empty()) continue;
        const auto with = static_cast<double>(found.size());
        const auto all = static_cast<double>(live_);
        const double rarity = std::log(1 + (all - with + 0.5) / (with + 0.5));
        const double most = wanted.weight * field_weight * rarity * (k1 + 1);
        board.best_possible += most;
        for (const occurrence& one : found) {
            const double count = one.count;
            const double length = lengths_[one.slot];
            board.scores[owners_[one.slot]] +=
                most * count / (count + k1 * (1 - b + b * length / average));
        }
    }
}

std::vector<std::uint32_t> field_index::without_dead() {
    std::vector<std::uint32_t> moved(owners_.size(), dead);
    std::vector<std::uint32_t> owners;
    std::vector<std::uint32_t> lengths;
    for (std::uint32_t slot = 0; slot < owners_.size(); ++slot) {
        if (owners_[slot] == dead) continue;
        moved[slot] = static_cast<std::uint32_t>(owners.size());
        owners.push_back(owners_[slot]);
        lengths.push_back(lengths_[slot]);
    }
    term_table terms;
    std::vector<posting_list> lists;
    for (std::uint32_t number = 0; number < terms_.size(); ++number) {
        posting_list kept;
        lists_[number].each([&](std::uint32_t slot, std::uint32_t count) {
            if (moved[slot] != dead) kept.append(moved[slot], count);
        });
        lists_[number] = posting_list();
        if (kept.bytes().empty()) continue;
        (void)terms.intern(terms_.text(number));
        lists.push_back(std::move(kept));
    }
    terms_ = std::move(terms);
    lists_ = std::move(lists);
    owners_ = std::move(owners);
    lengths_ = std::move(lengths);
    dead_ = 0;
    return owners_;
}

std::size_t field_index::memory_bytes() const noexcept {
    std::size_t bytes = terms_.memory_bytes() + lists_.capacity() * sizeof(posting_list) +
                        (owners_.capacity() + lengths_.capacity()) * sizeof(std::uint32_t);
    for (const posting_list& list : lists_) bytes += list.memory_bytes();
    return bytes;
}

void field_index::save(byte_writer& out) const {
    out.varint(owners_.size());
    for (std::size_t slot = 0; slot < owners_.size(); ++slot) {
        out.varint(owners_[slot]);
        out.varint(lengths_[slot]);
    }
    out.varint(terms_.size());
    for (std::uint32_t number = 0; number < terms_.size(); ++number) {
        out.text(terms_.text(number));
        out.text(lists_[number].bytes());
    }
}

bool field_index::load(byte_reader& in, std::uint32_t files) {
    *this = field_index();
    const auto slots = in.varint();
    if (!slots || *slots > files) return false;
    std::vector<bool> taken(files, false);
    for (std::uint32_t slot = 0; slot < *slots; ++slot) {
        const auto owner = in.varint();
        const auto length = in.varint();
        if (!owner || !length || *owner >= files || taken[*owner]) return false;
        taken[*owner] = true;
        owners_.push_back(*owner);
        lengths_.push_back(*length);
        total_length_ += *length;
    }
    live_ = owners_.size();
    const auto terms = in.varint();
    // A term takes at least two bytes.
    if (!terms || *terms > in.left() / 2) return false;
    for (std::uint32_t number = 0; number < *terms; ++number) {
        const auto term = in.text();
        const auto list = in.text();
        if (!term || !list || list->empty() || terms_.intern(*term) != number) return false;
        if (!lists_.emplace_back().assign(*list, *slots)) return false;
    }
    return true;
}

} // namespace heddle::memory
