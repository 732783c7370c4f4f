// Admission of the requests of a model call.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::ports {

struct chat_request;
struct lost_request;

/// What a request may use.
struct send_terms {
    /// Maximum number of output tokens; absent: that of the request.
    std::optional<std::int64_t> max_output_tokens;
};

/// Decides whether a request of a call is sent: the first one, each retry, each hedge, and each
/// target of a route. A provider asks just before it sends, after all waits for limits of the
/// service. Threads: those of the port.
class send_gate {
public:
    /// `lost`: earlier requests of the call that may be charged for. Errors: the request is not
    /// sent, and the call ends. Cancellation: as of the call.
    [[nodiscard]] virtual coro::task<result<send_terms>> before_sending(
        const chat_request& request, const std::vector<lost_request>& lost,
        coro::call_context context) = 0;

    /// A request that was admitted has ended free of charge: it was not sent, or the service
    /// refused it. The call may send it again, after another before_sending().
    virtual void on_unpaid() noexcept {}

protected:
    ~send_gate() = default;
};

} // namespace heddle::ports
