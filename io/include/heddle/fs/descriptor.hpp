// Owner of a file descriptor.
#pragma once

#include <utility>

#include <unistd.h>

namespace heddle::fs {

/// Closes the descriptor that it owns. It may own none. One thread at a time.
class descriptor {
public:
    descriptor() = default;
    /// Takes what ::open and similar return: a negative number is not a descriptor.
    explicit descriptor(int number) noexcept : number_(number) {}
    descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~descriptor() {
        if (number_ >= 0) ::close(number_);
    }

    [[nodiscard]] int get() const noexcept { return number_; }
    [[nodiscard]] bool open() const noexcept { return number_ >= 0; }
    /// Leaves closing to the caller.
    [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

private:
    int number_ = -1;
};

} // namespace heddle::fs
