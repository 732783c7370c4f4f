// One connection of the scripted server.
#pragma once

#include <heddle/coro/call_context.hpp>
#include <heddle/coro/timer_wheel.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/http/request_parser.hpp>
#include <heddle/scripted/server.hpp>

#include "common/json_reader.hpp"
#include "scripted/served_routes.hpp"

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <boost/intrusive/list.hpp>

#include <memory>
#include <string>

namespace heddle::scripted {

using server_socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, coro::executor>;

/// What the connections of a server share. Outlives them all.
struct server_shared {
    std::shared_ptr<engine> rules;
    server_options options;
    coro::event_loop& loop;
    log_port& log;
    json_reader reader; ///< used between two waits only
    server_counters counters;
    bool stopping = false;
    std::string body; ///< of the response being made, for its memory
};

/// Reads requests and answers them in their order, one at a time.
/// Threads: the shard's only.
class server_connection final : public std::enable_shared_from_this<server_connection>,
                                public boost::intrusive::list_base_hook<>,
                                private coro::timer_node {
public:
    server_connection(server_shared& shared, server_socket socket);

    /// Serves until the client closes, a time runs out, or the server stops. `self` is this: the
    /// coroutine keeps it. Cancellation of `context` ends a response's delay; stop() does the rest.
    [[nodiscard]] static coro::task<void> serve(std::shared_ptr<server_connection> self,
                                                coro::call_context context);

    /// Closes the connection now if it waits for a request, else after the response under way.
    void stop() noexcept;
    void close() noexcept;

private:
    enum class phase : std::uint8_t { idle, receiving, answering };

    /// A request that has to wait before its response goes out.
    struct pending {
        outcome result;
        const served_format* format = &default_format(); ///< of this request, or the last
        served_chat asked;
    };

    // False: the connection is to end. serve() awaits each at once and keeps `self`.
    // NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)
    [[nodiscard]] static coro::task<bool> receive(server_connection& self);
    [[nodiscard]] static coro::task<bool> flush(server_connection& self);
    [[nodiscard]] static coro::task<void> linger(server_connection& self);
    [[nodiscard]] static coro::task<bool> answer_chat(server_connection& self,
                                                      coro::call_context context);
    [[nodiscard]] static coro::task<bool> pause(server_connection& self,
                                                std::chrono::milliseconds time,
                                                coro::call_context context);
    [[nodiscard]] static coro::task<bool> stream_answer(server_connection& self,
                                                        coro::call_context context);
    // NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

    void make_room();
    /// Answers everything that needs no waiting. True: the request is a chat, now in pending_.
    [[nodiscard]] bool take_request();
    void take_chat(const served_route& route, std::string_view body);
    void write_models(const served_route& route);
    void write_chat();
    void write_fault(const fault& shown);
    void write_error(int status, std::string_view message, std::string_view type,
                     std::string_view code);
    void write_json(int status, std::string_view body, std::string_view more_headers = {});
    [[nodiscard]] bool is_allowed(std::string_view given) const noexcept;
    void watch_peer();
    void limit_time(std::chrono::milliseconds time);
    void on_timer() noexcept override { close(); }

    server_shared& shared_;
    server_socket socket_;
    http::request_parser parser_;
    std::string in_;        // received; its size is its room
    std::size_t begin_ = 0; // of the request under way
    std::size_t end_ = 0;   // of what was received
    std::string out_;       // to be sent
    pending pending_;
    coro::wait_point pause_;
    phase phase_ = phase::idle;
    bool keep_alive_ = true; // after the response under way
    bool http_1_0_ = false;
    bool watching_ = false; // a wait for the peer's end is under way
    bool peer_gone_ = false;
};

} // namespace heddle::scripted
