// Calls over a bounded number in flight, to be measured beside other clients.
//   bench_http_client BASE_URL CALLS_IN_FLIGHT CALLS [json|sse] [CA_FILE]
// Prints one line of JSON: ok, err, wall and CPU seconds, peak resident kB, connections made.
#include <heddle/coro/nursery.hpp>
#include <heddle/coro/spawn.hpp>
#include <heddle/http/client.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <sys/resource.h>

namespace {

using namespace heddle;

struct usage {
    double cpu = 0;
    long peak_kb = 0;
};

usage usage_now() {
    rusage now{};
    getrusage(RUSAGE_SELF, &now);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return {seconds(now.ru_utime) + seconds(now.ru_stime), now.ru_maxrss};
}

struct job {
    ports::http_port* client = nullptr;
    std::shared_ptr<ports::http_origin> origin;
    int calls = 0;
    int next = 0;
    int ok = 0;
    int failed = 0;
    bool stream = false;
    std::string first_error;
};

ports::http_request make_request(const job& work, int number) {
    ports::http_request request;
    request.origin = work.origin;
    request.target = "/v1/chat/completions";
    request.headers.push_back({"Content-Type", "application/json", false});
    request.headers.push_back({"Authorization", "Bearer sk-mock", true});
    request.body =
        R"({"model":"gpt-4o-mini","messages":[{"role":"system","content":"You summarise."},)"
        R"({"role":"user","content":"Item )" +
        std::to_string(number) + R"(: summarise this line."}]})";
    return request;
}

void count(job& work, const result<ports::http_response>& response, bool whole) {
    if (response && response->status == 200 && whole) {
        ++work.ok;
        return;
    }
    ++work.failed;
    if (work.first_error.empty())
        work.first_error = response ? "unexpected response" : response.error().message();
}

coro::task<result<void>> caller(job* work, coro::call_context context) {
    while (work->next < work->calls) {
        const int number = work->next++;
        if (work->stream) {
            std::size_t bytes = 0;
            const ports::http_body_sink sink = [&bytes](std::string_view piece) -> result<void> {
                bytes += piece.size();
                return {};
            };
            auto response =
                co_await work->client->stream(make_request(*work, number), {}, sink, context);
            count(*work, response, bytes > 1000);
        } else {
            auto response = co_await work->client->exchange(make_request(*work, number), context);
            const bool whole =
                response && response->body.find("\"content\":\"") != std::string::npos;
            count(*work, response, whole);
        }
    }
    co_return result<void>();
}

coro::task<void> run_all(job* work, int in_flight, coro::call_context context) {
    coro::nursery callers(context);
    for (int i = 0; i < in_flight; ++i) callers.start(caller(work, callers.context()));
    auto outcome = co_await callers.join();
    (void)outcome;
    co_await work->client->close();
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: %s BASE_URL CALLS_IN_FLIGHT CALLS [json|sse] [CA_FILE]\n",
                     argv[0]);
        return 2;
    }
    boost::asio::io_context context(1);
    coro::event_loop loop(context);
    http::http_client_options options;
    if (argc > 5) options.ca_file = argv[5];
    const auto client = http::make_http_client(loop, options);
    auto origin = client->origin(argv[1]);
    if (!origin) {
        std::fprintf(stderr, "%s\n", origin.error().message().c_str());
        return 2;
    }
    job work;
    work.client = client.get();
    work.origin = *origin;
    work.calls = std::atoi(argv[3]);
    work.stream = argc > 4 && std::string_view(argv[4]) == "sse";
    const usage before = usage_now();
    const auto began = coro::clock::now();
    coro::spawn(loop, run_all(&work, std::atoi(argv[2]), {&loop, nullptr, {}}),
                [&context](std::exception_ptr) { context.stop(); });
    context.run();
    const double wall = std::chrono::duration<double>(coro::clock::now() - began).count();
    const usage after = usage_now();
    const auto counters = client->counters();
    if (!work.first_error.empty())
        std::fprintf(stderr, "first error: %s\n", work.first_error.c_str());
    std::printf(
        "{\"ok\":%d,\"err\":%d,\"wall\":%f,\"cpu\":%f,\"peak_kb\":%ld,\"connections\":%llu,"
        "\"open\":%zu}\n",
        work.ok, work.failed, wall, after.cpu - before.cpu, after.peak_kb,
        static_cast<unsigned long long>(counters.connections_made), counters.open_connections);
    return work.failed == 0 ? 0 : 1;
}
