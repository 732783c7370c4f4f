// A response store in a SQLite file.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/response_store.hpp>
#include <heddle/ports/tree_port.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace heddle::store {

struct response_store_options {
    std::string file; ///< created if absent, readable by its owner only; its folder must exist
    std::chrono::seconds keep_for{std::chrono::hours(24 * 30)}; ///< age at which a response expires
    std::uint64_t max_bytes = 1024ULL * 1024 * 1024;            ///< of keys and bodies
    /// The time of day; tests replace it.
    std::function<std::chrono::system_clock::time_point()> clock = [] {
        return std::chrono::system_clock::now();
    };
};

/// Opens a store. Lookups run on `workers`, which outlive it; responses are written on a thread of
/// the store. The first call opens the file and returns its errors. The destructor writes queued
/// responses, unless another process keeps the file locked: see flush. Errors of the calls:
/// io_error with the file and what to do (another version, damaged, locked by another process for
/// long, disk full). Threads: the result belongs to the loop of `workers`.
[[nodiscard]] std::unique_ptr<ports::response_store> make_response_store(
    ports::worker_port& workers, response_store_options options);

} // namespace heddle::store
