// A language model as the task system sees it.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/ports/chat.hpp>

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::ports {

/// Failures of model services; each provider maps the errors of its service to these.
enum class llm_errc : int {
    ok = 0,
    invalid_request, ///< 400, 422: the request is invalid and will stay so
    authentication,  ///< 401
    permission,      ///< 403
    not_found,       ///< 404: no such model or path
    rate_limit,      ///< 429 that passes with time
    quota,           ///< 429 that does not (insufficient_quota)
    overloaded,      ///< 503, 529
    server,          ///< other 5xx, an error inside a stream
    request_timeout, ///< 408
    conflict,        ///< 409
    connection,      ///< could not be reached, or the connection broke
    protocol,        ///< the response does not follow the API
    content_refused, ///< refused by a filter of the service
    configuration    ///< no key, unknown provider, bad base URL
};

[[nodiscard]] const boost::system::error_category& llm_category() noexcept;
[[nodiscard]] inline boost::system::error_code make_error_code(llm_errc code) noexcept {
    return {static_cast<int>(code), llm_category()};
}

/// The payload of an error that ends a response midway: what had arrived by then. When nothing had,
/// it still holds the requests of earlier attempts.
class partial_response : public error_payload {
public:
    explicit partial_response(chat_response received) : so_far(std::move(received)) {}
    chat_response so_far;
    bool all_lost = false; ///< the call ended between two requests; so_far.lost holds them all
    /// Bytes of the body of the last response, which was cut off before it could be read.
    std::size_t unread = 0;
};

/// The part of a response that preceded a failure, or null. Lives as long as the failure.
[[nodiscard]] const chat_response* part_of(const error& failure) noexcept;
/// Number of requests that a failed call sent. If unknown: one, or zero when the service was not
/// set up.
[[nodiscard]] std::uint32_t attempts_of(const error& failure) noexcept;
/// Whether the last request of a failed call is free of charge: it was not sent, the service
/// refused it, or the service was not reached.
[[nodiscard]] bool is_unpaid(const error& failure) noexcept;
/// The requests of a failed call, except the last, that may be charged for.
[[nodiscard]] const std::vector<lost_request>& lost_with(const error& failure) noexcept;
/// Adds the requests of a call that failed, or whose response is discarded, to those of a call that
/// continues.
void add_lost(std::vector<lost_request>& lost, const error& failure);
void add_lost(std::vector<lost_request>& lost, const chat_response& response);
/// Returns `failure` with the requests that preceded its own.
[[nodiscard]] error with_lost(error failure, std::vector<lost_request> lost);
/// Returns `failure` for a request whose response was cut off after `bytes` bytes of its body,
/// which could not be read. 0: `failure` as it is.
[[nodiscard]] error with_received(error failure, std::size_t bytes);
/// Returns `failure` for a request that was never written to a connection: free of charge, whatever
/// ended it.
[[nodiscard]] error with_nothing_sent(error failure);
/// Returns `failure` with the number of requests that the call sent to others before it or beside
/// it. A last request that is free of charge stays so.
[[nodiscard]] error with_other_attempts(error failure, std::uint32_t others);
/// Returns `why` for a call that ended while it was about to send another request after `failed`,
/// whose request stays its last one. `lost`: the requests before that one that may be charged for;
/// `attempts`: the number of requests sent.
[[nodiscard]] error ended_after(error why, const error& failed, std::vector<lost_request> lost,
                                std::uint32_t attempts);
/// Returns `failure` for a call that ended between two requests. `lost`: all requests that may be
/// charged for; `attempts`: the number of requests sent.
[[nodiscard]] error between_attempts(error failure, std::vector<lost_request> lost,
                                     std::uint32_t attempts);

/// Receives text as it arrives. Returning an error cancels the call.
using chat_delta_sink = std::function<result<void>(std::string_view text)>;

/// A configured model service. Threads: its shard's only.
class llm_port {
public:
    virtual ~llm_port() = default;

    /// The name that users write before the colon in "openai:gpt-4o".
    [[nodiscard]] virtual std::string_view provider_name() const noexcept = 0;
    /// Whether all requests go through a cache, so that the port supports cache_use::kept: it
    /// returns the cached response or fails with llm_errc::not_found.
    [[nodiscard]] virtual bool keeps_responses() const noexcept { return false; }
    /// Number of requests that a call may have in flight at the same time, unless it is
    /// call_scheduling::one_at_a_time: more than one where calls are hedged.
    [[nodiscard]] virtual unsigned max_requests_at_once() const noexcept { return 1; }

    /// One call, with the provider's retries. Errors: llm_errc, cancelled.
    /// Cancellation: at any point; nothing stays open.
    /// `request` is only read, and must outlive the call.
    [[nodiscard]] virtual coro::task<result<chat_response>> complete(
        const chat_request& request, coro::call_context context) = 0;

    /// As complete, with the text also delivered in pieces.
    [[nodiscard]] virtual coro::task<result<chat_response>> stream(const chat_request& request,
                                                                   chat_delta_sink on_delta,
                                                                   coro::call_context context) = 0;
};

} // namespace heddle::ports

namespace boost::system {
template <>
struct is_error_code_enum<heddle::ports::llm_errc> : std::true_type {};
} // namespace boost::system
