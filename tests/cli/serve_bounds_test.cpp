// Who may call `heddle serve`, how much at once, and how it ends.
#include "serve_fixture.hpp"

#include <filesystem>
#include <iterator>
#include <thread>

namespace heddle::cli_test {
namespace {

TEST_F(serve, tokens_and_their_names) {
    start(
        {"--token-file",
         scratch.file("tokens", "# those who may\nada s3cret-0123456789-a\ns3cret-0123456789-b\n")},
        {{{"HEDDLE_SERVE_TOKEN", "s3cret-0123456789-c"}}, {}, {}, false, false, false});
    const std::string body = R"({"name":"x"})";
    const std::string none = call("greet", body);
    EXPECT_EQ(status_of(none), 401);
    EXPECT_NE(none.find("WWW-Authenticate: Bearer\r\n"), none.npos);
    for (const char* wrong :
         {"Bearer s3cret-0123456789-x", "Bearer s3cret-0123456789-aa", "Bearer s3cret-0123456789-",
          "Bearer ", "Basic s3cret-0123456789-a", "s3cret-0123456789-a"}) {
        EXPECT_EQ(status_of(call("greet", body, "Authorization: " + std::string(wrong) + "\r\n")),
                  401)
            << wrong;
    }
    for (const char* right :
         {"s3cret-0123456789-a", "s3cret-0123456789-b", "s3cret-0123456789-c"}) {
        EXPECT_EQ(
            status_of(call("greet", body, "Authorization: Bearer " + std::string(right) + "\r\n")),
            200)
            << right;
    }
    EXPECT_EQ(status_of(get("/metrics")), 401);
    EXPECT_EQ(status_of(get("/healthz")), 200);
    // The body comes later than the header.
    const auto with_body = [&](const std::string& request, const std::string& fields) {
        const raw_client client(port);
        client.send(request + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + fields +
                    "Expect: 100-continue\r\n\r\n");
        std::string seen = client.read_until("\r\n\r\n");
        if (seen.starts_with("HTTP/1.1 100")) {
            client.send("{}");
            seen = client.read_all();
        }
        return status_of(seen);
    };
    EXPECT_EQ(with_body("GET /healthz", "Content-Length: 2\r\n"), 200);
    EXPECT_EQ(with_body("GET /readyz", "Content-Length: 2\r\n"), 200);
    EXPECT_EQ(with_body("GET /metrics", "Content-Length: 2\r\n"), 401);
    EXPECT_EQ(with_body("GET /healthz", "Content-Length: 8000\r\n"), 401);
    EXPECT_EQ(with_body("GET /healthz", "Transfer-Encoding: chunked\r\n"), 401);
    constexpr std::string_view ada = "Authorization: Bearer s3cret-0123456789-a\r\n";
    EXPECT_EQ(metric("heddle_client_requests_total{client=\"ada\"}", ada), "2");
    const auto ended = end();
    EXPECT_EQ(ended.code, 0);
    EXPECT_EQ((ended.out + ended.err).find("s3cret-0123456789"), std::string::npos);
}

TEST_F(serve, refuses_pages_of_other_sites_without_tokens) {
    start();
    const std::string body = R"({"name":"x"})";
    EXPECT_EQ(status_of(call("greet", body, "Origin: https://evil.example\r\n")), 403);
    const std::string rebound = exchange(
        "POST /v1/call/greet HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n"
        "Content-Type: application/json\r\nContent-Length: 12\r\n\r\n" +
        body);
    EXPECT_EQ(status_of(rebound), 403);
    const std::string like_an_address = exchange(
        "POST /v1/call/greet HTTP/1.1\r\nHost: 127.evil.example\r\nConnection: close\r\n"
        "Content-Type: application/json\r\nContent-Length: 12\r\n\r\n" +
        body);
    EXPECT_EQ(status_of(like_an_address), 403);
    EXPECT_EQ(status_of(call("greet", body, "Origin: http://localhost\r\n")), 200);
}

TEST_F(serve, limits) {
    start({"--rate", "3", "--max-body", "1KiB"});
    EXPECT_EQ(status_of(call("greet", std::string(2000, ' '))), 413);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(status_of(call("greet", R"({"name":"x"})")), 200);
    const std::string many = call("greet", R"({"name":"x"})");
    EXPECT_EQ(status_of(many), 429);
    EXPECT_NE(many.find("Retry-After: "), many.npos);
    EXPECT_EQ(status_of(get("/healthz")), 200);
}

TEST_F(serve, takes_bodies_above_the_usual_bound_of_json) {
    start({"--max-body", "80MiB"});
    const std::string body = R"({"name":)" + std::string(65 * 1024 * 1024, ' ') + R"("x"})";
    const std::string seen = call("greet", body);
    EXPECT_EQ(status_of(seen), 200) << seen.substr(0, 500);
}

TEST_F(serve, connections_leave_file_descriptors_to_the_rest) {
    through = {"/bin/sh", "-c", "ulimit -n 128 && exec \"$0\" \"$@\""};
    start({"--grace", "0.1"});
    std::vector<std::unique_ptr<raw_client>> clients;
    while (clients.size() < 140) {
        clients.push_back(std::make_unique<raw_client>(port));
        clients.back()->send("GET /healthz HTTP/1.1\r\n"); // not idle
    }
    std::this_thread::sleep_for(milliseconds(200));
    const std::filesystem::directory_iterator open("/proc/" + std::to_string(server->pid()) +
                                                   "/fd");
    EXPECT_LT(std::distance(open, std::filesystem::directory_iterator()), 120);
    clients.clear();
    EXPECT_EQ(status_of(get("/healthz")), 200);
    const auto ended = end();
    EXPECT_EQ(ended.code, 0);
    EXPECT_EQ(ended.err.find("accepting pauses"), std::string::npos) << ended.err;
}

TEST_F(serve, a_refusal_before_the_body_names_the_wait) {
    start({"--rate", "1"},
          {{{"HEDDLE_SERVE_TOKEN", "s3cret-0123456789-c"}}, {}, {}, false, false, false});
    const auto guess = [&] {
        return exchange(
            "POST /v1/call/greet HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n");
    };
    EXPECT_EQ(status_of(guess()), 401);
    const std::string again = guess();
    EXPECT_EQ(status_of(again), 429);
    EXPECT_NE(again.find("Retry-After: "), again.npos) << again;
}

TEST_F(serve, refusals_before_the_body_have_the_form_that_the_client_knows) {
    start({"--max-body", "1KiB"},
          {{{"HEDDLE_SERVE_TOKEN", "s3cret-0123456789-c"}}, {}, {}, false, false, false});
    constexpr std::string_view end = " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n";
    const std::string chat = exchange("POST /v1/chat/completions" + std::string(end));
    EXPECT_EQ(status_of(chat), 401);
    EXPECT_EQ(json_in(chat).at("error").at("code"), "invalid_api_key") << chat;
    const std::string call_of = exchange("POST /v1/call/greet" + std::string(end));
    EXPECT_EQ(json_in(call_of).at("error").at("status"), 401) << call_of;
    const std::string large =
        exchange(with_fields("POST", "/v1/chat/completions", std::string(2000, ' '),
                             "Authorization: Bearer s3cret-0123456789-c\r\n"));
    EXPECT_EQ(status_of(large), 413);
    EXPECT_EQ(json_in(large).at("error").at("type"), "invalid_request_error") << large;
}

TEST_F(serve, counts_what_it_refuses) {
    start({"--max-body", "1KiB"});
    EXPECT_EQ(status_of(get("/nothing")), 404);
    EXPECT_EQ(status_of(get("/v1/call/greet")), 405);
    EXPECT_EQ(status_of(call("greet", std::string(2000, ' '))), 413);
    EXPECT_EQ(status_of(exchange("GET / HTTP/1.1\r\n\r\n")), 400);
    EXPECT_EQ(status_of(exchange("POST /v1/call/greet HTTP/1.1\r\nHost: localhost\r\n"
                                 "Origin: http://x\r\nContent-Length: 9\r\n\r\n")),
              403);
    for (const char* status : {"404", "405", "413", "400", "403"}) {
        const std::string line =
            "heddle_requests_total{function=\"-\",status=\"" + std::string(status) + "\"}";
        EXPECT_EQ(metric(line), "1") << status;
    }
    const std::string chat = get("/v1/chat/completions");
    EXPECT_EQ(status_of(chat), 405);
    EXPECT_EQ(json_in(chat).at("error").at("type"), "invalid_request_error") << chat;
}

TEST_F(serve, one_client_has_some_places_only) {
    start({"--client-calls", "1"});
    raw_client busy(port);
    busy.send(with_fields("POST", "/v1/call/reply", R"({"q":"forever"})"));
    ASSERT_TRUE(comes_to_run(1));
    const std::string refused = call("greet", R"({"name":"x"})");
    EXPECT_EQ(status_of(refused), 429);
    EXPECT_NE(refused.find("Retry-After: 1\r\n"), refused.npos);
    busy.close();
    EXPECT_TRUE(comes_to_status(200, [&] { return call("greet", R"({"name":"x"})"); }));
}

TEST_F(serve, drains) {
    start({"--drain-delay", "2"});
    const raw_client busy(port);
    busy.send(with_fields("POST", "/v1/call/reply", R"({"q":"while"})"));
    ASSERT_TRUE(comes_to_run(1));
    server->send_signal(SIGTERM);
    EXPECT_TRUE(comes_to_status(503, [&] { return get("/readyz"); })); // within the delay
    EXPECT_EQ(json_in(busy.read_all()).at("value"), "done");
    EXPECT_EQ(server->wait().code, 0);
}

TEST_F(serve, a_call_that_the_end_cancels_responds_after_its_cleanup) {
    start({"--grace", "0.1"}, {},
          {scratch.file("t.heddle", "(define (tidy) (try (sleep 600) (finally (sleep 2))))")});
    const raw_client busy(port);
    busy.send(with_fields("POST", "/v1/call/tidy", ""));
    ASSERT_TRUE(comes_to_run(1));
    EXPECT_EQ(end().code, 0); // as soon as the last connection has ended
    const std::string seen = busy.read_all();
    EXPECT_EQ(status_of(seen), 503) << seen;
    EXPECT_NE(seen.find("Retry-After: 1\r\n"), seen.npos) << seen;
}

TEST_F(serve, the_end_cancels_what_takes_longer_and_a_second_signal_everything) {
    start({"--grace", "0.1"});
    const raw_client busy(port);
    busy.send(with_fields("POST", "/v1/call/reply", R"({"q":"forever"})"));
    const raw_client chatting(port);
    chatting.send(with_fields("POST", "/v1/chat/completions",
                              R"({"messages":[{"role":"user","content":"forever"}]})"));
    ASSERT_TRUE(comes_to_run(2));
    EXPECT_EQ(end(SIGINT).code, 0);
    const std::string cancelled = busy.read_all();
    EXPECT_EQ(status_of(cancelled), 503);
    EXPECT_EQ(json_in(cancelled).at("error").at("message"), "the server is shutting down");
    EXPECT_EQ(json_in(cancelled).at("error").at("cancelled_because"), "shutdown");
    EXPECT_NE(cancelled.find("Retry-After: 1\r\n"), cancelled.npos) << cancelled;
    const std::string said = chatting.read_all();
    EXPECT_EQ(status_of(said), 503);
    EXPECT_EQ(json_in(said).at("error").at("message"), "the server is shutting down");
    EXPECT_NE(said.find("Retry-After: 1\r\n"), said.npos) << said;

    start({"--grace", "600"});
    const raw_client other(port);
    other.send(with_fields("POST", "/v1/call/reply", R"({"q":"forever"})"));
    ASSERT_TRUE(comes_to_run(1));
    server->send_signal(SIGTERM);
    ASSERT_TRUE(hang_guard::comes_true([&] { return get("/readyz").empty(); })); // it has stopped
    EXPECT_EQ(end().code, 130);
}

} // namespace
} // namespace heddle::cli_test
