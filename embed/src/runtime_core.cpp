#include "runtime_core.hpp"

#include "host_log.hpp"
#include "host_services.hpp"
#include "thread_check.hpp"

#include <heddle/base/exceptions.hpp>
#include <heddle/coro/spawn.hpp>
#include <heddle/failure.hpp>

#include <boost/asio/system_executor.hpp>

#include <algorithm>
#include <future>
#include <utility>

namespace heddle::embed {

namespace {

error stopped() {
    return error(runtime_errc::stopped, "the runtime is shutting down").with_retryable(true);
}

/// The bounds that runtime_options and call_options have in common.
template <class Options>
result<void> check_bounds(const Options& options) {
    // A comparison with what is not a number would never find it used up.
    if (options.budget_usd && !(*options.budget_usd >= 0))
        return error(errc::invalid_argument, "budget_usd must be a number of dollars from 0");
    if (options.concurrency == std::size_t{0}) {
        return error(errc::invalid_argument, "concurrency is 0: no branch could ever begin")
            .with_hint("1: one branch after the other");
    }
    return {};
}

} // namespace

runtime_core::runtime_core(runtime_options options)
    : options_(std::move(options)), log_(make_host_log(options_)),
      functions_(std::make_shared<const std::vector<function_definition>>()) {}

result<void> runtime_core::open(boost::asio::io_context* host) {
    if (options_.max_running == 0 && options_.max_queued != 0) {
        return error(errc::invalid_argument,
                     "runtime_options::max_running is 0: calls would wait for ever")
            .with_hint("with a max_queued of 0, too, they fail at once");
    }
    HEDDLE_CHECK(check_bounds(options_));
    const unsigned count = host ? 1 : std::max(options_.threads, 1U);
    const host_service_source services(options_);
    for (unsigned i = 0; i < count; ++i) {
        shard* const first = shards_.empty() ? nullptr : shards_.front().get();
        shards_.push_back(std::make_unique<shard>(options_, *log_, host));
        HEDDLE_CHECK(shards_.back()->open(services, first));
    }
    if (options_.journal.is_set()) {
        std::vector<coro::event_loop*> loops;
        for (const auto& each : shards_) loops.push_back(&each->loop());
        HEDDLE_TRY(journal_, call_journal::open(options_.journal, loops));
    }
    try {
        for (const auto& each : shards_) each->start(shared_from_this());
    } catch (...) { // those that run are not left behind
        join_all();
        throw;
    }
    return {};
}

result<void> runtime_core::add_function(function_definition definition) {
    HEDDLE_CHECK(definition.check());
    const std::lock_guard held(mutex_);
    auto changed = std::make_shared<std::vector<function_definition>>(*functions_);
    const bool known = std::any_of(changed->begin(), changed->end(),
                                   [&](const auto& each) { return each.name == definition.name; });
    if (known) {
        return error(errc::invalid_argument,
                     "there is a function '" + definition.name + "' already");
    }
    changed->push_back(std::move(definition));
    functions_ = std::move(changed);
    return {};
}

std::shared_ptr<const std::vector<function_definition>> runtime_core::functions() const {
    const std::lock_guard held(mutex_);
    return functions_;
}

shard& runtime_core::least_loaded() noexcept {
    // From another one each time, so that equal ones take turns.
    shard* best = nullptr;
    const std::size_t first = next_shard_++;
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        shard& each = *shards_[(first + i) % shards_.size()];
        if (!best || each.counters().load() < best->counters().load()) best = &each;
    }
    return *best;
}

boost::asio::any_completion_executor runtime_core::handler_executor() const {
    if (is_destroyed_) return posting(boost::asio::system_executor());
    return posting(shards_.front()->get_executor());
}

void runtime_core::submit(const std::shared_ptr<running_call>& call) noexcept {
    try {
        if (const std::optional<error> refusal = admit(call)) return call->fail(*refusal);
        call->home->post([call] { call->begin(); });
    } catch (...) { // no memory: it leaves its place, if it has one
        call->fail(error_of_exception("a call"));
    }
}

std::optional<error> runtime_core::admit(const std::shared_ptr<running_call>& call) {
    if (result<void> checked = check_bounds(call->options()); !checked)
        return std::move(checked).error();
    const std::lock_guard held(mutex_);
    if (state_ != state::open) {
        ++refused_;
        return stopped();
    }
    const bool runs = running_ < options_.max_running;
    if (!runs && queue_.size() >= options_.max_queued) {
        ++refused_;
        return error(runtime_errc::overloaded, "too many calls: " + std::to_string(running_) +
                                                   " run and " + std::to_string(queue_.size()) +
                                                   " wait")
            .with_hint(
                "try again later; runtime_options::max_running and max_queued are the "
                "bounds")
            .with_retryable(true);
    }
    if (!runs) queue_.push_back(call); // first: it may throw
    shard& home = least_loaded();
    call->home = &home;
    call->admitted = runs;
    ++living_;
    if (runs) ++running_;
    ++(runs ? home.counters().running : home.counters().queued);
    return std::nullopt;
}

bool runtime_core::is_admitted(const running_call& call) const {
    const std::lock_guard held(mutex_);
    return call.admitted;
}

bool runtime_core::leave_queue(running_call& call) {
    const std::lock_guard held(mutex_);
    if (call.admitted) return false;
    std::erase_if(queue_, [&](const auto& each) { return each.get() == &call; });
    return true;
}

void runtime_core::release(running_call& call) {
    std::shared_ptr<running_call> next;
    {
        const std::lock_guard held(mutex_);
        if (!call.admitted) {
            --call.home->counters().queued;
            std::erase_if(queue_, [&](const auto& each) { return each.get() == &call; });
            return;
        }
        --running_;
        --call.home->counters().running;
        if (queue_.empty()) return;
        next = std::move(queue_.front());
        queue_.pop_front();
        next->admitted = true;
        ++running_;
        --next->home->counters().queued;
        ++next->home->counters().running;
    }
    next->admit();
}

std::shared_ptr<const void> runtime_core::begin_load() {
    struct load_place {
        load_place() = default;
        load_place(const load_place&) = delete;
        load_place& operator=(const load_place&) = delete;
        ~load_place() {
            if (core) core->forget();
        }
        std::shared_ptr<runtime_core> core;
    };
    auto place = std::make_shared<load_place>();
    const std::lock_guard held(mutex_);
    if (state_ != state::open) return nullptr;
    ++living_;
    place->core = shared_from_this();
    return place;
}

void runtime_core::forget() noexcept {
    std::function<void()> idle;
    {
        const std::lock_guard held(mutex_);
        if (--living_ == 0) idle = std::exchange(on_idle_, nullptr);
    }
    if (idle) idle();
}

runtime_stats runtime_core::stats() const {
    runtime_stats now;
    for (const auto& each : shards_) {
        now.threads.push_back(each->counters().read());
        add(now.all, now.threads.back());
    }
    const std::lock_guard held(mutex_);
    now.refused = refused_;
    return now;
}

coro::task<bool> runtime_core::wait_until_idle(coro::deadline until) {
    auto idle = std::make_shared<coro::wait_point>();
    coro::event_loop& loop = first().loop();
    {
        const std::lock_guard held(mutex_);
        if (living_ == 0) co_return true;
        on_idle_ = [idle, home = &first()] { home->post_surely([idle] { idle->notify(); }); };
    }
    const coro::wake woken = co_await idle->wait({&loop, nullptr, until});
    if (woken == coro::wake::notified) co_return true;
    const std::lock_guard held(mutex_);
    on_idle_ = nullptr;
    co_return living_ == 0;
}

void runtime_core::cancel_all() {
    is_cancelling_ = true;
    for (const auto& each : shards_) {
        each->post_surely([self = shared_from_this(), one = each.get()] {
            one->cancel_all(cancel_reason::shutdown);
        });
    }
}

coro::task<void> runtime_core::close_shards() {
    for (const auto& each : shards_) {
        shard& one = *each;
        auto closed = std::make_shared<coro::wait_point>();
        one.post_surely([self = shared_from_this(), &one, closed] {
            auto done = [self, closed](std::exception_ptr) {
                self->first().post_surely([closed] { closed->notify(); });
            };
            coro::spawn(one.loop(), one.close_services(), std::move(done));
        });
        co_await closed->wait({&first().loop(), nullptr, {}});
    }
}

coro::task<void> runtime_core::wind_down(std::chrono::nanoseconds grace) {
    constexpr std::chrono::hours longest{24 * 365};
    const auto now = first().loop().now();
    const coro::deadline until(now + std::min<std::chrono::nanoseconds>(grace, longest));
    bool idle = false;
    if (grace.count() > 0) idle = co_await wait_until_idle(until);
    if (!idle) {
        cancel_all();
        (void)co_await wait_until_idle({});
    }
    if (journal_) co_await journal_->close({&first().loop(), nullptr, {}});
    co_await close_shards();
}

void runtime_core::begin_end(std::chrono::nanoseconds grace, std::function<void()> then) {
    {
        const std::lock_guard held(mutex_);
        if (state_ == state::closed) {
            then();
            return;
        }
        on_closed_.push_back(std::move(then));
        if (state_ == state::ending) {
            if (grace.count() > 0) return;
        } else {
            state_ = state::ending;
            first().post_surely([self = shared_from_this(), grace] {
                // A plain handler at the end, so that nothing of the loop is on the stack.
                auto done = [self](std::exception_ptr) {
                    self->first().post_surely([self] { self->close(); });
                };
                coro::spawn(self->first().loop(), self->wind_down(grace), std::move(done));
            });
            return;
        }
    }
    cancel_all(); // an end without grace overtakes one that waits
}

void runtime_core::close() {
    std::vector<std::function<void()>> waiting;
    {
        const std::lock_guard held(mutex_);
        state_ = state::closed;
        waiting.swap(on_closed_);
    }
    if (first().is_on_host()) first().clear();
    for (const auto& each : waiting) each();
}

void runtime_core::shut_down(std::chrono::nanoseconds grace, pending_handler<> handler) {
    // Shared, because std::function copies.
    auto held = std::make_shared<pending_handler<>>(std::move(handler));
    begin_end(grace, [held] { held->complete(); });
}

void runtime_core::join_all() {
    for (const auto& each : shards_) each->let_end(); // at the same time: each may take its grace
    for (const auto& each : shards_) each->join();
}

void runtime_core::warn_of_calls() {
    if (!checks_threads) return;
    {
        const std::lock_guard held(mutex_);
        if (living_ == 0) return;
    }
    log_->write(log_level::warn, "runtime",
                "the runtime is destroyed where it cannot wait, while calls are in progress: they "
                "end after the destructor has returned; await shutdown() first");
}

void runtime_core::end() {
    if (shards_.empty()) return;
    is_destroyed_ = true;
    const bool inside = std::any_of(shards_.begin(), shards_.end(),
                                    [](const auto& each) { return each->is_here(); });
    if (first().is_on_host()) {
        first().check_entry("the destructor of a runtime");
        // What still runs holds the core, and ends as the context runs on.
        auto done = std::make_shared<bool>(state_ == state::closed);
        const bool is_idle = first().was_here() || first().is_stopped();
        if (!*done) begin_end({}, [done] { *done = true; });
        if (!*done && !inside && is_idle) first().drive(*done);
        else if (!*done) warn_of_calls();
        return;
    }
    if (inside) { // it cannot wait for itself
        warn_of_calls();
        begin_end({}, [self = shared_from_this()] {
            for (const auto& each : self->shards_) each->leave();
        });
        return;
    }
    // Shared: the shard may still be in set_value() when this thread goes on.
    auto closed = std::make_shared<std::promise<void>>();
    std::future<void> waiting = closed->get_future();
    begin_end({}, [closed] { closed->set_value(); });
    waiting.wait();
    join_all();
}

} // namespace heddle::embed
