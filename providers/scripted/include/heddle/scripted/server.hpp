// The scripted model as an HTTP server that speaks the formats of the services.
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

/// A model server on an address that others can reach answers whoever asks: to be said aloud.
enum class exposure : std::uint8_t { loopback_only, any_address };

struct server_options {
    std::string address = "127.0.0.1"; ///< an IP address; a name is not looked up
    std::uint16_t port = 0;            ///< 0: any that is free
    exposure reach = exposure::loopback_only;
    secret required_key; ///< unless empty, requests without this key get a 401
    std::size_t max_header_bytes = 64 * 1024;
    std::size_t max_body_bytes = 32 * 1024 * 1024;
    std::size_t max_connections = 20'000;      ///< more wait in the kernel's queue
    std::chrono::milliseconds idle{300'000};   ///< between requests
    std::chrono::milliseconds receive{60'000}; ///< a whole request; a whole answer to be taken
    std::chrono::milliseconds drain{2'000};    ///< for answers under way when it is stopped
};

struct server_counters {
    std::uint64_t requests = 0; ///< whole requests, those refused included
    std::uint64_t connections = 0;
    std::size_t open_connections = 0;
    std::size_t max_open_connections = 0;
    std::size_t in_flight = 0; ///< requests being answered, delays included
};

/// Answers, whole and streamed, in the format of the path: `POST /v1/chat/completions` and
/// `/v1/responses` (OpenAI), `/v1/messages` (Anthropic), `/v1/models/MODEL:generateContent` and
/// `:streamGenerateContent` (Gemini, also under `/v1beta`), `/api/chat` (Ollama); `GET /v1/models`,
/// `/api/tags`, `/health`. The `/v1` may be left out. HTTP/1.1 with keep-alive, pipelining, chunked
/// bodies and `Expect: 100-continue`.
/// Threads: the shard's only.
class server {
public:
    /// Opens the port; connections wait in the kernel until serve() runs. `loop` and `log` outlive
    /// it. Errors: errc::invalid_argument for an address that is none, or no loopback one without
    /// exposure::any_address; errc::io_error when the port cannot be opened.
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

    /// Serves until `context` is cancelled, its deadline comes or stop() is called; these are its
    /// ordinary ends and give success. It then accepts nothing more, closes idle connections,
    /// gives the answers under way the time of `drain`, and returns when every socket is closed.
    /// Call it once. Errors: errc::io_error when the port broke.
    [[nodiscard]] coro::task<result<void>> serve(coro::call_context context);

    /// Ends serve() as a cancellation does. Does not wait. May be called before serve().
    void stop() noexcept;

    [[nodiscard]] server_counters counters() const noexcept;

private:
    struct state;
    explicit server(std::unique_ptr<state> object) noexcept;
    std::unique_ptr<state> state_;
};

} // namespace heddle::scripted
