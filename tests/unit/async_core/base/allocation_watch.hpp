// What is in the memory of this test program when it is released. Its operator new also fails as
// failing_allocations.hpp has it.
#pragma once

#include <string_view>

namespace heddle::testing {

/// While it lives, blocks that hold `wanted` when they are released are counted.
class release_watch {
public:
    explicit release_watch(std::string_view wanted) noexcept;
    ~release_watch();
    release_watch(const release_watch&) = delete;
    release_watch& operator=(const release_watch&) = delete;

    [[nodiscard]] int found() const noexcept;
};

} // namespace heddle::testing
