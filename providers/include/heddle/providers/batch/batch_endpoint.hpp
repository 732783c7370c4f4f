// The batch endpoint of a model service: many requests at once, answered within a day, for less.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/ports/chat.hpp>
#include <heddle/providers/common/chat_codec.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::providers {

/// What one batch may hold.
struct batch_limits {
    std::size_t max_calls = 0;
    std::size_t max_bytes = 0; ///< of the whole upload
};

/// A request as the service takes it, without what is particular to its batch.
struct rendered_call {
    std::string body;                       ///< JSON
    std::vector<left_out_setting> left_out; ///< not sent; the caller is warned
};

/// One request of a batch.
struct batch_call {
    std::string id; ///< 1 to 64 letters, digits, `-` and `_`; names the call in the results
    std::string body;
};

/// The requests of one batch: all to one model, with distinct ids.
struct batch_submission {
    std::string model;
    std::string
        mark; ///< returned by batch_status::mark, if the service keeps it; as batch_call::id
    std::vector<batch_call> calls;
};

enum class batch_state : std::uint8_t {
    running,   ///< accepted: being checked, waiting, in progress, or ending
    ended,     ///< results can be fetched; any of them may be failures
    refused,   ///< as a whole: no request was performed
    expired,   ///< what was performed until then can be fetched
    cancelled, ///< what was performed until then can be fetched
    gone       ///< the service does not have it, or not its results any more
};

/// "running", for listings.
[[nodiscard]] std::string_view to_string(batch_state state) noexcept;

/// Why a batch was refused.
struct batch_problem {
    std::string code;
    std::string message;
    std::optional<std::size_t> call; ///< index of the request that it is about
};

struct batch_status {
    std::string id; ///< checked: it fits into a path
    batch_state state = batch_state::running;
    std::optional<std::uint64_t> total; ///< requests; absent: the service does not report it yet
    std::uint64_t finished = 0;         ///< those with a response so far, if the service counts
    std::uint64_t failed = 0;
    std::vector<batch_problem> problems;
    bool may_pass = false;               ///< refused: the same batch may be accepted later
    std::string mark;                    ///< of the submission; empty: the service keeps none
    std::optional<std::int64_t> created; ///< seconds since 1970
    std::vector<std::string> files;      ///< of the service, with results; checked as `id`
    bool has_results = false;            ///< there is something to fetch
};

/// How a submission ended.
struct batch_receipt {
    result<batch_status> status;
    /// The batch may exist although `status` is an error: the response was lost.
    bool may_exist = false;
};

/// How one request of a batch ended.
struct batch_response {
    enum class fate : std::uint8_t {
        answered,
        failed,    ///< `response` is the error; retryable() is set
        expired,   ///< not performed in time
        cancelled, ///< not performed: the batch was cancelled
    };
    std::string id; ///< as submitted, or whatever the service makes up: to be looked up
    fate what = fate::failed;
    result<ports::chat_response> response;
};

/// Takes one response. An error ends the fetch.
using batch_sink = std::function<result<void>(batch_response)>;

/// Submits batches of requests and fetches their responses. Requests and responses are translated
/// by the codec of the service's calls. Reading requests are tried again when they fail; creating
/// requests are not. Whatever the service sends is bounded in size and checked. Errors: llm_errc,
/// cancelled. No error shows the key. Cancellation: at any point; what was sent is not taken back.
/// Threads: its shard's only.
class batch_endpoint {
public:
    virtual ~batch_endpoint() = default;

    [[nodiscard]] virtual std::string_view provider_name() const noexcept = 0;
    [[nodiscard]] virtual batch_limits limits() const noexcept = 0;
    /// Size of a call within an upload, in bytes.
    [[nodiscard]] virtual std::size_t size_of(const batch_call& call) const noexcept = 0;

    /// Pure. Errors: as chat_codec::encode.
    [[nodiscard]] virtual result<rendered_call> render(const ports::chat_request& request) = 0;

    /// Errors: llm_errc::invalid_request, without a request, for a submission beyond the limits.
    [[nodiscard]] virtual coro::task<batch_receipt> submit(batch_submission what,
                                                           coro::call_context context) = 0;
    /// A batch that the service does not know is `gone`.
    [[nodiscard]] virtual coro::task<result<batch_status>> poll(std::string id,
                                                                coro::call_context context) = 0;
    /// Hands out the responses, in any order, until they end. After an error, the caller may fetch
    /// again and gets responses twice. Ids may be repeated or unknown.
    [[nodiscard]] virtual coro::task<result<void>> fetch(batch_status of, batch_sink sink,
                                                         coro::call_context context) = 0;
    /// The batches of the account that were created at `since` (seconds since 1970) or later.
    [[nodiscard]] virtual coro::task<result<std::vector<batch_status>>> list(
        std::int64_t since, coro::call_context context) = 0;
    /// Asks to end a batch. The service may take minutes: poll shows it.
    [[nodiscard]] virtual coro::task<result<void>> cancel(std::string id,
                                                          coro::call_context context) = 0;
};

} // namespace heddle::providers
