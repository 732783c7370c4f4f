#include "limit_cases.hpp"

#include <heddle/base/log.hpp>
#include <heddle/coro/spawn.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/providers/anthropic/provider.hpp>
#include <heddle/providers/openai/provider.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>
#include <ostream>

namespace heddle::testing {

namespace {

using std::chrono::milliseconds;

constexpr double reaction = 0.25;      // seconds
constexpr std::size_t max_burst = 128; // of 429s

double seconds(coro::clock::duration span) { return std::chrono::duration<double>(span).count(); }

bool speaks_anthropic(const limit_case& of) { return of.quota.headers == quota_headers::anthropic; }

class far_origin final : public ports::http_origin {
public:
    const std::string& name() const noexcept override { return name_; }

private:
    std::string name_ = "https://rig.example";
};

/// The service of a case behind an http_port, on the virtual clock.
class simulated_http final : public ports::http_port {
public:
    simulated_http(coro::event_loop& loop, const limit_case& of)
        : loop_(loop), case_(of), service_(of.quota), began_(loop.now()) {}

    result<std::shared_ptr<ports::http_origin>> origin(std::string_view) override {
        return std::shared_ptr<ports::http_origin>(std::make_shared<far_origin>());
    }
    coro::task<result<ports::http_response>> exchange(ports::http_request,
                                                      coro::call_context context) override {
        const double now = seconds(loop_.now() - began_);
        quota_verdict verdict = service_.arrive(now, loop_.time_of_day());
        log.arrivals.push_back({now, verdict.admitted});
        const auto span = verdict.admitted ? case_.latency : case_.refusal_latency;
        result<void> waited = co_await coro::sleep_until(context, loop_.now() + span);
        if (!waited) co_return std::move(waited).error();
        co_return case_response(case_, std::move(verdict));
    }
    coro::task<result<ports::http_response>> stream(ports::http_request, ports::http_head_sink,
                                                    ports::http_body_sink,
                                                    coro::call_context) override {
        co_return error(errc::internal, "not used here");
    }
    coro::task<void> close() override { co_return; }
    ports::http_counters counters() const noexcept override { return {}; }

    limit_case_log log;

private:
    coro::event_loop& loop_;
    const limit_case& case_;
    quota_service service_;
    coro::clock::time_point began_;
};

} // namespace

ports::http_response case_response(const limit_case& of, quota_verdict verdict) {
    ports::http_response response;
    response.status = verdict.admitted ? 200 : 429;
    response.headers = std::move(verdict.headers);
    response.headers.emplace_back("content-type", "application/json");
    if (!verdict.admitted) {
        response.body = R"({"error":{"message":"slow down","type":"rate_limit_error"}})";
    } else if (speaks_anthropic(of)) {
        response.body = R"({"id":"m","type":"message","role":"assistant","model":"m",)"
                        R"("content":[{"type":"text","text":"yes"}],"stop_reason":"end_turn",)"
                        R"("usage":{"input_tokens":5,"output_tokens":1}})";
    } else {
        response.body =
            R"({"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,)"
            R"("message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}],)"
            R"("usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}})";
    }
    return response;
}

providers::limiter_settings settings_of(const limit_case& of) {
    providers::limiter_settings settings =
        providers::limiter_settings_for(of.local ? "http://127.0.0.1:1" : "https://rig.example");
    settings.options.per_minute[0] = of.requests_per_minute;
    return settings;
}

std::unique_ptr<ports::llm_port> make_case_provider(const limit_case& of, ports::http_port& http,
                                                    std::string base_url,
                                                    std::shared_ptr<providers::limiter_gate> gate,
                                                    std::uint64_t seed) {
    const auto fill = [&](auto options) {
        options.base_url = base_url;
        options.gate = gate;
        options.retry.seed = seed;
        return options;
    };
    if (speaks_anthropic(of)) {
        auto options = fill(providers::anthropic::options{});
        options.api_key = secret("k-0123456789");
        return providers::make_anthropic_provider(http, std::move(options), null_log()).value();
    }
    return providers::make_openai_provider(http, fill(providers::openai::options{}), null_log())
        .value();
}

void case_load::start(coro::deadline until) {
    running_ = std::min(case_.concurrency, case_.calls);
    for (std::size_t i = 0; i < running_; ++i) {
        coro::spawn(loop_, work(until), [](std::exception_ptr thrown) {
            if (thrown) std::rethrow_exception(thrown);
        });
    }
}

coro::task<void> case_load::work(coro::deadline until) {
    ports::chat_request request;
    request.model = "m";
    request.messages.push_back({ports::chat_role::user, "well?", {}, {}, {}});
    while (next_ < case_.calls) {
        ++next_;
        result<ports::chat_response> response =
            co_await provider_.complete(request, {&loop_, nullptr, until});
        last_response_ = loop_.now();
        if (response) continue;
        ++failed_;
        failure_ = response.error().message();
    }
    --running_;
}

limit_case_figures read_figures(const limit_case& of, const limit_case_log& log,
                                double last_response, std::size_t failed) {
    limit_case_figures figures;
    figures.failed = failed;
    figures.sent = log.arrivals.size();
    if (log.arrivals.empty()) return figures;
    const double first = log.arrivals.front().at;
    figures.seconds = last_response - first;
    // The first burst lasts until something gets through again after the first 429.
    double burst_ends = std::numeric_limits<double>::infinity();
    double before = first;
    bool refused = false;
    for (const auto& each : log.arrivals) {
        figures.silence = std::max(figures.silence, each.at - before);
        before = each.at;
        refused = refused || !each.admitted;
        if (each.admitted && refused) burst_ends = std::min(burst_ends, each.at + reaction);
        if (each.admitted) continue;
        ++figures.limited;
        if (each.at > burst_ends) ++figures.limited_late;
    }
    const double latency = seconds(of.latency);
    figures.least =
        std::max(quota_service::min_time(of.quota, of.calls) + latency,
                 latency * static_cast<double>(of.calls) / static_cast<double>(of.concurrency));
    const bool window = of.quota.window_seconds > 0;
    // Where all calls are in flight, nothing is sent until one is answered.
    const double once =
        std::max(latency, window ? of.quota.window_seconds : 1.5 / of.quota.per_second);
    // Times in whole seconds, and the chance on top of them. Without any, twice what is needed.
    figures.silence_explained = (of.says_nothing() ? 2 * once : once) + 1.25;
    // One in 200; of runs as short as these, the four that it takes to learn a limit of which
    // nothing is said, or of which the first burst is six times the size.
    const bool learns = of.says_nothing() || of.quota.capacity <= 10;
    const double sent = static_cast<double>(figures.sent);
    // Until a refusal is known, others have been sent.
    const double echo = 1 + of.quota.per_second * seconds(of.refusal_latency);
    figures.late_allowed =
        static_cast<std::size_t>(std::max(learns ? 4.0 : 1.0, of.allows.late_share * sent) * echo);
    figures.ideal_required = of.allows.of_ideal;
    return figures;
}

std::string limit_case_figures::fault() const {
    std::string all;
    const auto add = [&](const char* what) {
        all += all.empty() ? what : std::string(", ") + what;
    };
    if (failed != 0) add("calls failed");
    if (of_ideal() < ideal_required) add("slow");
    if (limited_late > late_allowed) add("429s");
    if (limited - limited_late > max_burst) add("burst");
    if (silence > silence_explained) add("silence");
    return all;
}

limit_case_figures simulate_case(const limit_case& of, std::uint64_t seed, limit_case_log* keep) {
    boost::asio::io_context io{1};
    coro::event_loop loop{io, coro::event_loop::time::virtual_};
    simulated_http http(loop, of);
    auto settings = settings_of(of);
    settings.options.seed = seed;
    const auto gate = std::make_shared<providers::limiter_gate>(loop, std::move(settings));
    const auto provider = make_case_provider(of, http, "https://rig.example", gate, seed);
    const auto began = loop.now();
    case_load load(loop, *provider, of);
    load.start();
    loop.run();
    limit_case_figures figures =
        read_figures(of, http.log, seconds(load.last_response() - began), load.failed());
    const auto counters = gate->counters();
    if (!counters.empty()) figures.learned = counters[0].second.learned_per_second.value_or(0);
    if (keep) *keep = std::move(http.log);
    return figures;
}

void PrintTo(const limit_case& of, std::ostream* out) { *out << of.name; }

std::vector<limit_case> limit_cases() {
    std::vector<limit_case> cases;
    const auto add = [&](std::string name, double rate, unsigned capacity, quota_headers headers,
                         quota_advice advice, std::size_t calls,
                         std::size_t concurrency) -> limit_case& {
        limit_case& each = cases.emplace_back();
        each.name = std::move(name);
        each.quota.per_second = rate;
        each.quota.capacity = capacity;
        each.quota.headers = headers;
        each.quota.advice = advice;
        each.calls = calls;
        each.concurrency = concurrency;
        return each;
    };
    using enum quota_headers;
    constexpr auto no_advice = quota_advice::none;
    constexpr auto in_seconds = quota_advice::seconds;
    constexpr auto exact = quota_advice::milliseconds;
    const auto far = [](limit_case& each) -> limit_case& {
        each.local = false;
        return each;
    };
    const auto windows = [](limit_case& each, double length) -> limit_case& {
        each.quota.window_seconds = length;
        return each;
    };
    add("headers, 50/s", 50, 50, openai, no_advice, 2'000, 64);
    add("headers, 50/s, Retry-After", 50, 50, openai, in_seconds, 2'000, 64);
    far(add("headers, 50/s, far, C=64", 50, 50, openai, no_advice, 2'000, 64));
    far(add("headers, 50/s, far, C=1000", 50, 50, openai, no_advice, 2'000, 1'000));
    add("headers, 50/s, C=1000", 50, 50, openai, no_advice, 2'000, 1'000);
    add("headers, whole seconds, 50/s", 50, 50, anthropic, no_advice, 2'000, 64);
    windows(add("headers, window of 1 s, 50", 50, 50, openai, no_advice, 2'000, 64), 1);
    far(windows(add("headers, window of 1 s, far", 50, 50, openai, no_advice, 500, 64), 1));
    add("headers, 10 at once, 50/s", 50, 10, openai, no_advice, 300, 64);
    far(add("headers, 10 at once, far", 50, 10, openai, no_advice, 300, 64));
    add("headers, 10 at once, C=8", 50, 10, openai, no_advice, 300, 8);
    add("headers, 25 at once, 50/s", 50, 25, openai, no_advice, 300, 64);
    add("headers, 20 at once, 2/s", 2, 20, openai, no_advice, 100, 64);
    add("headers, 5 at once, 5/s", 5, 5, openai, no_advice, 100, 64);
    add("nothing, 50/s", 50, 50, none, no_advice, 2'000, 64);
    far(add("nothing, 50/s, far, C=1000", 50, 50, none, no_advice, 2'000, 1'000));
    add("nothing, 50/s, C=1000", 50, 50, none, no_advice, 2'000, 1'000);
    add("Retry-After, 50/s", 50, 50, none, in_seconds, 2'000, 64);
    far(add("Retry-After, 50/s, far, C=1000", 50, 50, none, in_seconds, 2'000, 1'000));
    add("retry-after-ms, 50/s", 50, 50, none, exact, 2'000, 64);
    windows(add("nothing, window of 1 s, 50", 50, 50, none, no_advice, 2'000, 64), 1);
    add("3,000/min set by the user, 50/s", 50, 50, none, no_advice, 2'000, 64).requests_per_minute =
        3'000;
    add("headers, 30/min, Retry-After", 0.5, 30, openai, in_seconds, 60, 64);
    far(add("headers, 30/min, far", 0.5, 30, openai, no_advice, 60, 64));
    far(add("headers, 10/min, Retry-After, far", 10.0 / 60, 10, openai, in_seconds, 20, 64));
    far(add("headers, 3/min, Retry-After, far", 0.05, 3, openai, in_seconds, 10, 64));
    far(add("Retry-After, 3/min, far", 0.05, 3, none, in_seconds, 10, 64));
    far(add("headers, whole seconds, 50/min, far", 50.0 / 60, 50, anthropic, no_advice, 100, 64));
    windows(add("headers, window of 10 s, 100", 10, 100, openai, no_advice, 500, 64), 10);
    add("nothing, 10 at once, 50/s", 50, 10, none, no_advice, 300, 64);
    // What remains is said, and not of what: that is to be learned as if nothing were said.
    add("remaining alone, 50/s", 50, 50, openai_remaining, no_advice, 2'000, 64);
    far(add("remaining alone, 50/s, far, C=1000", 50, 50, openai_remaining, no_advice, 2'000,
            1'000));
    add("remaining alone, Retry-After, 50/s", 50, 50, openai_remaining, in_seconds, 2'000, 64);
    add("remaining alone, 10 at once, 5/s", 5, 10, openai_remaining, no_advice, 300, 64);
    add("remaining alone, Retry-After, 5/s", 5, 10, openai_remaining, in_seconds, 300, 64);
    // Resets that are points in time, in whole seconds: the end of a window is reported up to a
    // second late, which is half of it, and the rate of a bucket is less exact.
    add("headers, Unix time, 50/s", 50, 50, openai_unix, no_advice, 2'000, 64).allows.late_share =
        0.01;
    windows(add("headers, Unix time, window of 2 s, 20", 10, 20, openai_unix, no_advice, 500, 64),
            2)
        .allows.of_ideal = 0.55;
    // Refusals that take their time: a busy server, or one that begins a thread for each.
    for (const int late : {13, 140}) {
        const std::string after = ", C=1000, 429 after " + std::to_string(late) + " ms";
        add("headers, 50/s" + after, 50, 50, openai, no_advice, 2'000, 1'000).refusal_latency =
            milliseconds(late);
        add("nothing, 50/s" + after, 50, 50, none, no_advice, 2'000, 1'000).refusal_latency =
            milliseconds(late);
        add("Retry-After, 50/s" + after, 50, 50, none, in_seconds, 2'000, 1'000).refusal_latency =
            milliseconds(late);
    }
    // No limit at all, and responses that take long: the window has to open without them.
    add("no limit, 20 s, C=1000", 1e6, 1'000'000, none, no_advice, 2'000, 1'000).latency =
        milliseconds(20'000);
    far(add("no limit, 20 s, far, C=1000", 1e6, 1'000'000, none, no_advice, 2'000, 1'000)).latency =
        milliseconds(20'000);
    // Windows of which nothing is said: their length has to be found as well. A window that is used
    // up too soon costs a refusal and a try or two until the next one begins, whatever it holds.
    const auto found_by_tries = [](limit_case& each) { each.allows.late_share = 0.02; };
    found_by_tries(
        windows(add("nothing, window of 5 s, 100", 20, 100, none, no_advice, 1'000, 64), 5));
    limit_case& long_window =
        windows(add("nothing, window of 10 s, 100", 10, 100, none, no_advice, 1'000, 64), 10);
    found_by_tries(long_window);
    long_window.allows.of_ideal = 0.6; // each try that is too early costs the rest of a window
    found_by_tries(
        windows(add("Retry-After, window of 10 s, 100", 10, 100, none, in_seconds, 1'000, 64), 10));
    // Each refusal asks for a second, which is all of a window: ten of them in 40 windows leave 80
    // % at best, and it takes several to find the pace.
    windows(add("Retry-After, window of 1 s, 50", 50, 50, none, in_seconds, 2'000, 64), 1)
        .allows.of_ideal = 0.55;
    for (const unsigned each : {60U, 30U, 10U, 3U}) {
        const std::size_t calls = each == 60 ? 100 : each == 3 ? 10 : 2 * each;
        const std::string rate = std::to_string(each) + "/min";
        add("headers alone, " + rate, each / 60.0, each, openai, no_advice, calls, 64);
        add("Retry-After alone, " + rate, each / 60.0, each, none, in_seconds, calls, 64);
        add("nothing, " + rate, each / 60.0, each, none, no_advice, calls, 64);
    }
    return cases;
}

} // namespace heddle::testing
