#include "memory/index/posting_list.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

namespace heddle::memory {

void posting_list::reserve(std::size_t bytes) {
    if (bytes <= capacity_) return;
    if (bytes > std::numeric_limits<std::uint32_t>::max()) throw std::bad_alloc();
    const std::size_t grown = std::max<std::size_t>(bytes, capacity_ + capacity_ / 2);
    // 24 bytes are what the smallest block of malloc holds.
    const auto wanted = static_cast<std::uint32_t>(
        std::clamp<std::size_t>(grown, 24, std::numeric_limits<std::uint32_t>::max()));
    void* moved = std::realloc(data_, wanted);
    if (moved == nullptr) throw std::bad_alloc();
    data_ = static_cast<std::uint8_t*>(moved);
    capacity_ = wanted;
}

void posting_list::put(std::uint32_t number) {
    while (number >= 0x80) {
        data_[size_++] = static_cast<std::uint8_t>(number | 0x80U);
        number >>= 7;
    }
    data_[size_++] = static_cast<std::uint8_t>(number);
}

void posting_list::append(std::uint32_t slot, std::uint32_t count) {
    reserve(std::size_t{size_} + 10); // two numbers at their longest
    const std::uint32_t gap = slot - next_;
    put(gap << 1 | (count > 1 ? 1U : 0U));
    if (count > 1) put(count - 2);
    next_ = slot + 1;
}

bool posting_list::assign(std::string_view bytes, std::uint32_t slots) {
    byte_reader in(bytes);
    std::uint64_t next = 0;
    while (!in.at_end()) {
        const auto head = in.varint();
        if (!head) return false;
        next += *head >> 1;
        if (next >= slots) return false;
        if ((*head & 1) != 0) {
            const auto more = in.varint();
            if (!more || *more > std::numeric_limits<std::uint32_t>::max() - 2) return false;
        }
        ++next;
    }
    posting_list fresh;
    if (!bytes.empty()) {
        fresh.reserve(bytes.size());
        std::memcpy(fresh.data_, bytes.data(), bytes.size());
    }
    fresh.size_ = static_cast<std::uint32_t>(bytes.size());
    fresh.next_ = static_cast<std::uint32_t>(next);
    swap(fresh);
    return true;
}

} // namespace heddle::memory
