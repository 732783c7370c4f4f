#include "quota_server.hpp"

#include <heddle/coro/spawn.hpp>
#include <heddle/http/client.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <exception>
#include <future>
#include <map>
#include <optional>
#include <string_view>
#include <thread>

namespace heddle::testing {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using steady = std::chrono::steady_clock;

std::string on_wire(const ports::http_response& response) {
    std::string text =
        response.status == 200 ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 429 Too Many Requests\r\n";
    for (const auto& [name, value] : response.headers) text += name + ": " + value + "\r\n";
    return text + "content-length: " + std::to_string(response.body.size()) + "\r\n\r\n" +
           response.body;
}

/// How much the body of a request has; the head is in lower case where it matters.
std::size_t body_length(std::string_view head) {
    for (const std::string_view name : {"\r\ncontent-length: ", "\r\nContent-Length: "}) {
        const std::size_t at = head.find(name);
        if (at == std::string_view::npos) continue;
        std::size_t length = 0;
        const char* const from = head.data() + at + name.size();
        std::from_chars(from, head.data() + head.size(), length);
        return length;
    }
    return 0;
}

/// The service of one case.
struct service {
    service(asio::io_context& io, const limit_case& which)
        : of(which), acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0), true),
          quota(which.quota) {
        acceptor.listen(4096);
    }
    quota_verdict arrive() {
        const auto now = steady::now();
        if (!began) began = now;
        const double at = std::chrono::duration<double>(now - *began).count();
        quota_verdict verdict = quota.arrive(at, std::chrono::system_clock::now());
        log.arrivals.push_back({at, verdict.admitted});
        return verdict;
    }

    const limit_case& of;
    tcp::acceptor acceptor;
    quota_service quota;
    std::optional<steady::time_point> began;
    limit_case_log log;
};

class connection : public std::enable_shared_from_this<connection> {
public:
    connection(tcp::socket socket, std::shared_ptr<service> in)
        : socket_(std::move(socket)), timer_(socket_.get_executor()), in_(std::move(in)) {
        socket_.set_option(tcp::no_delay(true));
    }

    void read_request() {
        asio::async_read_until(
            socket_, asio::dynamic_buffer(unread_), "\r\n\r\n",
            [self = shared_from_this()](boost::system::error_code ec, std::size_t size) {
                if (!ec) self->read_body(size);
            });
    }

private:
    void read_body(std::size_t head) {
        const std::size_t whole = head + body_length(std::string_view(unread_).substr(0, head));
        const std::size_t missing = whole > unread_.size() ? whole - unread_.size() : 0;
        asio::async_read(
            socket_, asio::dynamic_buffer(unread_), asio::transfer_exactly(missing),
            [self = shared_from_this(), whole](boost::system::error_code ec, std::size_t) {
                if (ec) return;
                self->unread_.erase(0, whole);
                self->reply();
            });
    }
    void reply() {
        quota_verdict verdict = in_->arrive();
        timer_.expires_after(verdict.admitted ? in_->of.latency : in_->of.refusal_latency);
        response_ = on_wire(case_response(in_->of, std::move(verdict)));
        timer_.async_wait([self = shared_from_this()](boost::system::error_code ec) {
            if (!ec) self->write();
        });
    }
    void write() {
        asio::async_write(socket_, asio::buffer(response_),
                          [self = shared_from_this()](boost::system::error_code ec, std::size_t) {
                              if (!ec) self->read_request();
                          });
    }

    tcp::socket socket_;
    asio::steady_timer timer_;
    std::shared_ptr<service> in_;
    std::string unread_;
    std::string response_;
};

void accept_next(const std::shared_ptr<service>& in) {
    in->acceptor.async_accept([in](boost::system::error_code ec, tcp::socket socket) {
        if (ec) return;
        std::make_shared<connection>(std::move(socket), in)->read_request();
        accept_next(in);
    });
}

} // namespace

class quota_servers::impl {
public:
    asio::io_context io{1};
    asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
    std::map<std::string, std::shared_ptr<service>> services;
    std::thread thread{[this] { io.run(); }};
};

quota_servers::quota_servers() : impl_(std::make_unique<impl>()) {}

quota_servers::~quota_servers() { stop(); }

std::string quota_servers::add(const limit_case& of) {
    std::promise<std::string> url;
    asio::post(impl_->io, [&] {
        auto object = std::make_shared<service>(impl_->io, of);
        const auto port = std::to_string(object->acceptor.local_endpoint().port());
        std::string text = "http://127.0.0.1:" + port;
        impl_->services.emplace(text, object);
        accept_next(object);
        url.set_value(std::move(text));
    });
    return url.get_future().get();
}

void quota_servers::stop() {
    if (!impl_->thread.joinable()) return;
    impl_->io.stop();
    impl_->thread.join();
}

const limit_case_log& quota_servers::log_of(const std::string& base_url) const {
    return impl_->services.at(base_url)->log;
}

namespace {

/// One case over sockets: its limiter, its provider and its calls.
struct socket_run {
    socket_run(const limit_case& of, std::string base_url, ports::http_port& http,
               coro::event_loop& loop)
        : url(std::move(base_url)),
          gate(std::make_shared<providers::limiter_gate>(loop, settings_of(of))),
          provider(make_case_provider(of, http, url, gate, 0)), load(loop, *provider, of),
          began(loop.now()) {}

    std::string url;
    std::shared_ptr<providers::limiter_gate> gate;
    std::unique_ptr<ports::llm_port> provider;
    case_load load;
    coro::clock::time_point began;
};

} // namespace

std::vector<limit_case_figures> run_cases_over_sockets(const std::vector<limit_case>& cases) {
    quota_servers servers;
    asio::io_context io{1};
    coro::event_loop loop(io);
    const auto http = http::make_http_client(loop, {});
    std::vector<std::unique_ptr<socket_run>> runs;
    for (const limit_case& each : cases) {
        // One after the other: a program that starts has the machine to itself.
        if (!runs.empty()) io.run_for(std::chrono::milliseconds(100));
        auto& result =
            runs.emplace_back(std::make_unique<socket_run>(each, servers.add(each), *http, loop));
        const auto most =
            std::chrono::duration<double>(2 * quota_service::min_time(each.quota, each.calls) + 20);
        result->load.start(
            coro::deadline(loop.now() + std::chrono::duration_cast<coro::clock::duration>(most)));
    }
    const auto running = [&] {
        return std::any_of(runs.begin(), runs.end(),
                           [](const auto& each) { return !each->load.done(); });
    };
    while (running()) io.run_one_for(std::chrono::seconds(1));
    bool closed = false;
    coro::spawn(loop, http->close(), [&](std::exception_ptr) { closed = true; });
    while (!closed) io.run_one_for(std::chrono::seconds(1));
    servers.stop();
    std::vector<limit_case_figures> figuress;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const socket_run& run = *runs[i];
        const auto took = std::chrono::duration<double>(run.load.last_response() - run.began);
        figuress.push_back(
            read_figures(cases[i], servers.log_of(run.url), took.count(), run.load.failed()));
    }
    return figuress;
}

} // namespace heddle::testing
