// One connection of the server.
#pragma once

#include "http/server_shared.hpp"
#include "http/server_stream.hpp"

#include <heddle/coro/wait_point.hpp>
#include <heddle/http/request_parser.hpp>

#include <boost/intrusive/list.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::http {

/// Reads requests and has them handled in their order, one at a time. What arrives while a handler
/// runs is read ahead, because only a read shows the end of the connection.
/// Threads: the loop's only.
class server_connection final : public boost::intrusive::list_base_hook<>, private net::ready_node {
public:
    /// `peer`: the address of the client.
    server_connection(server_shared& shared, fs::descriptor socket, std::string peer,
                      std::string client_key);
    server_connection(const server_connection&) = delete;
    server_connection& operator=(const server_connection&) = delete;
    ~server_connection();

    /// Serves until the client closes, a time runs out, or the server stops. `self` is this: the
    /// coroutine keeps it. The context is that of the requests.
    /// Exceptions: system_error if the socket cannot be watched.
    [[nodiscard]] static coro::task<void> serve(std::shared_ptr<server_connection> self,
                                                coro::call_context context);

    /// Closes the connection now if it waits for a request, else after the response in progress.
    void stop() noexcept;
    /// The time to drain is over: refuses the request of which a part is missing.
    void end_receiving() noexcept;
    /// Closes the socket; whatever waits for it fails.
    void close() noexcept;
    [[nodiscard]] bool is_idle() const noexcept { return phase_ == phase::idle; }
    /// What connections of the same client have in common.
    [[nodiscard]] const std::string& client_key() const noexcept { return client_key_; }
    /// What it receives is counted there, too. `client` outlives this, or count_for_nobody() is
    /// called.
    void count_for(client_use& client) noexcept { client_ = &client; }
    void count_for_nobody() noexcept;

    // For response_writer, which awaits each at once.

    /// Appends status line and fields; `length`: of the body, none if it comes in chunks.
    void put_head(const response_head& head, std::optional<std::size_t> length);
    void put_body(std::string_view bytes);
    void put_chunk(std::string_view bytes);
    void put_last_chunk();
    /// Sends what was put. NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
    [[nodiscard]] static coro::task<result<void>> flush(server_connection& self);

private:
    enum class phase : std::uint8_t { idle, receiving, responding };
    enum class received : std::uint8_t { bytes, end, too_late, shut_down };
    class request_in_progress;
    /// A buffer that grew beyond is given back.
    static constexpr std::size_t kept_room = 64 * 1024;
    /// What is received or sent at a stretch, before other connections have their turn.
    static constexpr std::size_t max_turn = 256 * 1024;

    // serve() awaits each at once and keeps `self`.
    // NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)
    [[nodiscard]] static coro::task<bool> begin_tls(server_connection& self);
    [[nodiscard]] static coro::task<received> receive(server_connection& self);
    [[nodiscard]] static coro::task<bool> send_continue(server_connection& self);
    [[nodiscard]] static coro::task<bool> respond(server_connection& self,
                                                  coro::call_context context);
    [[nodiscard]] static coro::task<void> refuse(server_connection& self, int status,
                                                 std::string_view why,
                                                 std::vector<response_field> fields = {});
    [[nodiscard]] static coro::task<void> turn_down(server_connection& self, early_refusal refused);
    [[nodiscard]] static coro::task<void> linger(server_connection& self);
    [[nodiscard]] static coro::task<coro::wake> wait_readable(server_connection& self,
                                                              coro::deadline until);
    [[nodiscard]] static coro::task<coro::wake> wait_writable(server_connection& self,
                                                              coro::deadline until);
    // NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

    void on_ready(net::readiness what) noexcept override;
    [[nodiscard]] net::io_outcome read_some();
    /// Makes room to read into. `missing`: of the request in progress; 0: unknown.
    void make_room(std::size_t missing);
    void release_room() noexcept;
    void take_next();
    /// Updates server_counters::received_bytes.
    void count_received() noexcept;
    void count_received(std::size_t now) noexcept;
    /// Releases what the parser has copied.
    void drop_taken() noexcept;
    /// Counts a request. Returns whether other connections must have their turn before the next.
    [[nodiscard]] bool ends_turn() noexcept;
    /// Adds what the connection knows.
    void complete_request(server_request& request) const;
    /// Whether the rest of the request in progress is unwelcome. `before_body` is asked once for
    /// each request.
    [[nodiscard]] early_refusal refuse_early();
    void read_ahead();
    void hang_up() noexcept;
    [[nodiscard]] coro::deadline in(std::chrono::milliseconds time) const noexcept;
    [[nodiscard]] coro::deadline receive_deadline();

    server_shared& shared_;
    server_stream stream_;
    std::string client_key_;
    client_use* client_ = nullptr;
    std::string peer_;
    request_parser parser_;
    std::string in_;        ///< received; its size is its room
    std::size_t begin_ = 0; ///< of the request in progress
    std::size_t end_ = 0;   ///< of what was received
    std::string out_;       ///< to be sent
    coro::wait_point readable_;
    coro::wait_point writable_;
    coro::cancel_source* request_ = nullptr; ///< of the handler that runs
    coro::deadline limit_;                   ///< of the part of a request that is awaited
    phase phase_ = phase::idle;
    bool limits_body_ = false; ///< `limit_` is the body's
    bool is_asked_ = false;    ///< whether the body is welcome
    bool keep_alive_ = true;   ///< after the response in progress
    bool is_http_1_0_ = false;
    bool no_body_ = false;      ///< HEAD, or a status without a body
    bool is_room_full_ = false; ///< the last read left no room
    std::size_t in_turn_ = 0;   ///< received since the loop was given to others
    unsigned requests_in_turn_ = 0;
    coro::clock::time_point turn_end_; ///< of pipelined requests
    std::size_t received_ = 0;         ///< counted in server_counters::received_bytes
    bool at_end_ = false;              ///< the client has hung up, or the socket is closed
};

} // namespace heddle::http
