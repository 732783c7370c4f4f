// A server on a thread of its own.
#pragma once

#include <heddle/coro/spawn.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/http/router.hpp>
#include <heddle/http/server.hpp>

#include <raw_client.hpp>

#include <gtest/gtest.h>
#include <boost/asio/post.hpp>
#include <hang_guard.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace heddle::http {

using namespace std::chrono_literals;
using loopback::body_of;
using loopback::get;
using loopback::post;
using loopback::raw_client;
using loopback::status_of;

/// Keeps every line.
class kept_log final : public log_port {
public:
    [[nodiscard]] bool enabled(log_level) const noexcept override { return true; }
    void write(log_level, std::string_view, std::string_view message) noexcept override {
        const std::lock_guard guard(mutex_);
        text_ += message;
        text_ += '\n';
    }
    [[nodiscard]] std::string text() {
        const std::lock_guard guard(mutex_);
        return text_;
    }

private:
    std::mutex mutex_;
    std::string text_;
};

class http_server : public ::testing::Test {
protected:
    ~http_server() override { end(); }

    void start(server_options options = {}) {
        add_routes();
        auto opened = server::listen(
            std::move(options),
            [this](const server_request& request, response_writer& response,
                   coro::call_context context) { return routes.serve(request, response, context); },
            loop, log);
        ASSERT_TRUE(opened) << opened.error().message();
        served = *std::move(opened);
        port = served->port();
        coro::spawn(loop, run(*this), [this](std::exception_ptr thrown) {
            thrown_ = thrown != nullptr;
            ended = true;
        });
        thread = std::thread([this] { io.run(); });
    }
    /// Ends the server. Waits for its end, if need be until the program of the tests is ended.
    void end() {
        if (!thread.joinable()) return;
        on_loop([this] { served->stop(); });
        thread.join();
        EXPECT_FALSE(thrown_);
        EXPECT_TRUE(outcome_) << (outcome_ ? "" : outcome_.error().message());
        EXPECT_EQ(served->counters().open_connections, 0U);
        EXPECT_EQ(served->counters().in_progress, 0U);
    }
    template <class Call>
    void on_loop(Call what) {
        boost::asio::post(io, std::move(what));
    }
    server_counters counters() {
        std::promise<server_counters> got;
        on_loop([&] { got.set_value(served->counters()); });
        return got.get_future().get();
    }
    std::string exchange(std::string_view request) const {
        const raw_client client(port);
        client.send(request);
        return client.read_all();
    }
    template <class Condition>
    static bool soon(Condition condition) {
        return hang_guard::comes_true(std::move(condition));
    }

    boost::asio::io_context io{1};
    coro::event_loop loop{io};
    kept_log log;
    router routes;
    std::unique_ptr<server> served;
    coro::cancel_source broken_off;
    std::uint16_t port = 0;
    std::thread thread;
    std::atomic<bool> ended{false};

    // What the handlers saw.
    std::atomic<int> waiting{0};
    std::atomic<int> cancelled{0};
    std::atomic<cancel_reason> reason{cancel_reason::none};
    std::atomic<std::size_t> written{0};

private:
    using handler_function = coro::task<void> (*)(http_server&, const server_request&,
                                                  response_writer&, coro::call_context);

    void add(std::string method, std::string path, handler_function function) {
        routes.add(std::move(method), std::move(path),
                   [this, function](const server_request& request, response_writer& response,
                                    coro::call_context context) {
                       return function(*this, request, response, context);
                   });
    }
    void add_routes() {
        add("GET", "/hello", &hello);
        add("POST", "/echo", &echo);
        add("GET", "/files/*", &echo);
        add("GET", "/client", &client_of);
        add("GET", "/wait", &wait);
        add("GET", "/stubborn", &stubborn);
        add("GET", "/stream", &stream);
        add("GET", "/endless", &endless);
        add("GET", "/nothing", &nothing);
        add("GET", "/throws", &throws);
        add("GET", "/breaks", &breaks);
        add("GET", "/injects", &injects);
        add("GET", "/unfinished", &unfinished);
        add("GET", "/together", &together);
        add("GET", "/cut", &cut);
        add("GET", "/silent", &silent);
    }

    static coro::task<void> run(http_server& self) {
        self.outcome_ =
            co_await self.served->serve(coro::call_context{&self.loop, &self.broken_off, {}});
    }
    static coro::task<void> respond(response_writer& response, int status, std::string body) {
        response_head head;
        head.status = status;
        head.content_type = "text/plain";
        [[maybe_unused]] const auto sent = co_await response.send(std::move(head), std::move(body));
    }
    static coro::task<void> hello(http_server&, const server_request& request,
                                  response_writer& response, coro::call_context) {
        co_await respond(response, 200, request.is_secure ? "hi, secret" : "hi");
    }
    static coro::task<void> echo(http_server&, const server_request& request,
                                 response_writer& response, coro::call_context) {
        std::string text(request.path());
        text += "|" + std::string(request.body) + "|" + std::string(request.peer);
        co_await respond(response, 200, std::move(text));
    }
    static coro::task<void> client_of(http_server&, const server_request& request,
                                      response_writer& response, coro::call_context) {
        co_await respond(response, 200, std::string(request.client));
    }
    static coro::task<void> wait(http_server& self, const server_request&,
                                 response_writer& response, coro::call_context context) {
        ++self.waiting;
        coro::wait_point never;
        co_await never.wait(context);
        self.reason = context.cancel->reason();
        ++self.cancelled;
        co_await respond(response, 503, "cancelled");
    }
    /// Takes half a second, whatever is asked of it.
    static coro::task<void> stubborn(http_server& self, const server_request&,
                                     response_writer& response, coro::call_context context) {
        ++self.waiting;
        coro::wait_point never;
        const coro::deadline until(self.loop.now() + 500ms);
        co_await never.wait(coro::call_context{context.loop, nullptr, until});
        co_await respond(response, 200, "done");
    }
    static coro::task<void> stream(http_server& self, const server_request& request,
                                   response_writer& response, coro::call_context context) {
        response_head head;
        head.content_type = "text/event-stream";
        auto sent = co_await response.start(std::move(head));
        for (int i = 0; i < 3 && sent; ++i) {
            coro::wait_point never;
            const coro::deadline until(self.loop.now() + 5ms);
            co_await never.wait(context.with_deadline(until));
            std::string piece = "data: " + std::to_string(i) + "\n\n";
            sent = co_await response.write(std::move(piece));
        }
        if (request.target.find("explicit") != request.target.npos)
            sent = co_await response.finish();
    }
    static coro::task<void> endless(http_server& self, const server_request&,
                                    response_writer& response, coro::call_context context) {
        ++self.waiting;
        response_head head;
        auto sent = co_await response.start(std::move(head));
        while (sent) {
            std::string piece(64 * 1024, 'x');
            sent = co_await response.write(std::move(piece));
            if (sent) self.written += 64 * 1024;
        }
        self.reason = context.cancel->reason();
        ++self.cancelled;
    }
    static coro::task<void> nothing(http_server&, const server_request&, response_writer&,
                                    coro::call_context) {
        co_return;
    }
    static coro::task<void> throws(http_server&, const server_request&, response_writer&,
                                   coro::call_context) {
        throw std::runtime_error("a secret of the server");
        co_return;
    }
    static coro::task<void> breaks(http_server&, const server_request&, response_writer& response,
                                   coro::call_context) {
        response_head head;
        auto sent = co_await response.start(std::move(head));
        std::string piece = "half";
        sent = co_await response.write(std::move(piece));
        throw std::runtime_error("broken");
    }
    static coro::task<void> injects(http_server&, const server_request&, response_writer& response,
                                    coro::call_context) {
        response_head head;
        head.fields.push_back({"X-Note", "a\r\nSet-Cookie: b"});
        std::string body = "x";
        [[maybe_unused]] const auto sent = co_await response.send(std::move(head), std::move(body));
    }
    static coro::task<void> unfinished(http_server&, const server_request&,
                                       response_writer& response, coro::call_context) {
        response_head head;
        [[maybe_unused]] const auto sent = co_await response.start(std::move(head));
    }
    static coro::task<void> together(http_server&, const server_request&, response_writer& response,
                                     coro::call_context) {
        const bool is_early = response.put("early").has_value();
        const response_head head;
        const bool is_headed = response.put_head(head).has_value();
        const bool is_twice = response.put_head(head).has_value();
        const bool is_put = response.put("one").has_value() && response.put("two").has_value();
        if (is_early || !is_headed || is_twice || !is_put) throw std::logic_error("order");
        [[maybe_unused]] const auto sent = co_await response.finish();
    }
    static coro::task<void> cut(http_server& self, const server_request&, response_writer& response,
                                coro::call_context context) {
        const response_head head;
        auto sent = response.put_head(head);
        sent = response.put("half");
        sent = co_await response.flush();
        sent = response.put("lost");
        response.abandon();
        self.reason = context.cancel->reason();
        EXPECT_TRUE(response.has_finished());
        sent = co_await response.flush();
        EXPECT_FALSE(sent);
    }
    static coro::task<void> silent(http_server&, const server_request&, response_writer& response,
                                   coro::call_context) {
        response.abandon();
        co_return;
    }

    result<void> outcome_;
    bool thrown_ = false;
};

} // namespace heddle::http
