// A client, a loop and short ways to call.
#pragma once

#include <heddle/http/client.hpp>

#include <loopback_runner.hpp>
#include <loopback_server.hpp>

#include <gtest/gtest.h>
#include <hang_guard.hpp>

namespace heddle::http {

using namespace std::chrono_literals;
using ports::http_errc;
using ports::http_request;
using ports::http_response;

class client_test : public ::testing::Test {
protected:
    ~client_test() override {
        if (client) test.run(client->close());
    }

    void make(http_client_options options = {}) {
        client = make_http_client(test.loop, std::move(options));
    }

    [[nodiscard]] http_request request_to(std::string_view url, std::string body = "{}") {
        if (!client) make();
        http_request request;
        auto origin = client->origin(url);
        EXPECT_TRUE(origin) << origin.error().message();
        if (origin) request.origin = *origin;
        request.target = "/v1";
        request.headers.push_back({"Authorization", "Bearer sk-secret", true});
        request.body = std::move(body);
        return request;
    }
    [[nodiscard]] result<http_response> call(http_request request,
                                             coro::cancel_source* cancel = nullptr,
                                             coro::deadline until = {}) {
        return test.run(client->exchange(std::move(request), test.context(cancel, until)));
    }
    [[nodiscard]] result<http_response> call(std::string_view url) { return call(request_to(url)); }

    /// The far side needs a moment to see what we did.
    template <class Condition>
    [[nodiscard]] bool soon(Condition condition) {
        return hang_guard::comes_true([&] {
            test.turn();
            return condition();
        });
    }

    loopback::runner test;
    std::shared_ptr<ports::http_port> client;
};

inline void expect_failure(const result<http_response>& outcome, http_errc code) {
    ASSERT_FALSE(outcome) << outcome->status << " " << outcome->body;
    EXPECT_EQ(outcome.error().code(), make_error_code(code)) << outcome.error().message();
    EXPECT_EQ(outcome.error().message().find("secret"), std::string::npos);
}

inline void expect_cancelled(const result<http_response>& outcome, cancel_reason reason) {
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().cancelled_because(), reason) << outcome.error().message();
}

/// Serves every request of a connection with the same bytes.
inline loopback::server::script always(std::string bytes) {
    return [bytes = std::move(bytes)](loopback::connection& peer, int) {
        while (!peer.read_request().empty()) {
            if (!peer.send(bytes)) return;
        }
    };
}

/// Answers the first request of a connection with "x" and cuts it at the second.
inline void answer_once_and_cut(loopback::connection& peer, int) {
    (void)peer.read_request();
    (void)peer.send(loopback::ok_response("x"));
    (void)peer.read_request();
    peer.cut();
}

} // namespace heddle::http
