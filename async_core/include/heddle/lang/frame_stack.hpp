// The frames of a fiber.
#pragma once

#include <heddle/lang/code.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace heddle::lang {

/// The position of a call. 24 bytes; registers are in the value stack.
struct frame {
    const instruction* at; ///< the next instruction
    const function* code;
    std::uint32_t base; ///< first register; the closure itself is at base - 1
    /// For traces: how many frames this one has replaced. In hidden code: the position in the
    /// program of the tail call that led to it, or 0.
    std::uint32_t tail_calls = 0;
};

/// A stack of frames. Not a std::vector, because g++ places the growth path of one in every call: a
/// quarter of the time of fib.
class frame_stack {
public:
    frame_stack() = default;
    ~frame_stack() { std::free(frames_); }
    frame_stack(const frame_stack&) = delete;
    frame_stack& operator=(const frame_stack&) = delete;

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] frame& back() noexcept { return frames_[size_ - 1]; }
    [[nodiscard]] const frame& back() const noexcept { return frames_[size_ - 1]; }
    [[nodiscard]] frame& operator[](std::size_t i) noexcept { return frames_[i]; }
    [[nodiscard]] const frame& operator[](std::size_t i) const noexcept { return frames_[i]; }

    void push_back(const instruction* at, const function* code, std::uint32_t base) {
        if (size_ == capacity_) [[unlikely]]
            grow();
        frames_[size_++] = {at, code, base, 0};
    }
    void pop_back() noexcept { --size_; }
    /// Moves the frames from `first` on to an empty stack.
    void move_tail(std::size_t first, frame_stack& to) {
        const std::size_t count = size_ - first;
        if (count == 0) return;
        to.frames_ = static_cast<frame*>(std::malloc(count * sizeof(frame)));
        if (!to.frames_) throw std::bad_alloc();
        std::memcpy(to.frames_, frames_ + first, count * sizeof(frame));
        to.size_ = to.capacity_ = count;
        size_ = first;
    }
    /// Frees a part of its room where a small part of it is used.
    void give_back_spare() noexcept {
        if (capacity_ < much || size_ > capacity_ / 4) return;
        const std::size_t least = capacity_ - (capacity_ < portion ? capacity_ : portion);
        const std::size_t wanted = least > 2 * size_ ? least : 2 * size_;
        auto* kept = wanted == 0
                         ? nullptr
                         : static_cast<frame*>(std::realloc(frames_, wanted * sizeof(frame)));
        if (!kept) return;
        frames_ = kept;
        capacity_ = wanted;
    }
    /// For tests: moves the frames to other memory, with no room for another, and overwrites the
    /// old memory.
    void move_away() {
        if (size_ == 0) return;
        auto* moved = static_cast<frame*>(std::malloc(size_ * sizeof(frame)));
        if (!moved) throw std::bad_alloc();
        std::memcpy(moved, frames_, size_ * sizeof(frame));
        std::memset(static_cast<void*>(frames_), 0xDD, capacity_ * sizeof(frame));
        std::free(frames_);
        frames_ = moved;
        capacity_ = size_;
    }

private:
    [[gnu::noinline]] void grow() {
        const std::size_t more = capacity_ / 2 < max_growth ? capacity_ / 2 : max_growth;
        const std::size_t wanted = capacity_ == 0 ? 2 : capacity_ + more + 1;
        auto* grown = static_cast<frame*>(std::realloc(frames_, wanted * sizeof(frame)));
        if (!grown) throw std::bad_alloc();
        frames_ = grown;
        capacity_ = wanted;
    }

    static constexpr std::size_t max_growth = std::size_t{4} * 1024 * 1024 / sizeof(frame);
    static constexpr std::size_t portion = 2 * max_growth; ///< some 0.5 ms to give back
    static constexpr std::size_t much = max_growth / 4;

    frame* frames_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

} // namespace heddle::lang
