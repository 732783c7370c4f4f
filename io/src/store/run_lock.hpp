// One process at a time has a run open.
#pragma once

#include <heddle/base/error.hpp>

#include <string>
#include <utility>

namespace heddle::store {

/// The lock of a folder, held until this is destroyed or the process ends, however it ends.
class run_lock {
public:
    /// Errors: io_error; when another process holds it, with its number.
    [[nodiscard]] static result<run_lock> take(const std::string& folder);
    run_lock(run_lock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
    run_lock& operator=(run_lock&&) = delete;
    ~run_lock();

private:
    explicit run_lock(int file) noexcept : file_(file) {}
    int file_;
};

} // namespace heddle::store
