// A provider that shows its requests to an observer.
#pragma once

#include <heddle/base/secret.hpp>
#include <heddle/ports/forwarding_llm_port.hpp>

#include <optional>
#include <vector>

namespace heddle::setup {

/// A request that is about to be sent.
struct seen_request {
    ports::llm_port& service; ///< the provider that sends it
    const ports::chat_request& request;
    bool streams = false; ///< its response arrives in pieces
};

/// Observes the requests of watched_provider. Threads: the loop's.
class request_watch {
public:
    virtual ~request_watch() = default;
    /// Called before each request. If it returns an error, the request is not sent and the call
    /// fails with that error.
    [[nodiscard]] virtual std::optional<error> on_request(const seen_request& seen) = 0;
    /// Passes the keys of the services, which must not be shown.
    virtual void hide(std::vector<secret> /*keys*/) {}
};

/// Passes every request to a request_watch before sending it. Threads: its shard's only.
class watched_provider final : public ports::forwarding_llm_port {
public:
    /// Both outlive it.
    watched_provider(ports::llm_port& inner, request_watch& watch)
        : forwarding_llm_port(inner), watch_(watch) {}

    /// Errors: also that of the watch. Cancellation: as that of the inner provider.
    [[nodiscard]] coro::task<result<ports::chat_response>> complete(
        const ports::chat_request& request, coro::call_context context) override;
    /// As complete.
    [[nodiscard]] coro::task<result<ports::chat_response>> stream(
        const ports::chat_request& request, ports::chat_delta_sink on_delta,
        coro::call_context context) override;

private:
    request_watch& watch_;
};

} // namespace heddle::setup
