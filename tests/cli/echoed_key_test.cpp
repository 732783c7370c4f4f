// A service that repeats its key: nobody keeps it.
#include "child_process.hpp"
#include "scratch_directory.hpp"

#include <loopback_server.hpp>

#include <heddle/base/json_string.hpp>

#include <gtest/gtest.h>

#include <cctype>
#include <string>

namespace heddle::cli_test {
namespace {

constexpr std::string_view key = "sk-echoed-0123456789/abcdefgh";

/// The value of the header Authorization, as it came.
std::string authorization_of(const std::string& request) {
    std::string head = request.substr(0, request.find("\r\n\r\n"));
    for (char& c : head) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const std::string name = "\r\nauthorization: ";
    const std::size_t at = head.find(name);
    if (at == std::string::npos) return "none";
    const std::size_t begin = at + name.size();
    return request.substr(begin, request.find("\r\n", begin) - begin);
}

std::string in_json(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

/// Answers with the header Authorization, in events of `piece` bytes where a stream is asked for.
loopback::server::script echo(std::size_t piece) {
    return [piece](loopback::connection& with, int) {
        for (;;) {
            const std::string request = with.read_request();
            if (request.empty()) return;
            const std::string said = "You sent " + authorization_of(request) + ", did you not?";
            if (request.find("\"stream\":true") == std::string::npos) {
                with.send(loopback::ok_response(
                    R"({"id":"1","model":"m","choices":[{"message":{"content":)" + in_json(said) +
                        R"(},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}})",
                    "content-type: application/json\r\n"));
                continue;
            }
            std::string events;
            for (std::size_t at = 0; at < said.size(); at += piece) {
                events += R"(data: {"choices":[{"index":0,"delta":{"content":)" +
                          in_json(said.substr(at, piece)) + "}}]}\n\n";
            }
            events +=
                "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
                "data: [DONE]\n\n";
            with.trickle(loopback::ok_response(events, "content-type: text/event-stream\r\n"), 700,
                         milliseconds(1));
        }
    };
}

TEST(echoed_key, is_in_no_file_and_no_result) {
    for (const std::size_t piece : {1U, 7U, 13U, 1000U}) {
        for (const bool streamed : {false, true}) {
            SCOPED_TRACE(std::to_string(piece) + (streamed ? " streamed" : " whole"));
            const loopback::server service(echo(piece));
            const scratch_directory scratch;
            child_options options;
            options.variables["OPENAI_API_KEY"] = key;
            std::vector<std::string> command = {
                "run",
                scratch.file("w.heddle",
                             "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                             "(define (main) (ask \"which key?\"))"),
                "--base-url",
                service.url() + "/v1",
                "--cache",
                "--cache-file",
                scratch.path() + "/cache.db",
                "--record",
                scratch.path() + "/calls.jsonl",
                "--json",
                "-vvv"};
            if (streamed) command.emplace_back("--stream");
            const auto first = run_heddle(command, options);
            EXPECT_EQ(first.code, 0) << first.err;
            const auto second = run_heddle(command, options);
            EXPECT_EQ(second.code, 0) << second.err;
            for (const auto& ended : {first, second}) {
                EXPECT_NE(ended.out.find("You sent Bearer [hidden], did you not?"),
                          std::string::npos)
                    << ended.out;
            }
            for (const std::string& text :
                 {first.out, first.err, second.out, second.err, scratch.text_of("calls.jsonl"),
                  scratch.text_of("cache.db"), scratch.text_of("cache.db-wal")}) {
                EXPECT_EQ(text.find(key), std::string::npos) << text;
                EXPECT_EQ(text.find("0123456789"), std::string::npos) << text;
            }
            EXPECT_NE(scratch.text_of("calls.jsonl").find("[hidden]"), std::string::npos);
            EXPECT_NE(scratch.text_of("cache.db").find("[hidden]"), std::string::npos);
        }
    }
}

} // namespace
} // namespace heddle::cli_test
