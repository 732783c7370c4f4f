// One process at a time has a run open.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/fs/descriptor.hpp>

#include <string>
#include <utility>

namespace heddle::store {

/// The lock of a folder, held until this is destroyed or the process ends, however it ends.
class run_lock {
public:
    /// Errors: io_error; when another process holds it, with its number.
    [[nodiscard]] static result<run_lock> take(const std::string& folder);

private:
    explicit run_lock(fs::descriptor file) noexcept : file_(std::move(file)) {}
    fs::descriptor file_;
};

} // namespace heddle::store
