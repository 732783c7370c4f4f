// What the tests of `heddle serve` share: the program as a process, called over its socket.
#pragma once

#include "child_process.hpp"
#include "scratch_directory.hpp"

#include <raw_client.hpp>

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>
#include <hang_guard.hpp>

#include <algorithm>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

namespace heddle::cli_test {

namespace json = boost::json;
using loopback::body_of;
using loopback::raw_client;
using loopback::status_of;

inline constexpr const char* served_workflow = R"((defatom ask (params q) (instructions "{{q}}"))
(define (greet name) "Greets somebody." (string-append "Hello, " name))
(define (whole input) input)
(define (reply q) (content (ask q)))
(define (-hidden) 1)
(define (chat messages options)
  (string-append (get options "tone" "plainly") ": " (reply (get (last messages) "content"))))
)";

inline constexpr const char* served_rules = R"({"rules": [
  {"match": "forever", "text": "x", "delay_ms": 600000},
  {"match": "while", "text": "done", "delay_ms": 400},
  {"match": "busy", "error": {"status": 400, "message": "no such thing"}}],
  "default": {"template": "said {{user}}", "usage": {"input": 10, "output": 4}}})";

inline std::string with_fields(std::string_view method, std::string_view path,
                               std::string_view body, std::string_view fields = "") {
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
            words.push_back("scripted:" + scratch.file("r.json", served_rules));
        }
        // Without requests in progress the end waits for nothing: a longer grace than any test has.
        if (std::find(more.begin(), more.end(), "--grace") == more.end())
            more.insert(more.end(), {"--grace", "600"});
        if (files.empty()) files.push_back(scratch.file("w.heddle", served_workflow));
        words.insert(words.end(), files.begin(), files.end());
        words.insert(words.end(), more.begin(), more.end());
        options.directory = scratch.path();
        words = heddle_command(std::move(words));
        words.insert(words.begin(), through.begin(), through.end());
        server = std::make_unique<child_process>(std::move(words), std::move(options));
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
    [[nodiscard]] bool comes_to_run(int calls) const {
        return hang_guard::comes_true(
            [&] { return metric("heddle_calls_running") == std::to_string(calls); });
    }
    /// Until a request has this status: one after another.
    template <class Request>
    [[nodiscard]] bool comes_to_status(int status, Request request) const {
        return hang_guard::comes_true([&] { return status_of(request()) == status; });
    }
    child_result end(int signal = SIGTERM) {
        server->send_signal(signal);
        return server->wait();
    }

    scratch_directory scratch;
    std::vector<std::string> through; ///< a command that runs the program; empty: none
    std::unique_ptr<child_process> server;
    json::value first_line;
    std::uint16_t port = 0;
};

inline json::value json_in(const std::string& response) { return json::parse(body_of(response)); }

} // namespace heddle::cli_test
