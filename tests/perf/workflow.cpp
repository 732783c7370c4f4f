// The main job under load: `map` over rows, a template filled, one POST each, JSON parsed, a
// TaskResult built; beside the floor of bench_http.sh. With a fourth argument the run is cancelled
// after that many milliseconds, and the time until every socket is closed is measured.
//
//   bench_workflow BASE_URL CALLS_IN_FLIGHT CALLS [CANCEL_AFTER_MS | drop]
//
// `drop` lets go of each result at once, so that the peak is the memory of the calls in flight.
#include <heddle/coro/nursery.hpp>
#include <heddle/coro/spawn.hpp>
#include <heddle/host/session.hpp>
#include <heddle/http/client.hpp>
#include <heddle/providers/openai/provider.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

using namespace heddle;

namespace {

constexpr const char* workflow = R"((defatom ask
  (params item)
  (system "You summarise.")
  (instructions "Item {{item}}: summarise this line."))

(define (run n)
  (reduce (lambda (done result) (if (ok? result) (+ done 1) done))
          0
          (map (lambda (item) (ask item)) (range n))))

(define answered 0)
(define (run-and-drop n)
  (for-each (lambda (item) (when (ok? (ask item)) (set! answered (+ answered 1)))) (range n))
  answered)
)";

struct usage {
    double cpu = 0;
    long peak_kb = 0;
};

usage usage_now() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return {seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss};
}

struct job {
    host::session* session = nullptr;
    ports::http_port* client = nullptr;
    std::int64_t calls = 0;
    std::size_t in_flight = 0;
    const char* function = "run";
    coro::cancel_source cancel;
    std::int64_t ok = 0;
    bool cancelled = false;
    std::string failure;
    coro::clock::time_point asked{};
    double close_seconds = 0; ///< from the request to cancel to the last closed socket
};

coro::task<void> run(job* work) {
    host::run_options options;
    options.cancel = &work->cancel;
    options.concurrency = work->in_flight;
    options.memory_limit = std::size_t{4} << 30;
    const result<lang::value> loaded = co_await work->session->evaluate("bench", workflow, options);
    if (!loaded) {
        work->failure = work->session->render(loaded.error());
        co_return;
    }
    std::vector<lang::value> arguments{lang::value::integer(work->calls)};
    const result<lang::value> done = co_await work->session->call(
        *work->session->global(work->function), std::move(arguments), options);
    if (work->cancel.requested()) {
        work->close_seconds =
            std::chrono::duration<double>(coro::clock::now() - work->asked).count();
        work->cancelled = !done && done.error().is_cancelled();
    }
    if (done) work->ok = done->as_integer();
    else if (!work->cancelled) work->failure = work->session->render(done.error());
}

coro::task<void> run_and_close(job* work) {
    co_await run(work);
    co_await work->client->close();
}

coro::task<result<void>> cancel_later(job* work, coro::call_context context, int milliseconds) {
    const auto at = context.loop->now() + std::chrono::milliseconds(milliseconds);
    const result<void> slept = co_await coro::sleep_until(context, at);
    (void)slept;
    const auto counters = work->client->counters();
    std::fprintf(stderr, "cancelling with %zu calls in flight on %zu connections\n",
                 counters.in_flight, counters.open_connections);
    work->asked = coro::clock::now();
    work->cancel.request(cancel_reason::user);
    co_return result<void>();
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: %s BASE_URL CALLS_IN_FLIGHT CALLS [CANCEL_AFTER_MS | drop]\n",
                     argv[0]);
        return 2;
    }
    boost::asio::io_context context(1);
    coro::event_loop loop(context);
    const auto client = http::make_http_client(loop);
    providers::openai::options options;
    options.base_url = std::string(argv[1]) + "/v1";
    options.api_key = secret("sk-mock");
    auto provider = providers::make_openai_provider(*client, std::move(options), null_log());
    if (!provider) {
        std::fprintf(stderr, "%s\n", provider.error().message().c_str());
        return 2;
    }
    tasks::model_registry models;
    models.add(**provider);
    if (auto chosen = models.set_default("openai:gpt-4o-mini"); !chosen) return 2;
    host::engine_parts parts;
    tasks::task_system_parts system;
    system.models = &models;
    parts.operators = tasks::operators(system);
    host::engine engine(loop, std::move(parts));
    auto session = engine.new_session();
    if (!session) return 2;

    job work;
    work.session = session->get();
    work.client = client.get();
    work.in_flight = static_cast<std::size_t>(std::atoll(argv[2]));
    work.calls = std::atoll(argv[3]);
    coro::nursery timers(coro::call_context{&loop, nullptr, {}});
    const bool drop = argc > 4 && std::string_view(argv[4]) == "drop";
    if (drop) work.function = "run-and-drop";
    if (argc > 4 && !drop) timers.start(cancel_later(&work, timers.context(), std::atoi(argv[4])));

    const usage before = usage_now();
    const auto began = coro::clock::now();
    bool ended = false;
    coro::spawn(loop, run_and_close(&work), [&ended](std::exception_ptr) { ended = true; });
    while (!ended && context.run_one() != 0) {}
    const double wall = std::chrono::duration<double>(coro::clock::now() - began).count();
    const usage after = usage_now();
    const auto counters = client->counters();
    if (!work.failure.empty()) std::fprintf(stderr, "%s", work.failure.c_str());
    std::printf(
        "{\"ok\":%lld,\"err\":%lld,\"wall\":%f,\"cpu\":%f,\"peak_kb\":%ld,\"connections\":%llu,"
        "\"open\":%zu,"
        "\"fibers\":%zu,\"cancelled\":%s,\"close_ms\":%.3f}\n",
        static_cast<long long>(work.ok),
        static_cast<long long>(work.cancelled ? 0 : work.calls - work.ok), wall,
        after.cpu - before.cpu, after.peak_kb,
        static_cast<unsigned long long>(counters.connections_made), counters.open_connections,
        work.session->counters().peak_fibers, work.cancelled ? "true" : "false",
        work.close_seconds * 1000);
    while (context.poll() != 0) {}
    return work.failure.empty() && (work.cancelled || work.ok == work.calls) ? 0 : 1;
}
