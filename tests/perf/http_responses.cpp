// What reading one response costs, without sockets: plain, and compressed.
//   bench_http_responses [ROUNDS]
#include "packed_bytes.hpp"

#include <heddle/http/response_parser.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace heddle;

namespace {

std::string ok_response(const std::string& body, const std::string& more) {
    return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + more +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string chat_body(int sentences) {
    std::string text;
    for (int i = 0; i < sentences; ++i)
        text += "Sentence number " + std::to_string(i * 7919 % 1000) + " is rather short. ";
    return R"({"id":"chatcmpl-mock","object":"chat.completion","created":1700000000,)"
           R"("model":"gpt-4o-mini","choices":[{"index":0,"message":{"role":"assistant",)"
           R"("content":")" +
           text +
           R"("},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":24,)"
           R"("completion_tokens":20,"total_tokens":44}})";
}

void measure(const char* name, const std::string& bytes, int rounds) {
    http::parser_cache cache;
    const auto began = std::chrono::steady_clock::now();
    std::size_t seen = 0;
    for (int i = 0; i < rounds; ++i) {
        http::response_parser parser(cache);
        ports::http_response response;
        const auto whole = parser.feed(bytes, {}, {&response, nullptr, nullptr});
        if (!whole || !*whole) std::abort();
        seen += response.body.size();
    }
    const double spent =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count();
    std::printf("%-24s %6zu bytes sent, %6zu read: %7.2f us\n", name, bytes.size(),
                seen / static_cast<std::size_t>(rounds), spent / rounds);
}

} // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 20'000;
    for (const int sentences : {2, 200}) {
        const std::string body = chat_body(sentences);
        measure("plain", ok_response(body, ""), rounds);
        measure("gzip",
                ok_response(loopback::packed(body, loopback::gzip_frame, 6),
                            "Content-Encoding: gzip\r\n"),
                rounds);
    }
    return 0;
}
