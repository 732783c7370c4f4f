// The scripted model as an HTTP server with the APIs of the services.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/log.hpp>
#include <heddle/base/secret.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/scripted/engine.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace heddle::scripted {

/// A model server on an address that others can reach responds to anyone, so that must be set
/// explicitly.
enum class exposure : std::uint8_t { loopback_only, any_address };

struct server_options {
    std::string address = "127.0.0.1"; ///< an IP address; names are not looked up
    std::uint16_t port = 0;            ///< 0: any free port
    exposure reach = exposure::loopback_only;
    secret required_key; ///< unless empty, requests without this key receive a 401
    std::size_t max_header_bytes = 64 * 1024;
    std::size_t max_body_bytes = 32 * 1024 * 1024;
    std::size_t max_connections =
        20'000; ///< a further one takes the place of an idle one, or waits
    std::chrono::milliseconds idle{300'000}; ///< between requests
    /// For the header, for the body, and for 64 kB of a response.
    std::chrono::milliseconds receive{60'000};
    std::chrono::milliseconds drain{2'000}; ///< for responses in progress when it is stopped
};

struct server_counters {
    std::uint64_t requests = 0; ///< complete requests, including refused ones
    std::uint64_t connections = 0;
    std::size_t open_connections = 0;
    std::size_t max_open_connections = 0;
    std::size_t in_flight = 0; ///< requests in progress, including delays
};

/// Responds, whole and streamed, in the format of the path: `POST /v1/chat/completions` and
/// `/v1/responses` (OpenAI), `/v1/messages` (Anthropic), `/v1/models/MODEL:generateContent` and
/// `:streamGenerateContent` (Gemini, also under `/v1beta`), `/api/chat` (Ollama); `GET /v1/models`,
/// `/api/tags`, `/health`. The `/v1` is optional. Of HTTP it does what http::server does; what that
/// refuses is refused in the format of OpenAI.
/// Threads: the shard's only.
class server {
public:
    /// Opens the port; connections wait in the kernel until serve() runs. `loop` and `log` outlive
    /// it. Errors: errc::invalid_argument for an invalid address, or for one that is not loopback
    /// without exposure::any_address; errc::io_error if the port cannot be opened.
    [[nodiscard]] static result<std::unique_ptr<server>> listen(std::shared_ptr<engine> rules,
                                                                server_options options,
                                                                coro::event_loop& loop,
                                                                log_port& log);
    /// serve() must have ended.
    ~server();
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept;
    /// "http://127.0.0.1:PORT/v1"
    [[nodiscard]] std::string base_url() const;

    /// Serves until `context` is cancelled, its deadline comes or stop() is called; these count as
    /// success. Then it accepts no more connections, closes idle ones, allows `drain` for responses
    /// in progress, and returns once every socket is closed. Call it once. Errors: errc::io_error
    /// if the port fails.
    [[nodiscard]] coro::task<result<void>> serve(coro::call_context context);

    /// Ends serve() like a cancellation. Does not wait. May be called before serve().
    void stop() noexcept;

    [[nodiscard]] server_counters counters() const noexcept;

private:
    struct state;
    explicit server(std::unique_ptr<state> object) noexcept;
    std::unique_ptr<state> state_;
};

} // namespace heddle::scripted
