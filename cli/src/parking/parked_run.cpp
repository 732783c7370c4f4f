#include "parking/parked_run.hpp"

#include <heddle/coro/wait_point.hpp>
#include <heddle/setup/display_text.hpp>

#include <algorithm>
#include <utility>

namespace heddle::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto first_interval = 30s;
constexpr auto max_interval = 300s;
constexpr auto cancel_patience = 30s; ///< for services to end what they perform
constexpr int max_fruitless = 3;      ///< attempts to submit, one after the other

parking_lot::parts parts_of(const parked_run::parts& of, store::parking_reader& kept) {
    parking_lot::parts new_lot{of.journal, kept, of.batches, of.prices, of.asked.parks};
    if (of.asked.settling)
        new_lot.settling = std::chrono::ceil<std::chrono::seconds>(*of.asked.settling);
    new_lot.on_first = of.on_first;
    return new_lot;
}

} // namespace

parked_run::parked_run(parts of)
    : of_(std::move(of)), kept_(of_.workers, of_.asked.folder), lot_(parts_of(of_, kept_)) {}

parked_run::~parked_run() { of_.slot.lot = nullptr; }

coro::task<result<void>> parked_run::begin(coro::call_context context) {
    if (of_.asked.parks && of_.batches.empty())
        of_.say("--park: no configured service takes batches; requests are sent at once");
    if (of_.asked.has_parked) {
        result<void> begun = co_await lot_.begin(context);
        if (!begun) co_return begun;
        result<parking_look> seen = co_await lot_.look(context);
        if (!seen) co_return std::move(seen).error();
        report(*seen);
    }
    of_.slot.lot = &lot_;
    co_return result<void>();
}

coro::task<result<void>> parked_run::work(coro::call_context context) {
    const coro::call_context working = context.with_cancel(working_);
    for (;;) {
        result<void> waited = co_await coro::sleep_until(working, context.loop->now() + 1s);
        if (!waited) co_return result<void>();
        if (!lot_.is_full()) continue;
        // Not cancelled: what is begun is noted.
        result<void> submitted = co_await submit(false, context);
        if (!submitted) co_return submitted;
    }
}

coro::task<result<void>> parked_run::submit(bool all, coro::call_context context) {
    result<std::vector<std::string>> problems = co_await lot_.submit(all, context);
    if (!problems) co_return std::move(problems).error();
    problems_ = *std::move(problems);
    report(problems_);
    co_return result<void>();
}

void parked_run::cancel_batches() noexcept {
    cancels_ = true;
    changed_.notify();
}

coro::task<result<void>> parked_run::wait(coro::clock::duration interval,
                                          coro::call_context context) {
    const auto until = coro::deadline(context.loop->now() + interval);
    const coro::wake woken = co_await changed_.wait(context.with_deadline(until));
    if (woken != coro::wake::cancelled) co_return result<void>();
    auto stop = context.stop_error();
    co_return stop ? *std::move(stop) : error::cancelled(cancel_reason::user);
}

coro::task<result<void>> parked_run::cancel(coro::call_context context) {
    result<parking_look> seen = co_await lot_.look(context);
    if (!seen) co_return std::move(seen).error();
    report(*seen);
    const std::uint64_t batches = lot_.open_batches();
    if (batches == 0) co_return result<void>();
    result<std::vector<std::string>> problems = co_await lot_.cancel(context);
    if (!problems) co_return std::move(problems).error();
    report(*problems);
    const auto until = context.loop->now() + cancel_patience;
    coro::clock::duration interval = 200ms;
    while (lot_.open_batches() != 0 && context.loop->now() < until) {
        result<void> waited = co_await coro::sleep_until(context, context.loop->now() + interval);
        if (!waited) co_return waited;
        interval = std::min<coro::clock::duration>(5s, interval * 2);
        seen = co_await lot_.look(context);
        if (!seen) co_return std::move(seen).error();
        report(*seen);
    }
    const std::uint64_t left = lot_.open_batches();
    std::string text = batches == 1
                           ? std::string("a batch of the services was cancelled")
                           : std::to_string(batches) + " batches of the services were cancelled";
    text += "; what was performed is kept";
    if (left != 0)
        text += ", and a later command takes what " + std::to_string(left) + " still perform";
    of_.say(text);
    co_return result<void>();
}

coro::task<result<void>> parked_run::end(coro::call_context context) {
    result<void> ended;
    if (!cancels_) ended = co_await submit_and_wait(context);
    // They may be asked for during a submission or a look as well.
    if (ended && cancels_) {
        frees_rows_ = false;
        ended = co_await cancel(context);
    }
    co_return ended;
}

coro::task<result<void>> parked_run::submit_and_wait(coro::call_context context) {
    if (lot_.parks() || lot_.has_parked() || of_.asked.submits_again) {
        result<void> submitted = co_await submit(true, context);
        if (!submitted) co_return submitted;
    }
    coro::clock::duration interval = first_interval;
    int fruitless = 0;
    while (!cancels_ && of_.asked.waits && lot_.open_calls() != 0) {
        if (of_.asked.interval) interval = *of_.asked.interval;
        result<void> waited = co_await wait(interval, context);
        if (!waited || cancels_) co_return waited;
        interval = std::min<coro::clock::duration>(max_interval, interval * 5 / 4);
        result<parking_look> seen = co_await lot_.look(context);
        if (!seen) co_return std::move(seen).error();
        report(*seen);
        frees_rows_ = seen->frees_rows();
        if (frees_rows_ || cancels_) co_return result<void>();
        result<void> submitted = co_await submit(true, context);
        if (!submitted) co_return submitted;
        // Nothing is under way at a service, and none takes anything: a wrong key, or no network.
        fruitless = !problems_.empty() && lot_.open_batches() == 0 ? fruitless + 1 : 0;
        if (fruitless == max_fruitless) co_return result<void>();
    }
    co_return result<void>();
}

void parked_run::report(const std::vector<std::string>& problems) {
    for (const std::string& each : problems) {
        if (reported_.insert(each).second) of_.say(each);
    }
}

void parked_run::report(const parking_look& seen) {
    report(seen.problems);
    if (of_.asked.quiet) return;
    std::string text;
    const auto add = [&](std::uint64_t count, std::string_view what) {
        if (count == 0) return;
        text +=
            (text.empty() ? "" : ", ") + setup::counted(count, "call") + " " + std::string(what);
    };
    add(seen.answered, "answered");
    add(seen.failed, "failed");
    add(seen.returned, "to be submitted again");
    if (!text.empty()) of_.say("batches: " + text);
}

} // namespace heddle::cli
