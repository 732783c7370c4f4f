// Memory for what a service sends, up to a limit.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <new>

namespace heddle::providers {

/// Takes from the heap what a tree needs, and throws std::bad_alloc beyond a limit. Threads: as any
/// value.
class bounded_memory final : public std::pmr::memory_resource {
public:
    /// From now on `bytes` may be taken, besides what is held already.
    void allow(std::size_t bytes) noexcept {
        left_ = bytes;
        refused_ = false;
    }
    /// Whether the limit has been met since allow().
    [[nodiscard]] bool refused() const noexcept { return refused_; }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (bytes > left_) {
            refused_ = true;
            throw std::bad_alloc();
        }
        void* const taken = ::operator new(bytes, std::align_val_t(alignment));
        left_ -= bytes;
        return taken;
    }
    void do_deallocate(void* taken, std::size_t bytes, std::size_t alignment) override {
        ::operator delete(taken, std::align_val_t(alignment));
        left_ += bytes;
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }

    std::size_t left_ = 0;
    bool refused_ = false;
};

} // namespace heddle::providers
