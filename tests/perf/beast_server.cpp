// What a workflow for each request is measured against: a Beast server that calls the same model
// by hand, in the same way as examples/embedding/5_http_server.cpp, without heddle.
//   bench_beast_server PORT MODEL_PORT
// POST /answer {"question": …} sends the question to the model on 127.0.0.1 as a chat completion,
// over kept connections, and responds with its text and tokens.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace json = boost::json;
using asio::use_awaitable;
using beast::error_code;
using tcp = asio::ip::tcp;
using namespace std::chrono_literals;

class server {
public:
    server(asio::io_context& context, std::uint16_t port, std::uint16_t model_port)
        : context_(context),
          acceptor_(context, tcp::endpoint(asio::ip::address_v4::loopback(), port)),
          model_(asio::ip::address_v4::loopback(), model_port) {}

    asio::awaitable<void> accept() {
        for (;;) {
            tcp::socket socket(context_);
            error_code ec;
            co_await acceptor_.async_accept(socket, asio::redirect_error(use_awaitable, ec));
            if (ec) continue;
            socket.set_option(tcp::no_delay(true), ec);
            // heddle-check: allow coroutine-start: this is what a program without heddle does
            asio::co_spawn(context_, serve(std::move(socket)), asio::detached);
        }
    }

private:
    /// A connection to the model with its buffer.
    struct model_connection {
        explicit model_connection(asio::io_context& context) : stream(context) {}
        beast::tcp_stream stream;
        beast::flat_buffer buffer;
    };

    asio::awaitable<void> serve(tcp::socket socket) {
        beast::tcp_stream stream(std::move(socket));
        beast::flat_buffer buffer;
        try {
            for (;;) {
                http::request<http::string_body> request;
                stream.expires_after(30s);
                co_await http::async_read(stream, buffer, request, use_awaitable);
                stream.expires_never();
                const std::string body = co_await answer(request.body());
                http::response<http::string_body> response(http::status::ok, request.version());
                response.set(http::field::content_type, "application/json");
                response.body() = body;
                response.keep_alive(request.keep_alive());
                response.prepare_payload();
                stream.expires_after(30s);
                co_await http::async_write(stream, response, use_awaitable);
                if (!response.keep_alive()) co_return;
            }
        } catch (const std::exception&) { // the client is gone
        }
    }

    asio::awaitable<std::string> answer(std::string text) {
        const json::value input = json::parse(text);
        json::object message{{"role", "user"}};
        message["content"] =
            "Answer in one sentence: " + std::string(input.at("question").as_string());
        json::object asked{{"model", "gpt-4o-mini"}};
        asked["messages"] = json::array{std::move(message)};
        const std::string response = co_await ask_model(json::serialize(asked));
        const json::value got = json::parse(response);
        json::object answered;
        answered["value"] = got.at("choices").at(0).at("message").at("content");
        answered["usage"] = got.at("usage");
        co_return json::serialize(answered);
    }

    asio::awaitable<std::string> ask_model(std::string body) {
        std::unique_ptr<model_connection> connection;
        if (idle_.empty()) {
            connection = std::make_unique<model_connection>(context_);
            co_await connection->stream.async_connect(model_, use_awaitable);
            connection->stream.socket().set_option(tcp::no_delay(true));
        } else {
            connection = std::move(idle_.back());
            idle_.pop_back();
        }
        http::request<http::string_body> request(http::verb::post, "/v1/chat/completions", 11);
        request.set(http::field::host, "127.0.0.1");
        request.set(http::field::authorization, "Bearer sk-mock");
        request.set(http::field::content_type, "application/json");
        request.body() = std::move(body);
        request.prepare_payload();
        connection->stream.expires_after(60s);
        co_await http::async_write(connection->stream, request, use_awaitable);
        http::response<http::string_body> response;
        co_await http::async_read(connection->stream, connection->buffer, response, use_awaitable);
        connection->stream.expires_never();
        idle_.push_back(std::move(connection));
        co_return std::move(response.body());
    }

    asio::io_context& context_;
    tcp::acceptor acceptor_;
    tcp::endpoint model_;
    std::vector<std::unique_ptr<model_connection>> idle_;
};

} // namespace

int main(int count, char** words) {
    if (count != 3) {
        std::fputs("bench_beast_server PORT MODEL_PORT\n", stderr);
        return 2;
    }
    asio::io_context context(1);
    server served(context, static_cast<std::uint16_t>(std::atoi(words[1])),
                  static_cast<std::uint16_t>(std::atoi(words[2])));
    // heddle-check: allow coroutine-start: the same
    asio::co_spawn(context, served.accept(), asio::detached);
    context.run();
}
