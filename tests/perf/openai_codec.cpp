// What the Chat Completions codec costs: nanoseconds a call, one thread.
//   bench_openai_codec [rounds]
#include "chat_bench.hpp"

#include <heddle/ports/http_port.hpp>
#include <heddle/providers/common/sse_parser.hpp>

#include "common/json_reader.hpp"
#include "openai/chat_wire.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace heddle;
namespace openai = providers::openai;

std::size_t sink = 0; // so that no work is left out

template <class Work>
void measure(const char* what, int rounds, Work work) {
    const double best = bench::best_nanoseconds(rounds, std::move(work));
    std::printf("%-44s %9.0f ns\n", what, best);
}

constexpr std::string_view sample =
    R"({"id":"chatcmpl-M3SDaNMyeC1BS2UV","object":"chat.completion","created":1795239395,"model":"gpt-4.1-mini",)"
    R"("choices":[{"index":0,"message":{"role":"assistant","content":"{\"name\":\"Ada\",\"age\":36}","refusal":null},)"
    R"("logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":8,"total_tokens":20}})";

} // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 200'000;
    for (const std::size_t bytes : {100U, 1000U, 10000U}) {
        const ports::chat_request request = bench::request_of(bytes, "gpt-4.1-mini");
        const std::string name = "encode, prompt of " + std::to_string(bytes) + " bytes";
        measure(name.c_str(), rounds, [&] { sink += openai::encode_request(request, {})->size(); });
    }
    ports::chat_request schema = bench::request_of(100, "gpt-4.1-mini");
    schema.format = {
        ports::response_format::kind::json_schema, "person",
        R"({"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},)"
        R"("required":["name","age"],"additionalProperties":false})",
        true};
    providers::json_memo memo;
    measure("encode, 100 bytes and a schema, remembered", rounds,
            [&] { sink += openai::encode_request(schema, {}, &memo)->size(); });

    providers::json_reader reader({"openai"});
    ports::http_response response;
    response.status = 200;
    response.headers = {{"content-type", "application/json"}};
    response.body = sample;
    const auto now = std::chrono::system_clock::now();
    measure("decode, a typical response", rounds,
            [&] { sink += openai::decode_response(reader, response, now)->text.size(); });

    std::string stream;
    for (int i = 0; i < 20; ++i) {
        stream +=
            R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1795239396,"model":"gpt-4.1-mini",)"
            R"("choices":[{"index":0,"delta":{"content":"token "},"logprobs":null,"finish_reason":null}]})"
            "\n\n";
    }
    stream += R"(data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})"
              "\n\ndata: [DONE]\n\n";
    measure("decode, a stream of 22 events", rounds / 10, [&] {
        openai::chat_stream events(reader);
        if (events.feed(stream, nullptr)) sink += events.finish()->text.size();
    });
    return sink == 0 ? 1 : 0;
}
