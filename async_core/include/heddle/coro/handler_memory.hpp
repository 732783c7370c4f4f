// Preallocated memory for wake-ups.
#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace heddle::coro {

/// Storage for up to `Slots` Asio handlers at a time, inside the object that posts them, so that a
/// wake-up cannot fail for lack of memory. Further and larger handlers are allocated as usual.
/// Lifetime: outlives the handlers in it. Threads: one at a time.
template <std::size_t Slots, std::size_t Bytes = 160>
class handler_memory {
public:
    handler_memory() = default;
    handler_memory(const handler_memory&) = delete;
    handler_memory& operator=(const handler_memory&) = delete;

    [[nodiscard]] void* take(std::size_t bytes) {
        for (slot& each : slots_) {
            if (each.used || bytes > Bytes) continue;
            each.used = true;
            return each.bytes.data();
        }
        return ::operator new(bytes);
    }
    void give_back(void* memory) noexcept {
        for (slot& each : slots_) {
            if (memory != each.bytes.data()) continue;
            each.used = false;
            return;
        }
        ::operator delete(memory);
    }

private:
    struct slot {
        alignas(std::max_align_t) std::array<std::byte, Bytes> bytes;
        bool used = false;
    };
    std::array<slot, Slots> slots_;
};

/// An allocator on a handler_memory, for use as the associated allocator of a handler.
template <class T, class Memory>
class handler_allocator {
public:
    using value_type = T;
    template <class Other>
    struct rebind {
        using other = handler_allocator<Other, Memory>;
    };

    explicit handler_allocator(Memory& memory) noexcept : memory_(&memory) {}
    template <class Other>
    handler_allocator(const handler_allocator<Other, Memory>& other) noexcept
        : memory_(other.memory_) {}

    [[nodiscard]] T* allocate(std::size_t count) {
        return static_cast<T*>(memory_->take(count * sizeof(T)));
    }
    void deallocate(T* memory, std::size_t) noexcept { memory_->give_back(memory); }
    template <class Other>
    [[nodiscard]] bool operator==(const handler_allocator<Other, Memory>& other) const noexcept {
        return memory_ == other.memory_;
    }

private:
    template <class, class>
    friend class handler_allocator;
    Memory* memory_;
};

/// Returns an allocator on `memory`, for boost::asio::bind_allocator.
template <class Memory>
[[nodiscard]] handler_allocator<std::byte, Memory> allocate_in(Memory& memory) noexcept {
    return handler_allocator<std::byte, Memory>(memory);
}

} // namespace heddle::coro
