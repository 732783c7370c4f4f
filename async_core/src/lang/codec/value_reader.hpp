// Bytes to values.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/lang/value.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::lang::codec {

/// Takes bytes apart. Every call fails at the end of the bytes.
class byte_reader {
public:
    explicit byte_reader(std::string_view bytes) noexcept : bytes_(bytes) {}
    [[nodiscard]] std::size_t left() const noexcept { return bytes_.size() - at_; }
    [[nodiscard]] result<std::uint8_t> byte();
    [[nodiscard]] result<std::uint64_t> number();
    /// A number of things that take at least one byte each.
    [[nodiscard]] result<std::uint64_t> count();
    [[nodiscard]] result<std::string_view> text();
    /// Eight bytes, the lowest first.
    [[nodiscard]] result<std::uint64_t> word();

    /// What every problem of the bytes is called.
    [[nodiscard]] static error malformed();

private:
    std::string_view bytes_;
    std::size_t at_ = 0;
};

/// Reads what value_writer has written; whatever the bytes are, in time and memory that are linear
/// in them and within the limit of the heap. The native stack does not grow.
class value_reader {
public:
    value_reader(heap& memory, byte_reader& from) : memory_(memory), from_(from) {}
    /// Errors: io_error; limit, for more than the heap may hold.
    [[nodiscard]] result<value> read();

private:
    /// A list or map whose parts are being read.
    struct frame {
        value whole;
        value key;          ///< of the item that is read next
        std::uint32_t left; ///< parts that are missing
        bool numbered;
    };

    /// A part, or nothing when it is one whose parts come first.
    [[nodiscard]] result<bool> part(value& out);
    [[nodiscard]] result<void> text_part(std::uint8_t mark, bool numbered, value& out);
    [[nodiscard]] result<bool> begin(std::uint8_t mark, bool numbered, value& out);
    [[nodiscard]] result<void> window(value& out);
    [[nodiscard]] result<void> read_key();
    [[nodiscard]] result<void> make_room(std::size_t bytes);
    void note(const value& part);

    heap& memory_;
    byte_reader& from_;
    std::vector<frame> open_;
    std::vector<value> numbered_;
    heap_charge charge_;
    std::uint64_t missing_ = 0; ///< parts that have not begun
};

} // namespace heddle::lang::codec
