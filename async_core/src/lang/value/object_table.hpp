// A hash table of objects.
#pragma once

#include <heddle/lang/value.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace heddle::lang {

/// Objects in order of insertion, each with what the collector of cycles notes about it. No
/// operation takes long, however many there are: the table grows by one bucket at a time (linear
/// hashing: Litwin 1980), and entries never move. It holds no references.
/// Threads: one at a time.
class object_table {
public:
    using index = std::uint32_t;
    static constexpr index none = UINT32_MAX;

    struct entry {
        object* target; ///< null: taken out
        std::uint32_t counted;
        std::uint32_t rank;
        index link;
        index chain; ///< the next in its bucket
    };

    /// Number of entries, with those whose object was taken out.
    [[nodiscard]] index size() const noexcept { return size_; }
    [[nodiscard]] entry& operator[](index i) noexcept { return chunks_[i / chunk][i % chunk]; }
    /// `target` must be in the table.
    [[nodiscard]] index find(const object* target) noexcept {
        index at = bucket(bucket_of(target));
        while ((*this)[at].target != target) at = (*this)[at].chain;
        return at;
    }
    /// `target` must not be in the table. Result: its entry, all numbers 0 and without a link.
    /// Exceptions: bad_alloc, and the table is as before.
    index insert(object* target);
    /// The entry stays, without its object.
    void take_out(index i) noexcept;
    /// The last entry takes the place of this one. `target` must be in the table.
    void remove(const object* target) noexcept;
    /// Takes out the object of the last entry, if it has one, and drops the entry.
    void drop_last() noexcept;

    /// Bytes that the table takes for each object, about.
    static constexpr std::size_t bytes_of_an_object = sizeof(entry) + sizeof(index);

private:
    static constexpr index chunk = 256;
    static constexpr index max_size = UINT32_MAX / 2;

    [[nodiscard]] index& bucket(index i) noexcept { return buckets_[i / chunk][i % chunk]; }
    [[nodiscard]] index bucket_of(const object* target) const noexcept;
    /// The link to an entry in its bucket.
    [[nodiscard]] index& link_to(index i) noexcept;
    void grow();

    std::vector<std::unique_ptr<entry[]>> chunks_;
    std::vector<std::unique_ptr<index[]>> buckets_;
    index size_ = 0;
    index held_ = 0;         ///< objects
    index mask_ = chunk - 1; ///< of the bucket numbers at the last doubling
    index split_ = 0;        ///< buckets that have been split since then
};

} // namespace heddle::lang
