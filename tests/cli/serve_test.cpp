// `heddle serve` as a process, called over its socket.
#include "serve_fixture.hpp"
#include "silent_model.hpp"

#include <heddle/http/client.hpp>

#include <loopback_certificates.hpp>
#include <loopback_runner.hpp>
#include <raw_client.hpp>

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <csignal>
#include <memory>

namespace heddle::cli_test {
namespace {

TEST_F(serve, calls_functions_by_name) {
    start();
    EXPECT_EQ(first_line.at("functions"), (json::array{"chat", "greet", "reply", "whole"}));
    const std::string seen = call("greet", R"({"name":"Ada"})");
    EXPECT_EQ(status_of(seen), 200) << seen;
    const json::value response = json_in(seen);
    EXPECT_EQ(response.at("value"), "Hello, Ada");
    EXPECT_EQ(response.at("usage").at("calls"), 0);
    EXPECT_EQ(response.at("cost_usd").to_number<double>(), 0);
    EXPECT_GE(response.at("seconds").to_number<double>(), 0);
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
    for (const char* time : {"soon", "0", "-1", "nan", "inf", "1e-20", "0.0009"}) {
        const std::string field = "X-Heddle-Timeout: " + std::string(time) + "\r\n";
        EXPECT_EQ(status_of(call("greet", R"({"name":"x"})", field)), 400) << time;
    }
    const std::string failed = call("reply", R"({"q":"busy"})");
    EXPECT_GE(status_of(failed), 500) << failed;
    EXPECT_EQ(json_in(failed).at("error").at("kind"), "TaskError") << failed;
    EXPECT_EQ(failed.find(scratch.file("w.heddle", served_workflow)), failed.npos) << failed;
    const json::value reported = json_in(failed).at("error");
    EXPECT_EQ(reported.at("place").at("file"), "w.heddle") << failed;
    for (const json::value& each : reported.at("trace").as_array())
        EXPECT_EQ(each.at("place").at("file"), "w.heddle") << failed;
    EXPECT_NE(metric("heddle_model_errors_total{reason=\"llm_error\"}"), "");
}

// They were responses with the status 200 that had null, or "#<function>".
TEST_F(serve, what_json_cannot_write_is_an_error) {
    start({}, {},
          {scratch.file("values.heddle",
                        "(define (endless) (list 1 (dict \"a\" +inf.0)))"
                        "(define (code) (list first))"
                        "(define (chat messages) (dict \"f\" first))")});
    const std::string endless = call("endless", "");
    EXPECT_EQ(status_of(endless), 500) << endless;
    EXPECT_EQ(json_in(endless).at("error").at("message"),
              "the result of the call: JSON cannot write the float +inf.0 at [1][\"a\"]");
    EXPECT_EQ(status_of(call("code", "")), 500);
    const std::string stream = call("code", "", "Accept: text/event-stream\r\n");
    EXPECT_NE(stream.find("event: error\ndata: {"), stream.npos) << stream;
    EXPECT_NE(stream.find("JSON cannot write a builtin at [0]"), stream.npos) << stream;
    const std::string chat = exchange(with_fields(
        "POST", "/v1/chat/completions", R"({"messages":[{"role":"user","content":"x"}]})"));
    EXPECT_EQ(status_of(chat), 500) << chat;
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

TEST_F(serve, streams_to_those_who_accept_it) {
    start();
    const auto type = [&](const std::string& accepted) {
        const std::string seen = call("greet", R"({"name":"x"})", "Accept: " + accepted + "\r\n");
        return seen.find("Content-Type: text/event-stream\r\n") == seen.npos ? "whole" : "stream";
    };
    for (const char* all :
         {"text/event-stream", "application/json;q=0.5, Text/Event-Stream ; q=0.1",
          "*/*, text/event-stream;charset=utf-8"})
        EXPECT_EQ(type(all), std::string("stream")) << all;
    for (const char* none : {"text/event-stream;q=0", "text/event-stream; Q=0.000, */*",
                             "text/event-streams", "application/json", "*/*"})
        EXPECT_EQ(type(none), std::string("whole")) << none;
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
        ASSERT_TRUE(comes_to_run(1));
        const std::string full = call("greet", R"({"name":"x"})");
        EXPECT_EQ(status_of(full), 503);
        EXPECT_EQ(json_in(full).at("error").at("hint"),
                  "try again later; --concurrency and --queue of heddle serve are the bounds");
        client.close();
        EXPECT_TRUE(comes_to_status(200, [&] { return call("greet", R"({"name":"x"})"); }));
        EXPECT_EQ(metric("heddle_calls_running"), "0");
    }
}

// How soon: `./dev bench embed`.
TEST_F(serve, closes_the_connections_to_models_of_clients_that_hang_up) {
    silent_model model;
    start({"--model", "openai:gpt-4o-mini", "--base-url", model.url()});
    constexpr int count = 200;
    std::vector<std::unique_ptr<raw_client>> clients;
    for (int i = 0; i < count; ++i) {
        clients.push_back(std::make_unique<raw_client>(port));
        clients.back()->send(with_fields("POST", "/v1/call/reply", R"({"q":"hi"})",
                                         i % 2 == 0 ? "" : "Accept: text/event-stream\r\n"));
    }
    ASSERT_TRUE(hang_guard::comes_true([&] { return model.asking() == count; }));
    clients.clear();
    EXPECT_TRUE(hang_guard::comes_true([&] { return model.asking() == 0; }));
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
    EXPECT_EQ(status_of(ask(R"(,"n":1.0)")), 200);
    EXPECT_EQ(status_of(ask(R"(,"n":2)")), 400);
    const auto status_for = [&](const std::string& message) {
        return status_of(exchange(
            with_fields("POST", "/v1/chat/completions",
                        R"({"messages":[)" + message + R"(,{"role":"user","content":"hi"}]})")));
    };
    EXPECT_EQ(status_for(R"({"role":"user"})"), 400);
    EXPECT_EQ(status_for(R"({"role":"user","content":null})"), 400);
    EXPECT_EQ(status_for(R"({"role":"assistant","content":null,"tool_calls":[]})"), 200);
    const std::string none = ask(R"(,"model":"gpt-4o")");
    EXPECT_EQ(status_of(none), 404);
    EXPECT_EQ(json_in(none).at("error").at("code"), "model_not_found");
    EXPECT_EQ(status_of(exchange(with_fields("POST", "/v1/chat/completions", "[]"))), 400);
    const json::value models = json_in(get("/v1/models"));
    EXPECT_EQ(models.at("data").at(0).at("id"), "heddle/chat");
    EXPECT_EQ(models.at("data").as_array().size(), 1U);
    EXPECT_EQ(json_in(get("/v1/models/heddle%2Fchat")).at("id"), "heddle/chat");
    for (const char* path : {"/v1/models/other", "/v1/models/%zz"}) {
        const std::string unknown = get(path);
        EXPECT_EQ(status_of(unknown), 404) << path;
        EXPECT_EQ(json_in(unknown).at("error").at("code"), "model_not_found") << unknown;
    }
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

TEST_F(serve, takes_a_whole_url_as_the_target) {
    start();
    const std::string body = R"({"name":"Ada"})";
    const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/v1/call/greet";
    EXPECT_EQ(json_in(exchange(with_fields("POST", url, body))).at("value"), "Hello, Ada");
    // The host of the URL counts, whatever Host contains.
    const std::string other = "http://evil.example/v1/call/greet";
    EXPECT_EQ(status_of(exchange(with_fields("POST", other, body))), 403);
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

TEST_F(serve, a_call_leaves_nothing_for_the_next_one) {
    start({}, {}, {scratch.file("w.heddle", "(define n 0)\n(define (f) (set! n (+ n 1)) n)")});
    const json::value failed = json_in(call("f", "")).at("error");
    EXPECT_EQ(failed.at("message"),
              "the global 'n' cannot be changed here: each row or call begins with the program as "
              "it was loaded, and must leave nothing for the next one");
}

TEST_F(serve, prints_paths_as_requests_write_them) {
    child_process printing(heddle_command(
        {"serve", "--listen", "127.0.0.1:0", scratch.file("w.heddle", "(define (valid? x) x)")}));
    EXPECT_TRUE(printing.wait_for_err("serving POST /v1/call/valid%3F\n")) << printing.err();
}

TEST_F(serve, only_what_a_file_itself_defines) {
    scratch.file("shared.heddle",
                 "(defmacro define-answer (name) `(define (,name) 42))\n"
                 "(define (helper) 1)\n(define (chat messages) (helper))");
    start({}, {},
          {scratch.file("w.heddle",
                        "(import \"shared.heddle\")\n(import std/lists)\n"
                        "(define (f) (helper))\n(define g helper)\n(define-answer h)")});
    EXPECT_EQ(first_line.at("functions"), (json::array{"f", "g", "h"}));
    EXPECT_EQ(json_in(call("g", "")).at("value"), 1);
    EXPECT_EQ(status_of(call("helper", "")), 404);
    EXPECT_EQ(status_of(call("sum", "[[1]]")), 404);
    EXPECT_EQ(json_in(get("/v1/models")).at("data"), json::array());
}

TEST_F(serve, what_it_does_not_begin_with) {
    const std::string file = scratch.file("w.heddle", served_workflow);
    const auto run = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "serve");
        return run_heddle(words);
    };
    const auto open = run({file, "--listen", "0.0.0.0:0"});
    EXPECT_EQ(open.code, 2);
    EXPECT_NE(open.err.find("--token-file"), std::string::npos) << open.err;
    EXPECT_EQ(run({file, "--listen", "8080"}).code, 2);
    EXPECT_EQ(run({file, "--tls-cert", "x.pem"}).code, 2);
    for (const char* option : {"--token-file", "--tls-cert", "--tls-key"}) {
        const auto wrong = run({file, "--listen", "none:0", option, ""});
        EXPECT_EQ(wrong.code, 2) << option;
        EXPECT_NE(wrong.err.find(std::string(option) + " must not be empty"), std::string::npos)
            << wrong.err;
    }
    for (const char* option :
         {"--budget-usd", "--timeout", "--grace", "--drain-delay", "--rate", "--queue",
          "--client-calls", "--concurrency", "--threads", "--max-body"}) {
        for (const char* value : {"-1", "nan", "inf"}) {
            const auto wrong = run({file, "--listen", "none:0", option, value});
            EXPECT_EQ(wrong.code, 2) << option << value;
            EXPECT_NE(wrong.err.find(option), std::string::npos) << option << value << wrong.err;
        }
    }
    child_options without_token;
    without_token.variables["HEDDLE_SERVE_TOKEN"] = "";
    const auto tokenless =
        run_heddle({"serve", file, "--listen", "none:0"}, std::move(without_token));
    EXPECT_EQ(tokenless.code, 2);
    EXPECT_NE(tokenless.err.find("HEDDLE_SERVE_TOKEN holds no token"), std::string::npos)
        << tokenless.err;
    EXPECT_EQ(run({scratch.path() + "/none.heddle"}).code, 2);
    const auto broken = run({scratch.file("b.heddle", "(define (f) (nome))")});
    EXPECT_EQ(broken.code, 2);
    EXPECT_NE(broken.err.find("nome"), std::string::npos) << broken.err;
    const json::value reported =
        json::parse(run({scratch.path() + "/b.heddle", "--json"}).err).at("error");
    EXPECT_EQ(reported.at("place").at("line"), 1);
    EXPECT_EQ(reported.at("place").at("column"), 14);
    const auto empty = run({scratch.file("e.heddle", "(define (-f) 1)")});
    EXPECT_EQ(empty.code, 2);
    EXPECT_NE(empty.err.find("there is no function to serve"), std::string::npos) << empty.err;
    const auto imports = run({scratch.file("i.heddle", "(import std/lists)")});
    EXPECT_EQ(imports.code, 2);
    EXPECT_NE(imports.err.find("(define name imported)"), std::string::npos) << imports.err;
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
