// `heddle serve` as a process, called over its socket.
#include "child_process.hpp"
#include "scratch_directory.hpp"
#include "silent_model.hpp"

#include <heddle/http/client.hpp>

#include <loopback_certificates.hpp>
#include <loopback_runner.hpp>
#include <raw_client.hpp>

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

namespace heddle::cli_test {
namespace {

namespace json = boost::json;
using loopback::body_of;
using loopback::raw_client;
using loopback::status_of;

constexpr const char* workflow = R"((defatom ask (params q) (instructions "{{q}}"))
(define (greet name) "Greets somebody." (string-append "Hello, " name))
(define (whole input) input)
(define (reply q) (content (ask q)))
(define (-hidden) 1)
(define (chat messages options)
  (string-append (get options "tone" "plainly") ": " (reply (get (last messages) "content"))))
)";

constexpr const char* rules = R"({"rules": [
  {"match": "forever", "text": "x", "delay_ms": 600000},
  {"match": "while", "text": "done", "delay_ms": 400},
  {"match": "busy", "error": {"status": 400, "message": "no such thing"}}],
  "default": {"template": "said {{user}}", "usage": {"input": 10, "output": 4}}})";

std::string with_fields(std::string_view method, std::string_view path, std::string_view body,
                        std::string_view fields = "") {
    std::string text = std::string(method) + " " + std::string(path) +
                       " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                       std::string(fields);
    if (!body.empty()) text += "Content-Type: application/json\r\n";
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
    return text + std::string(body);
}

class serve : public testing::Test {
protected:
    void start(std::vector<std::string> more = {}, child_options options = {},
               std::vector<std::string> files = {}) {
        std::vector<std::string> words{"serve", "--listen", "127.0.0.1:0", "--json"};
        if (std::find(more.begin(), more.end(), "--model") == more.end()) {
            words.push_back("--model");
            words.push_back("scripted:" + scratch.file("r.json", rules));
        }
        if (files.empty()) files.push_back(scratch.file("w.heddle", workflow));
        words.insert(words.end(), files.begin(), files.end());
        words.insert(words.end(), more.begin(), more.end());
        options.directory = scratch.path();
        server = std::make_unique<child_process>(heddle_command(words), std::move(options));
        ASSERT_TRUE(server->wait_for_out("\n")) << server->err();
        first_line = json::parse(server->out());
        port = first_line.at("port").to_number<std::uint16_t>();
    }
    std::string exchange(const std::string& request) const {
        const raw_client client(port);
        client.send(request);
        return client.read_all();
    }
    std::string call(const std::string& name, const std::string& body,
                     std::string_view fields = "") const {
        return exchange(with_fields("POST", "/v1/call/" + name, body, fields));
    }
    std::string get(const std::string& path, std::string_view fields = "") const {
        return exchange(with_fields("GET", path, "", fields));
    }
    /// The value of a line of /metrics; "" if there is none.
    std::string metric(const std::string& name, std::string_view fields = "") const {
        const std::string text = "\n" + body_of(get("/metrics", fields));
        const std::size_t at = text.find("\n" + name + " ");
        if (at == text.npos) return "";
        const std::size_t begin = at + name.size() + 2;
        return text.substr(begin, text.find('\n', begin) - begin);
    }
    child_result end(int signal = SIGTERM) {
        server->send_signal(signal);
        return server->wait(milliseconds(10'000));
    }

    scratch_directory scratch;
    std::unique_ptr<child_process> server;
    json::value first_line;
    std::uint16_t port = 0;
};

json::value json_in(const std::string& response) { return json::parse(body_of(response)); }

TEST_F(serve, calls_functions_by_name) {
    start();
    EXPECT_EQ(first_line.at("functions"), (json::array{"chat", "greet", "reply", "whole"}));
    const std::string seen = call("greet", R"({"name":"Ada"})");
    EXPECT_EQ(status_of(seen), 200) << seen;
    const json::value answer = json_in(seen);
    EXPECT_EQ(answer.at("value"), "Hello, Ada");
    EXPECT_EQ(answer.at("usage").at("calls"), 0);
    EXPECT_EQ(answer.at("cost_usd").to_number<double>(), 0);
    EXPECT_GE(answer.at("seconds").to_number<double>(), 0);
    const json::value said = json_in(call("reply", R"({"q":"hi"})"));
    EXPECT_EQ(said.at("value"), "said hi");
    EXPECT_EQ(said.at("usage").at("input_tokens"), 10);
    EXPECT_EQ(status_of(call("%2Dhidden", "")), 404);
    EXPECT_EQ(status_of(call("none", "")), 404);
    EXPECT_EQ(status_of(get("/v1/call/greet")), 405);
    EXPECT_EQ(end().code, 0);
}

TEST_F(serve, mistakes_of_a_request) {
    start();
    EXPECT_EQ(status_of(call("greet", "{")), 400);
    const std::string other = exchange(
        "POST /v1/call/greet HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}");
    EXPECT_EQ(status_of(other), 400) << other;
    const std::string missing = call("greet", "{}");
    EXPECT_EQ(status_of(missing), 422) << missing;
    EXPECT_NE(missing.find("name"), missing.npos);
    EXPECT_EQ(status_of(call("greet", R"({"nane":"x"})")), 422);
    EXPECT_EQ(status_of(call("greet", R"({"name":"x"})", "X-Heddle-Timeout: soon\r\n")), 400);
    const std::string failed = call("reply", R"({"q":"busy"})");
    EXPECT_GE(status_of(failed), 500) << failed;
    EXPECT_EQ(json_in(failed).at("error").at("kind"), "TaskError") << failed;
    EXPECT_NE(metric("heddle_model_errors_total{reason=\"llm_error\"}"), "");
}

TEST_F(serve, streams_what_models_say) {
    start();
    const std::string seen = call("reply", R"({"q":"hi"})", "Accept: text/event-stream\r\n");
    EXPECT_NE(seen.find("Content-Type: text/event-stream\r\n"), seen.npos) << seen;
    const std::size_t piece =
        seen.find("event: piece\ndata: {\"task\":\"ask\",\"call\":1,\"text\":");
    const std::size_t end_of_it = seen.find("event: result\ndata: {\"value\":\"said hi\"");
    EXPECT_TRUE(piece != seen.npos && end_of_it != seen.npos && piece < end_of_it) << seen;
    const std::string failed = call("reply", R"({"q":"busy"})", "Accept: text/event-stream\r\n");
    EXPECT_NE(failed.find("event: error\ndata: {"), failed.npos) << failed;
}

TEST_F(serve, a_call_has_a_time) {
    start({"--timeout", "30"});
    const std::string late = call("reply", R"({"q":"forever"})", "X-Heddle-Timeout: 0.05\r\n");
    EXPECT_EQ(status_of(late), 504) << late;
    EXPECT_EQ(status_of(exchange(
                  with_fields("POST", "/v1/call/reply?timeout=0.05", R"({"q":"forever"})"))),
              504);
}

TEST_F(serve, cancels_the_call_of_a_client_that_hangs_up) {
    start({"--concurrency", "1", "--queue", "0"});
    for (const char* accept : {"", "Accept: text/event-stream\r\n"}) {
        raw_client client(port);
        client.send(with_fields("POST", "/v1/call/reply", R"({"q":"forever"})", accept));
        while (metric("heddle_calls_running") != "1") std::this_thread::sleep_for(milliseconds(5));
        const std::string full = call("greet", R"({"name":"x"})");
        EXPECT_EQ(status_of(full), 503);
        EXPECT_EQ(json_in(full).at("error").at("hint"),
                  "try again later; --concurrency and --queue of heddle serve are the bounds");
        client.close();
        int status = 503;
        for (int i = 0; i < 400 && status == 503; ++i) {
            std::this_thread::sleep_for(milliseconds(5));
            status = status_of(call("greet", R"({"name":"x"})"));
        }
        EXPECT_EQ(status, 200);
        EXPECT_EQ(metric("heddle_calls_running"), "0");
    }
}

using clients_type = std::vector<std::unique_ptr<raw_client>>;

/// How long it takes until the model has seen the end of all connections that these clients cause.
milliseconds time_to_close(const silent_model& model, clients_type& clients) {
    const auto begun = std::chrono::steady_clock::now();
    const auto limit = begun + std::chrono::seconds(20);
    while (model.asking() < static_cast<int>(clients.size()) &&
           std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(milliseconds(1));
    EXPECT_EQ(model.asking(), static_cast<int>(clients.size()));
    const auto closed = std::chrono::steady_clock::now();
    clients.clear();
    while (model.asking() > 0 && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(milliseconds(1));
    EXPECT_EQ(model.asking(), 0);
    return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - closed);
}

TEST_F(serve, closes_the_connections_to_models_of_clients_that_hang_up) {
    silent_model model;
    start({"--model", "openai:gpt-4o-mini", "--base-url", model.url()});
    constexpr int count = 200;
    // A machine that is busy with other things needs time for anything: beside it, as many
    // connections without a server in between.
    milliseconds beyond(1'000);
    for (int round = 0; round < 5 && beyond >= milliseconds(50) && !HasFailure(); ++round) {
        clients_type clients;
        for (int i = 0; i < count; ++i) {
            clients.push_back(std::make_unique<raw_client>(port));
            clients.back()->send(with_fields("POST", "/v1/call/reply", R"({"q":"hi"})",
                                             i % 2 == 0 ? "" : "Accept: text/event-stream\r\n"));
        }
        const milliseconds took = time_to_close(model, clients);
        for (int i = 0; i < count; ++i) {
            clients.push_back(std::make_unique<raw_client>(model.port()));
            clients.back()->send("x");
        }
        const milliseconds floor = time_to_close(model, clients);
        beyond = std::min(beyond, took - 20 * floor);
    }
    EXPECT_LT(beyond.count(), 50);
}

TEST_F(serve, other_endpoints) {
    start();
    EXPECT_EQ(status_of(get("/healthz")), 200);
    EXPECT_EQ(json_in(get("/readyz")).at("status"), "ready");
    const json::value api = json_in(get("/openapi.json"));
    EXPECT_EQ(api.at("openapi"), "3.1.0");
    const auto& schema = api.at("paths")
                             .at("/v1/call/greet")
                             .at("post")
                             .at("requestBody")
                             .at("content")
                             .at("application/json")
                             .at("schema");
    EXPECT_EQ(schema.at("required"), json::array{"name"});
    EXPECT_EQ(api.at("paths").at("/v1/call/greet").at("post").at("description"),
              "Greets somebody.");
    EXPECT_EQ(json_in(call("whole", R"([1, {"a": null}])")).at("value"),
              json::parse(R"([1, {"a": null}])"));
    (void)call("greet", R"({"name":"x"})");
    EXPECT_EQ(metric("heddle_requests_total{function=\"greet\",status=\"200\"}"), "1");
    EXPECT_EQ(metric("heddle_request_seconds_count{function=\"greet\"}"), "1");
    EXPECT_EQ(metric("heddle_ready"), "1");
    EXPECT_EQ(status_of(get("/")), 404);
}

TEST_F(serve, takes_the_place_of_a_model) {
    start();
    const auto ask = [&](const std::string& more) {
        return exchange(
            with_fields("POST", "/v1/chat/completions",
                        R"({"messages":[{"role":"user","content":"hi"}])" + more + "}"));
    };
    const json::value whole = json_in(ask(R"(,"model":"heddle/chat","tone":"kindly")"));
    EXPECT_EQ(whole.at("object"), "chat.completion") << json::serialize(whole);
    EXPECT_EQ(whole.at("choices").at(0).at("message").at("content"), "kindly: said hi");
    EXPECT_EQ(whole.at("usage").at("total_tokens"), 14);
    const std::string stream = ask(R"(,"stream":true,"stream_options":{"include_usage":true})");
    EXPECT_NE(stream.find("\"delta\":{\"content\":\"plainly: said hi\"}"), stream.npos) << stream;
    EXPECT_NE(stream.find("\"total_tokens\":14"), stream.npos);
    EXPECT_NE(stream.find("data: [DONE]\n\n"), stream.npos);
    const std::string none = ask(R"(,"model":"gpt-4o")");
    EXPECT_EQ(status_of(none), 404);
    EXPECT_EQ(json_in(none).at("error").at("code"), "model_not_found");
    EXPECT_EQ(status_of(exchange(with_fields("POST", "/v1/chat/completions", "[]"))), 400);
    const json::value models = json_in(get("/v1/models"));
    EXPECT_EQ(models.at("data").at(0).at("id"), "heddle/chat");
    EXPECT_EQ(models.at("data").as_array().size(), 1U);
    // Our own client takes it for a model.
    const auto run = run_heddle(
        {"run", scratch.file("caller.heddle", R"((defatom ask (params) (instructions "hi"))
(define (main) (content (ask))))"),
         "--model", "openai:heddle/chat", "--base-url",
         "http://127.0.0.1:" + std::to_string(port) + "/v1"});
    EXPECT_NE(run.out.find(": said hi\n"), std::string::npos) << run.out << run.err;
}

TEST_F(serve, the_text_of_one_task_is_sent_as_it_arrives) {
    const std::string file =
        scratch.file("s.heddle", R"((defatom say (params q) (instructions "{{q}}"))
(defatom other (params q) (instructions "{{q}}"))
(define (chat messages)
  (let ((q (get (last messages) "content")))
    (content (other "x"))
    (let ((said (content (say q))))
      (if (string-contains? q "twist") "no" (string-append said "!"))))))");
    start({"--stream-task", "say"}, {}, {file});
    const auto ask = [&](const std::string& text, const std::string& more) {
        return exchange(
            with_fields("POST", "/v1/chat/completions",
                        R"({"messages":[{"role":"user","content":")" + text + "\"}]" + more + "}"));
    };
    const std::string stream = ask("hi", R"(,"stream":true)");
    const std::size_t first = stream.find(R"("delta":{"content":"said hi"})");
    const std::size_t rest = stream.find(R"("delta":{"content":"!"})");
    EXPECT_TRUE(first != stream.npos && rest != stream.npos && first < rest) << stream;
    EXPECT_EQ(stream.find("said x"), stream.npos) << stream;
    EXPECT_NE(stream.find("data: [DONE]\n\n"), stream.npos);
    const std::string twisted = ask("twist", R"(,"stream":true)");
    EXPECT_EQ(status_of(twisted), 200);
    EXPECT_NE(twisted.find("data: {\"error\":"), twisted.npos) << twisted;
    EXPECT_EQ(twisted.find("[DONE]"), twisted.npos) << twisted;
    EXPECT_EQ(json_in(ask("twist", "")).at("choices").at(0).at("message").at("content"), "no");
    const std::string failed = ask("busy", R"(,"stream":true)"); // before any text
    EXPECT_EQ(status_of(failed), 502) << failed;
}

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

TEST_F(serve, takes_a_whole_url_as_the_target) {
    start();
    const std::string body = R"({"name":"Ada"})";
    const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/v1/call/greet";
    EXPECT_EQ(json_in(exchange(with_fields("POST", url, body))).at("value"), "Hello, Ada");
    // The host of the URL counts, whatever Host contains.
    const std::string other = "http://evil.example/v1/call/greet";
    EXPECT_EQ(status_of(exchange(with_fields("POST", other, body))), 403);
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

TEST_F(serve, one_client_has_some_places_only) {
    start({"--client-calls", "1"});
    raw_client busy(port);
    busy.send(with_fields("POST", "/v1/call/reply", R"({"q":"forever"})"));
    while (metric("heddle_calls_running") != "1") std::this_thread::sleep_for(milliseconds(5));
    const std::string refused = call("greet", R"({"name":"x"})");
    EXPECT_EQ(status_of(refused), 429);
    EXPECT_NE(refused.find("Retry-After: 1\r\n"), refused.npos);
    busy.close();
    int status = 429;
    for (int i = 0; i < 400 && status == 429; ++i) {
        std::this_thread::sleep_for(milliseconds(5));
        status = status_of(call("greet", R"({"name":"x"})"));
    }
    EXPECT_EQ(status, 200);
}

TEST_F(serve, over_tls) {
    const loopback::authority authority;
    const loopback::certificate issued = authority.issue();
    start({"--tls-cert", scratch.file("cert.pem", issued.certificate_pem), "--tls-key",
           scratch.file("key.pem", issued.key_pem)});
    EXPECT_EQ(first_line.at("url").as_string(),
              std::string_view("https://127.0.0.1:" + std::to_string(port)));
    loopback::runner test;
    http::http_client_options options;
    options.ca_file = authority.file();
    const auto client = http::make_http_client(test.loop, options);
    auto origin = client->origin("https://localhost:" + std::to_string(port));
    ASSERT_TRUE(origin);
    ports::http_request request;
    request.origin = *origin;
    request.target = "/v1/call/greet";
    request.headers.push_back({"Content-Type", "application/json", false});
    request.body = R"({"name":"Ada"})";
    const auto got = test.run(client->exchange(std::move(request), test.context()));
    ASSERT_TRUE(got) << got.error().message();
    EXPECT_EQ(json::parse(got->body).at("value"), "Hello, Ada");
    test.run(client->close());
    EXPECT_EQ(end().code, 0);
}

TEST_F(serve, names_that_clash_get_those_of_their_files) {
    start({}, {},
          {scratch.file("one.heddle", "(define (f) 1)\n(define (g) 2)"),
           scratch.file("two.heddle", "(define (f) 3)")});
    EXPECT_EQ(first_line.at("functions"), (json::array{"g", "one/f", "two/f"}));
    EXPECT_EQ(json_in(call("two/f", "")).at("value"), 3);
}

TEST_F(serve, drains) {
    start({"--drain-delay", "0.2"});
    const raw_client busy(port);
    busy.send(with_fields("POST", "/v1/call/reply", R"({"q":"while"})"));
    while (metric("heddle_calls_running") != "1") std::this_thread::sleep_for(milliseconds(5));
    server->send_signal(SIGTERM);
    int status = 200;
    for (int i = 0; i < 30 && status == 200; ++i) {
        std::this_thread::sleep_for(milliseconds(5));
        status = status_of(get("/readyz"));
    }
    EXPECT_EQ(status, 503);
    EXPECT_EQ(json_in(busy.read_all()).at("value"), "done");
    EXPECT_EQ(server->wait(milliseconds(10'000)).code, 0);
}

TEST_F(serve, the_end_cancels_what_takes_longer_and_a_second_signal_everything) {
    start({"--grace", "0.1"});
    const raw_client busy(port);
    busy.send(with_fields("POST", "/v1/call/reply", R"({"q":"forever"})"));
    const raw_client chatting(port);
    chatting.send(with_fields("POST", "/v1/chat/completions",
                              R"({"messages":[{"role":"user","content":"forever"}]})"));
    while (metric("heddle_calls_running") != "2") std::this_thread::sleep_for(milliseconds(5));
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
    while (metric("heddle_calls_running") != "1") std::this_thread::sleep_for(milliseconds(5));
    server->send_signal(SIGTERM);
    std::this_thread::sleep_for(milliseconds(100));
    EXPECT_EQ(end().code, 130);
}

TEST_F(serve, what_it_does_not_begin_with) {
    const std::string file = scratch.file("w.heddle", workflow);
    const auto run = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "serve");
        return run_heddle(words);
    };
    const auto open = run({file, "--listen", "0.0.0.0:0"});
    EXPECT_EQ(open.code, 2);
    EXPECT_NE(open.err.find("--token-file"), std::string::npos) << open.err;
    EXPECT_EQ(run({file, "--listen", "8080"}).code, 2);
    EXPECT_EQ(run({file, "--tls-cert", "x.pem"}).code, 2);
    EXPECT_EQ(run({scratch.path() + "/none.heddle"}).code, 2);
    const auto broken = run({scratch.file("b.heddle", "(define (f) (nome))")});
    EXPECT_EQ(broken.code, 2);
    EXPECT_NE(broken.err.find("nome"), std::string::npos) << broken.err;
    const auto empty = run({scratch.file("e.heddle", "(define (-f) 1)")});
    EXPECT_EQ(empty.code, 2);
    EXPECT_NE(empty.err.find("there is no function to serve"), std::string::npos) << empty.err;
    const auto streamed = run({file, "--listen", "127.0.0.1:0", "--stream-task", "nosuch"});
    EXPECT_EQ(streamed.code, 2);
    EXPECT_NE(streamed.err.find("--stream-task: there is no task 'nosuch'"), std::string::npos)
        << streamed.err;
    EXPECT_NE(streamed.err.find("the tasks are: ask"), std::string::npos) << streamed.err;
    const auto token =
        run({file, "--token-file", scratch.file("t", "two words s3cret-0123456789\n")});
    EXPECT_EQ(token.code, 2);
    EXPECT_EQ(token.err.find("s3cret-0123456789"), std::string::npos) << token.err;
}

} // namespace
} // namespace heddle::cli_test
