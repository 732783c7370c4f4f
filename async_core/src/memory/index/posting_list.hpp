// Where a term occurs.
#pragma once

#include "memory/index/byte_stream.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace heddle::memory {

/// Slots in ascending order with the number of occurrences, as variable-length differences: two
/// bytes for most. 24 bytes beside them, because most terms occur once.
class posting_list {
public:
    posting_list() = default;
    posting_list(posting_list&& other) noexcept { swap(other); }
    posting_list& operator=(posting_list&& other) noexcept {
        swap(other);
        return *this;
    }
    ~posting_list() { std::free(data_); }

    /// `slot` is above all before it. Throws bad_alloc.
    void append(std::uint32_t slot, std::uint32_t count);
    /// A list as bytes() returned it. False when the bytes are not a list of slots below `slots`.
    [[nodiscard]] bool assign(std::string_view bytes, std::uint32_t slots);

    [[nodiscard]] std::string_view bytes() const noexcept {
        return {reinterpret_cast<const char*>(data_), size_};
    }
    [[nodiscard]] std::size_t memory_bytes() const noexcept { return capacity_; }

    /// Calls visit(slot, count) for each.
    template <class Visit>
    void each(Visit visit) const {
        const std::uint8_t* at = data_;
        const std::uint8_t* const end = data_ + size_;
        std::uint32_t next = 0; // one past the slot before
        while (at != end) {
            const std::uint32_t head = read_varint(at);
            next += head >> 1;
            const std::uint32_t count = (head & 1) != 0 ? read_varint(at) + 2 : 1;
            visit(next, count);
            ++next;
        }
    }

private:
    void swap(posting_list& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        std::swap(next_, other.next_);
    }
    void put(std::uint32_t number);
    void reserve(std::size_t bytes);

    /// The list was checked when it was made, so it does not end within a number.
    [[nodiscard]] static std::uint32_t read_varint(const std::uint8_t*& at) noexcept {
        std::uint32_t number = *at & 0x7FU;
        for (unsigned shift = 7; (*at++ & 0x80U) != 0; shift += 7) {
            number |= static_cast<std::uint32_t>(*at & 0x7FU) << shift;
        }
        return number;
    }

    std::uint8_t* data_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = 0;
    std::uint32_t next_ = 0; ///< one past the last slot
};

} // namespace heddle::memory
