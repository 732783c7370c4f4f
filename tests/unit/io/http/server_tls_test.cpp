// The server with TLS, called by our own client.
#include "client_fixture.hpp"
#include "server_fixture.hpp"

#include <hang_guard.hpp>
#include <loopback_certificates.hpp>

#include <filesystem>
#include <fstream>

namespace heddle::http {
namespace {

/// Key and certificate of a server in files.
class certificate_files {
public:
    explicit certificate_files(const loopback::authority& from) {
        static std::atomic<int> count{0};
        const std::string stem =
            "heddle-server-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
        const auto folder = std::filesystem::temp_directory_path();
        tls = {(folder / (stem + ".pem")).string(), (folder / (stem + ".key")).string()};
        const loopback::certificate opened = from.issue();
        std::ofstream(tls.certificate_file) << opened.certificate_pem;
        std::ofstream(tls.key_file) << opened.key_pem;
    }
    ~certificate_files() {
        std::error_code ignored;
        std::filesystem::remove(tls.certificate_file, ignored);
        std::filesystem::remove(tls.key_file, ignored);
    }
    certificate_files(const certificate_files&) = delete;
    certificate_files& operator=(const certificate_files&) = delete;

    server_tls tls;
};

class https_server : public http_server {
protected:
    ~https_server() override {
        if (client) test.run(client->close());
    }
    void start_tls(server_options options = {}) {
        options.tls = files.tls;
        start(std::move(options));
        http_client_options wanted;
        wanted.ca_file = authority.file();
        client = make_http_client(test.loop, std::move(wanted));
    }
    [[nodiscard]] ports::http_request request(std::string method, std::string target,
                                              std::string body = {}) {
        ports::http_request opened;
        auto origin = client->origin("https://localhost:" + std::to_string(port));
        if (origin) opened.origin = *origin;
        opened.method = std::move(method);
        opened.target = std::move(target);
        opened.body = std::move(body);
        return opened;
    }
    [[nodiscard]] result<ports::http_response> call(ports::http_request opened,
                                                    coro::cancel_source* cancel = nullptr) {
        return test.run(client->exchange(std::move(opened), test.context(cancel)));
    }

    loopback::authority authority;
    certificate_files files{authority};
    loopback::runner test;
    std::shared_ptr<ports::http_port> client;
};

TEST_F(https_server, responds_over_tls) {
    start_tls();
    const auto hello = call(request("GET", "/hello"));
    ASSERT_TRUE(hello) << hello.error().message();
    EXPECT_EQ(hello->body, "hi, secret");
    // Larger than what one record holds, in both directions.
    const std::string body(300'000, 'b');
    const auto echo = call(request("POST", "/echo", body));
    ASSERT_TRUE(echo) << echo.error().message();
    EXPECT_EQ(echo->body, "/echo|" + body + "|127.0.0.1");
    const auto stream = call(request("GET", "/stream"));
    ASSERT_TRUE(stream) << stream.error().message();
    EXPECT_EQ(stream->body, "data: 0\n\ndata: 1\n\ndata: 2\n\n");
    EXPECT_EQ(counters().connections, 1U); // kept
}

TEST_F(https_server, cancels_the_handler_of_a_client_that_hangs_up) {
    start_tls();
    coro::cancel_source stop;
    std::thread canceller([&] {
        EXPECT_TRUE(soon([&] { return waiting == 1; }));
        boost::asio::post(test.io, [&] { stop.request(cancel_reason::user); });
    });
    const auto outcome = call(request("GET", "/wait"), &stop);
    canceller.join();
    EXPECT_FALSE(outcome);
    EXPECT_TRUE(soon([&] { return cancelled == 1; }));
    EXPECT_EQ(reason, cancel_reason::user);
}

TEST_F(https_server, a_client_without_tls_gets_nothing) {
    server_options options;
    options.header_time = 50ms;
    start_tls(options);
    const std::string seen = exchange(get("/hello"));
    EXPECT_EQ(seen.find("HTTP/"), seen.npos);
    EXPECT_EQ(raw_client(port).read_all(), ""); // one that does not begin
    EXPECT_TRUE(soon([&] { return counters().refused == 2; }));
    const auto after = call(request("GET", "/hello"));
    EXPECT_TRUE(after);
}

TEST_F(https_server, drains_and_keeps_no_connection) {
    server_options options;
    options.drain = hang_guard::far_beyond;
    start_tls(options);
    ASSERT_TRUE(call(request("GET", "/hello")));
    end();
}

TEST(https_server_options, certificates_that_cannot_be_used) {
    boost::asio::io_context io{1};
    coro::event_loop loop(io);
    const loopback::authority authority;
    const certificate_files one(authority);
    const certificate_files other(authority);
    const auto listen = [&](server_tls tls) {
        server_options options;
        options.tls = std::move(tls);
        const auto opened = server::listen(std::move(options), {}, loop, null_log());
        return opened ? std::string("fine") : opened.error().message();
    };
    EXPECT_EQ(listen(one.tls), "fine");
    EXPECT_TRUE(listen({"/none.pem", one.tls.key_file})
                    .starts_with("cannot use the certificate file /none.pem: "));
    EXPECT_TRUE(listen({one.tls.certificate_file, "/none.key"})
                    .starts_with("cannot use the key file /none.key: "));
    EXPECT_EQ(listen({one.tls.certificate_file, other.tls.key_file}),
              "cannot use the key file " + other.tls.key_file + ": key values mismatch");
}

} // namespace
} // namespace heddle::http
