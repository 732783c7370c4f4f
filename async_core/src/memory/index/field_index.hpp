// One searched field of many files: terms to places, BM25.
#pragma once

#include "memory/index/posting_list.hpp"
#include "memory/index/term_counts.hpp"
#include "memory/index/term_table.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::memory {

/// A term of a query.
struct weighted_term {
    std::string term;
    double weight = 1;
};

/// What a query adds up over fields.
struct score_board {
    std::vector<double> scores;    ///< by file
    double best_possible = 0;      ///< the score of a file that repeats every term without end
    std::size_t postings_left = 0; ///< how many more places may be looked at
};

/// Inverted index of one field. A text takes a slot, and keeps it until it is removed or the index
/// is compacted; `file` is the caller's number of the file. Removed texts cost memory until then.
/// Throws bad_alloc. Threads: one writer or many readers.
class field_index {
public:
    static constexpr std::uint32_t no_slot = UINT32_MAX;

    /// The slot of the new text.
    [[nodiscard]] std::uint32_t add(std::uint32_t file, const term_counts& text);
    void remove(std::uint32_t slot);

    /// Adds the BM25 score (k1 1.2, b 0.75) of each term, times the weights, to the files that have
    /// it. Terms that would pass the board's budget of places are left out (the first term is not).
    void score(std::span<const weighted_term> terms, double field_weight, score_board& board) const;

    /// True when more than half of what is kept belongs to removed texts.
    [[nodiscard]] bool wants_compaction() const noexcept { return dead_ > 1024 && dead_ > live_; }
    /// Drops removed texts; `moved(file, slot)` is called with where each file's text is now.
    /// Linear.
    template <class Moved>
    void compact(Moved moved) {
        const std::vector<std::uint32_t> owners = without_dead();
        for (std::uint32_t slot = 0; slot < owners.size(); ++slot) moved(owners[slot], slot);
    }

    /// The caller has given its files new numbers: `moved` by the old ones. Without dead texts.
    void renumber(std::span<const std::uint32_t> moved) noexcept {
        for (std::uint32_t& owner : owners_) owner = moved[owner];
    }

    [[nodiscard]] std::size_t terms() const noexcept { return terms_.size(); }
    [[nodiscard]] std::size_t memory_bytes() const noexcept;

    /// To be called without dead texts.
    void save(byte_writer& out) const;
    /// False when the bytes are not an index over `files` files; the index is unusable then.
    [[nodiscard]] bool load(byte_reader& in, std::uint32_t files);
    /// The file of each slot.
    [[nodiscard]] std::span<const std::uint32_t> owners() const noexcept { return owners_; }

private:
    static constexpr std::uint32_t dead = UINT32_MAX;

    [[nodiscard]] std::vector<std::uint32_t> without_dead();

    term_table terms_;
    std::vector<posting_list> lists_;    ///< by term
    std::vector<std::uint32_t> owners_;  ///< by slot: the file, or dead
    std::vector<std::uint32_t> lengths_; ///< by slot
    std::uint64_t total_length_ = 0;     ///< of live texts
    std::size_t live_ = 0;
    std::size_t dead_ = 0;
};

} // namespace heddle::memory
