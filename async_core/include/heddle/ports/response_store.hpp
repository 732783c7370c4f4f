// Responses of models, kept between runs.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace heddle::ports {

/// The response kept under a key.
struct stored_response {
    std::string provider;
    std::string model;
    std::string body; ///< the response as text, opaque to the store
};

struct response_store_stats {
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0; ///< of keys and bodies
    std::uint64_t max_bytes = 0;
    std::uint64_t expired = 0; ///< entries past the age at which the store drops them
    std::optional<std::chrono::system_clock::time_point> oldest;
    std::optional<std::chrono::system_clock::time_point> newest;
};

/// Keeps responses by the text of their request, for a time and up to a size: the least recently
/// used are dropped first. Several processes may share one. Threads: its shard's only.
class response_store {
public:
    virtual ~response_store() = default;

    /// The response kept for `request`, unless it is too old. `request` is any text that identifies
    /// the request; only its digest is kept.
    /// Errors: io_error when the store cannot be read. Cancellation: ends at once.
    [[nodiscard]] virtual coro::task<result<std::optional<stored_response>>> find(
        std::string request, coro::call_context context) = 0;

    /// Stores a response, which find() returns from now on; replaces an earlier one for the same
    /// request. A response larger than the whole store is dropped. It is written after the call has
    /// returned; the call waits only while too many responses are queued.
    /// Errors: io_error, also that of an earlier response. Cancellation: ends the wait and drops
    /// the response; a response that needs no wait is stored in any case.
    [[nodiscard]] virtual coro::task<result<void>> keep(std::string request,
                                                        stored_response response,
                                                        coro::call_context context) = 0;

    /// Waits up to `limit` until all queued responses are written, and drops those that are not.
    /// Errors: io_error with the number of those dropped, or the reason why one was not written,
    /// unless a call has returned an io_error before; cancelled: they may still be written.
    [[nodiscard]] virtual coro::task<result<void>> flush(
        [[maybe_unused]] std::chrono::milliseconds limit,
        [[maybe_unused]] coro::call_context context) {
        co_return result<void>();
    }

    [[nodiscard]] virtual coro::task<result<response_store_stats>> stats(
        coro::call_context context) = 0;

    /// Removes everything, or what is older than `age`. Result: the number of entries removed.
    [[nodiscard]] virtual coro::task<result<std::uint64_t>> clear(
        std::optional<std::chrono::seconds> age, coro::call_context context) = 0;
};

} // namespace heddle::ports
