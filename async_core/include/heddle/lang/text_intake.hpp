// Texts from outside as values, while others have their turn.
#pragma once

#include <heddle/lang/heap.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::lang {

/// Converts UTF-8 bytes to a string value, as make_string does, in turns: first it checks them,
/// then it copies them. Threads: only that of the session.
class text_intake {
public:
    /// `memory` outlives this object.
    text_intake(heap& memory, std::string text);

    /// Runs a turn of less than a millisecond. Result: true when it was the last one.
    [[nodiscard]] bool go_on();
    /// Bytes of memory that the next turn takes.
    [[nodiscard]] std::size_t needs() const noexcept {
        return checked_ && whole_.is_nil() ? bytes_ : 0;
    }
    /// The value; to be called once, after the last turn.
    [[nodiscard]] value take() { return std::move(whole_); }

private:
    [[nodiscard]] std::string_view next_piece() noexcept;

    heap& memory_;
    std::string text_;
    std::size_t at_ = 0;
    std::size_t bytes_ = 0; ///< with what takes the place of invalid sequences
    bool checked_ = false;
    value whole_;
};

} // namespace heddle::lang
