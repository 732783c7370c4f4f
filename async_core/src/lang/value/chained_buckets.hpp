// The buckets of hash tables that grow by one bucket at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace heddle::lang {

/// Finds entries that others own by their hashes. No operation takes long, however many entries
/// there are: one bucket is divided at a time (linear hashing: Litwin 1980), and entries never
/// move. An Entry has the members `chain`, an Entry* for the buckets alone, and `hash`, a number
/// that does not change.
/// Threads: one at a time.
template <class Entry>
class chained_buckets {
public:
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// The entry with that hash for which `is_it` holds, or null.
    template <class Predicate>
    [[nodiscard]] Entry* find(std::size_t hash, Predicate is_it) const {
        if (size_ == 0) return nullptr;
        for (Entry* at = bucket(number_of(hash)); at; at = at->chain) {
            if (same(at->hash, hash) && is_it(*at)) return at;
        }
        return nullptr;
    }
    /// Exceptions: bad_alloc, and the buckets are as before.
    void insert(Entry& added) {
        if (!segments_[0]) make_segment(0);
        if (size_ > mask_ + divided_) divide();
        Entry*& first = bucket(number_of(added.hash));
        added.chain = first;
        first = &added;
        ++size_;
    }
    /// `gone` must be in a bucket.
    void remove(Entry& gone) noexcept {
        Entry** link = &bucket(number_of(gone.hash));
        while (*link != &gone) link = &(*link)->chain;
        *link = gone.chain;
        --size_;
    }

private:
    static constexpr unsigned first_bits = 3; ///< the first segment has 8 buckets
    static constexpr unsigned max_segments = 30;

    struct freeing {
        void operator()(Entry** segment) const noexcept { std::free(static_cast<void*>(segment)); }
    };

    /// Entries may keep fewer bits than a size has.
    [[nodiscard]] static bool same(std::size_t kept, std::size_t hash) noexcept {
        return static_cast<std::uint32_t>(kept) == static_cast<std::uint32_t>(hash);
    }
    [[nodiscard]] std::size_t number_of(std::size_t hash) const noexcept {
        hash = static_cast<std::uint32_t>(hash);
        const std::size_t at = hash & mask_;
        return at < divided_ ? hash & (mask_ * 2 + 1) : at;
    }
    /// Segment n > 0 holds as many buckets as all before it.
    [[nodiscard]] Entry*& bucket(std::size_t number) const noexcept {
        const auto segment = static_cast<unsigned>(std::bit_width(number >> first_bits));
        const std::size_t begin = segment == 0 ? 0 : std::size_t{1} << (segment - 1 + first_bits);
        return segments_[segment].get()[number - begin];
    }
    void make_segment(unsigned segment) {
        const std::size_t count = std::size_t{1}
                                  << (segment == 0 ? first_bits : segment - 1 + first_bits);
        // Of large ones the system clears a page when it is used first.
        auto* buckets = static_cast<Entry**>(std::calloc(count, sizeof(Entry*)));
        if (!buckets) throw std::bad_alloc();
        segments_[segment].reset(buckets);
    }
    void divide() {
        const std::size_t added = mask_ + 1 + divided_;
        const auto segment = static_cast<unsigned>(std::bit_width(added >> first_bits));
        if (segment >= max_segments) return; // longer chains do no harm
        if (!segments_[segment]) make_segment(segment);
        Entry** kept = &bucket(divided_);
        Entry** moved = &bucket(added);
        for (Entry* at = *kept; at; at = at->chain) {
            Entry**& end = (at->hash & (mask_ + 1)) != 0 ? moved : kept;
            *end = at;
            end = &at->chain;
        }
        *kept = *moved = nullptr;
        if (divided_++ != mask_) return;
        mask_ = mask_ * 2 + 1;
        divided_ = 0;
    }

    std::unique_ptr<Entry*, freeing> segments_[max_segments];
    std::size_t size_ = 0;
    std::size_t mask_ =
        (std::size_t{1} << first_bits) - 1; ///< of the numbers, at the last doubling
    std::size_t divided_ = 0;               ///< buckets that have been divided since then
};

} // namespace heddle::lang
