// What the codecs of all services cost, and a call through the provider: nanoseconds, one thread.
//   bench_codecs [rounds]
#include "chat_bench.hpp"
#include "test_paths.hpp"

#include <heddle/coro/spawn.hpp>
#include <heddle/providers/anthropic/provider.hpp>
#include <heddle/providers/gemini/provider.hpp>
#include <heddle/providers/ollama/provider.hpp>
#include <heddle/providers/openai/provider.hpp>
#include <heddle/providers/responses/provider.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

using namespace heddle;

std::size_t sink = 0; // so that no work is left out

std::string sample(const char* folder, const char* name) {
    std::ifstream in(std::filesystem::path(heddle::test_paths::data_folder()) / "wire" / folder /
                         "response-doc" / name,
                     std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

struct service {
    const char* name;
    const char* folder;
    const char* stream;
    std::unique_ptr<providers::chat_codec> codec;
};

void measure_codec(service& one, int rounds) {
    const auto now = std::chrono::system_clock::now();
    std::printf("%-18s", one.name);
    for (const std::size_t bytes : {100U, 10'000U}) {
        const ports::chat_request request = bench::request_of(bytes, "some-model");
        std::printf(
            " %9.0f", bench::best_nanoseconds(rounds, [&] {
                sink += one.codec->encode(request, providers::response_mode::whole)->body.size();
            }));
    }
    ports::http_response response;
    response.status = 200;
    response.headers = {{"content-type", "application/json"}};
    response.body = sample(one.folder, "ok.json");
    std::printf(" %9.0f", bench::best_nanoseconds(rounds, [&] {
                    sink += one.codec->decode(response, now)->text.size();
                }));
    const std::string stream = sample(one.folder, one.stream);
    const double cost = bench::best_nanoseconds(rounds / 10, [&] {
        const auto events = one.codec->open_stream();
        if (events->feed(stream, nullptr)) sink += events->finish()->text.size();
    });
    std::printf(" %9.0f %7.0f\n", cost, static_cast<double>(stream.size()) / cost * 1e3);
}

class bench_origin final : public ports::http_origin {
public:
    const std::string& name() const noexcept override { return name_; }

private:
    std::string name_ = "https://api.openai.com:443";
};

/// Answers at once.
class bench_http final : public ports::http_port {
public:
    explicit bench_http(ports::http_response response) : response_(std::move(response)) {}
    result<std::shared_ptr<ports::http_origin>> origin(std::string_view) override {
        return std::shared_ptr<ports::http_origin>(std::make_shared<bench_origin>());
    }
    coro::task<result<ports::http_response>> exchange(ports::http_request request,
                                                      coro::call_context) override {
        sink += request.body.size();
        co_return response_;
    }
    coro::task<result<ports::http_response>> stream(ports::http_request request,
                                                    ports::http_head_sink on_head,
                                                    ports::http_body_sink on_piece,
                                                    coro::call_context) override {
        sink += request.body.size();
        if (auto begun = on_head(response_); !begun) co_return std::move(begun).error();
        if (auto taken = on_piece(response_.body); !taken) co_return std::move(taken).error();
        co_return ports::http_response{};
    }
    coro::task<void> close() override { co_return; }
    ports::http_counters counters() const noexcept override { return {}; }

private:
    ports::http_response response_;
};

// All three stay until the loop has ended.
coro::task<void> call(ports::llm_port& port, const ports::chat_request& request, int rounds,
                      bool streamed, coro::call_context context) {
    for (int i = 0; i < rounds; ++i) {
        if (streamed) {
            result<ports::chat_response> response = co_await port.stream(request, nullptr, context);
            if (response) sink += response->text.size();
        } else {
            result<ports::chat_response> response = co_await port.complete(request, context);
            if (response) sink += response->text.size();
        }
    }
}

void measure_provider(int rounds, bool streamed) {
    boost::asio::io_context io(1);
    coro::event_loop loop(io);
    ports::http_response response;
    response.status = 200;
    response.headers = {{"content-type", streamed ? "text/event-stream" : "application/json"}};
    response.body = sample("openai-chat", streamed ? "stream.sse" : "ok.json");
    bench_http http(std::move(response));
    providers::openai::options options;
    options.api_key = secret("sk-bench");
    auto port = providers::make_openai_provider(http, std::move(options), null_log()).value();
    const ports::chat_request request = bench::request_of(100, "some-model");
    const coro::call_context context{&loop, nullptr, {}};
    const double cost = bench::best_nanoseconds(1, [&] {
        coro::spawn(loop, call(*port, request, rounds, streamed, context),
                    [](std::exception_ptr) {});
        io.restart();
        io.run();
    });
    std::printf("%-44s %9.0f ns\n",
                streamed ? "a streamed call through the provider" : "a call through the provider",
                cost / rounds);
}

} // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 100'000;
    service services[] = {
        {"openai", "openai-chat", "stream.sse", providers::make_openai_codec({}).value()},
        {"openai-responses", "openai-responses", "stream.sse",
         providers::make_responses_codec({}).value()},
        {"anthropic", "anthropic", "stream.sse", providers::make_anthropic_codec({}).value()},
        {"gemini", "gemini", "stream.sse", providers::make_gemini_codec({}).value()},
        {"ollama", "ollama", "stream.ndjson", providers::make_ollama_codec({}).value()}};
    std::printf("%-18s %9s %9s %9s %9s %7s\n", "ns", "enc 100", "enc 10k", "decode", "stream",
                "MB/s");
    for (service& one : services) measure_codec(one, rounds);
    measure_provider(rounds, false);
    measure_provider(rounds, true);
    return sink == 0 ? 1 : 0;
}
