// The sessions of a batch: one for each row in progress.
#pragma once

#include "application.hpp"
#include "batch/row_session.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heddle::cli {

/// Makes sessions and keeps those that are free. Threads: the loop's.
class session_pool {
public:
    /// All of it outlives the pool.
    session_pool(application& tools, const batch_program& program)
        : tools_(tools), program_(program) {}

    /// A session with the program loaded. Errors: as row_session::load.
    [[nodiscard]] coro::task<result<std::unique_ptr<row_session>>> take(coro::call_context context);
    /// Takes a session back, to be used again if it is clean, at most `most` of them.
    void put_back(std::unique_ptr<row_session> used, std::size_t most);

    /// The error of the program that take() returned last, with its place, as people read it.
    [[nodiscard]] const std::string& last_failure() const noexcept { return last_failure_; }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

private:
    application& tools_;
    const batch_program& program_;
    std::vector<std::unique_ptr<row_session>> free_;
    std::string last_failure_;
    std::uint64_t count_ = 0;
};

} // namespace heddle::cli
