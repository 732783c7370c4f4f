#include "object_table.hpp"

#include <algorithm>
#include <new>

namespace heddle::lang {

namespace {

[[nodiscard]] std::uint32_t hash_of(const object* target) noexcept {
    // Objects are aligned to 16 bytes. Fibonacci hashing (Knuth, volume 3, 6.4).
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(target) / 16;
    return static_cast<std::uint32_t>((address * 0x9E3779B97F4A7C15ULL) >> 32);
}

} // namespace

object_table::index object_table::bucket_of(const object* target) const noexcept {
    const std::uint32_t hash = hash_of(target);
    const index at = hash & mask_;
    return at < split_ ? hash & (mask_ * 2 + 1) : at;
}

object_table::index& object_table::link_to(index i) noexcept {
    index* link = &bucket(bucket_of((*this)[i].target));
    while (*link != i) link = &(*this)[*link].chain;
    return *link;
}

object_table::index object_table::insert(object* target) {
    if (size_ == max_size) throw std::bad_alloc();
    if (buckets_.empty() || held_ > mask_ + split_) grow();
    if (size_ == chunks_.size() * chunk)
        chunks_.push_back(std::make_unique_for_overwrite<entry[]>(chunk));
    index& first = bucket(bucket_of(target));
    (*this)[size_] = {target, 0, 0, none, first};
    first = size_;
    ++held_;
    return size_++;
}

void object_table::grow() {
    const index added = mask_ + 1 + split_;
    if (buckets_.empty() || added == buckets_.size() * chunk) {
        auto empty = std::make_unique_for_overwrite<index[]>(chunk);
        std::fill_n(empty.get(), chunk, none);
        const bool first = buckets_.empty();
        buckets_.push_back(std::move(empty));
        if (first) return;
    }
    index* kept = &bucket(split_);
    index* moved = &bucket(added);
    for (index i = *kept; i != none; i = (*this)[i].chain) {
        index*& end = (hash_of((*this)[i].target) & (mask_ + 1)) != 0 ? moved : kept;
        *end = i;
        end = &(*this)[i].chain;
    }
    *kept = *moved = none;
    if (split_++ != mask_) return;
    mask_ = mask_ * 2 + 1;
    split_ = 0;
}

void object_table::take_out(index i) noexcept {
    entry& gone = (*this)[i];
    link_to(i) = gone.chain;
    gone.target = nullptr;
    --held_;
}

void object_table::remove(const object* target) noexcept {
    const index i = find(target);
    take_out(i);
    const index last = size_ - 1;
    if (i != last) {
        if ((*this)[last].target) link_to(last) = i;
        (*this)[i] = (*this)[last];
        (*this)[last].target = nullptr;
    }
    drop_last();
}

void object_table::drop_last() noexcept {
    if ((*this)[size_ - 1].target) take_out(size_ - 1);
    --size_;
    if (size_ % chunk == 0) chunks_.pop_back();
}

} // namespace heddle::lang
