// Answers of models, kept between runs.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace heddle::ports {

/// What is kept under a key.
struct stored_response {
    std::string provider;
    std::string model;
    std::string body; ///< an answer as text; the store does not look into it
};

struct response_store_stats {
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0; ///< of keys and bodies
    std::uint64_t max_bytes = 0;
    std::uint64_t expired = 0; ///< entries that are older than the store keeps them
    std::optional<std::chrono::system_clock::time_point> oldest;
    std::optional<std::chrono::system_clock::time_point> newest;
};

/// Keeps answers by the text of their request, for a time and up to a size: what was not used for
/// longest goes first. Several processes may share one. Threads: its shard's only.
class response_store {
public:
    virtual ~response_store() = default;

    /// The answer kept for `request`, unless it is too old. `request` is any text that tells requests
    /// apart; only its digest is kept.
    /// Errors: io_error when the store cannot be read. Cancellation: ends at once.
    [[nodiscard]] virtual coro::task<result<std::optional<stored_response>>> find(
        std::string request, coro::call_context context) = 0;

    /// Takes an answer, which is found from now on; an earlier one for the same request is replaced.
    /// An answer that is larger than the whole store may be is not kept. The answer is written after
    /// the call has returned, which waits only when too many others are to be written before it.
    /// Errors: io_error, also one of an answer that was taken before. Cancellation: ends the wait, the
    /// answer is not kept; an answer that needs no wait is taken in any case.
    [[nodiscard]] virtual coro::task<result<void>> keep(std::string request, stored_response answer,
                                                        coro::call_context context) = 0;

    /// Waits until all answers that were taken are written, for `limit` at most.
    /// Errors: io_error when some are not; cancelled, they may be written nevertheless.
    [[nodiscard]] virtual coro::task<result<void>> flush(
        [[maybe_unused]] std::chrono::milliseconds limit,
        [[maybe_unused]] coro::call_context context) {
        co_return result<void>();
    }

    [[nodiscard]] virtual coro::task<result<response_store_stats>> stats(
        coro::call_context context) = 0;

    /// Removes everything, or what is older than `age`; gives the number of entries removed.
    [[nodiscard]] virtual coro::task<result<std::uint64_t>> clear(
        std::optional<std::chrono::seconds> age, coro::call_context context) = 0;
};

} // namespace heddle::ports
