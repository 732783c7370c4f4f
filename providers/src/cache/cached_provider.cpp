#include <heddle/providers/cache/cached_provider.hpp>

#include <heddle/coro/wait_point.hpp>
#include <heddle/providers/common/neutral_json.hpp>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace heddle::providers {

using coro::call_context;
using coro::task;
using ports::cache_use;
using ports::chat_request;
using ports::chat_response;

/// A call that equal ones wait for.
struct cached_provider::flight {
    std::optional<chat_response> response;
    std::optional<error> failure; ///< neither: whoever made the call has ended it
    std::vector<coro::wait_point*> waiting;
};

struct cached_provider::flights {
    std::unordered_map<std::string, std::shared_ptr<flight>> by_key;
};

/// The place of whoever makes the call. Leaving it, in whatever way, lets the others go on.
class cached_provider::seat {
public:
    seat(flights& all, std::string key) : all_(all), key_(std::move(key)) {
        mine_ = std::make_shared<flight>();
        all_.by_key.emplace(key_, mine_);
    }
    ~seat() {
        all_.by_key.erase(key_);
        for (coro::wait_point* each : mine_->waiting) each->notify();
    }
    seat(const seat&) = delete;
    seat& operator=(const seat&) = delete;

    flight& get() noexcept { return *mine_; }
    const std::string& key() const noexcept { return key_; }

private:
    flights& all_;
    std::string key_;
    std::shared_ptr<flight> mine_;
};

namespace {

/// Marks the key under which the second calls of hedges wait for one another: they overtake the
/// first calls, and equal ones are sent once. No other key ends in this: the others end in JSON.
constexpr const char* of_seconds = "\nsecond";

/// Takes a waiter off the list, also when its call is cancelled.
class waiting_place {
public:
    waiting_place(std::vector<coro::wait_point*>& list, coro::wait_point& mine)
        : list_(list), mine_(mine) {
        list_.push_back(&mine_);
    }
    ~waiting_place() { std::erase(list_, &mine_); }
    waiting_place(const waiting_place&) = delete;
    waiting_place& operator=(const waiting_place&) = delete;

private:
    std::vector<coro::wait_point*>& list_;
    coro::wait_point& mine_;
};

/// A copy that was not paid for.
chat_response unpaid(chat_response response) {
    response.attempts = 0;
    response.lost.clear();
    response.usage = ports::token_usage{};
    response.usage->of_cache = true;
    return response;
}

/// Whether a failure holds for equal calls too: not that this one ran out of its time.
bool is_of_service(const error& failure) noexcept {
    for (const error* each = &failure; each; each = each->info().cause.get()) {
        if (each->is_cancelled()) return false;
    }
    return failure.code().category() == ports::llm_category();
}

/// The failure of an equal call, for one that sent nothing.
error shared_failure(const error& of) {
    const error_info& info = of.info();
    error failure = error(info.code, info.message).with_hint(info.hint).with_attempts(0);
    if (info.retryable) failure = std::move(failure).with_retryable(*info.retryable);
    if (info.retry_after) failure = std::move(failure).with_retry_after(*info.retry_after);
    return failure;
}

bool can_be_kept(const chat_response& response) noexcept {
    return response.refusal.empty() && (response.finish == ports::finish_reason::stop ||
                                        response.finish == ports::finish_reason::tool_calls);
}

} // namespace

cached_provider::cached_provider(ports::llm_port& inner, ports::response_store& store,
                                 log_port& log, std::string service)
    : forwarding_llm_port(inner), store_(store), log_(log), service_(std::move(service)),
      flights_(std::make_unique<flights>()) {}

cached_provider::~cached_provider() = default;

// `request` by reference: the port requires that it outlives the call.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
task<result<chat_response>> cached_provider::complete(const chat_request& request,
                                                      call_context context) {
    return answer(request, nullptr, context);
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): as in complete
task<result<chat_response>> cached_provider::stream(const chat_request& request,
                                                    ports::chat_delta_sink on_delta,
                                                    call_context context) {
    result<chat_response> outcome = co_await answer(request, &on_delta, context);
    co_return outcome;
}

std::string cached_provider::key_of(const chat_request& request) const {
    std::string key(inner_.provider_name());
    key += '\n';
    key += service_;
    key += '\n';
    append_request_json(key, request);
    return key;
}

/// Waits for equal calls that are under way. Nothing: the caller makes the call, as the first of
/// those that follow. A failure that comes back for the same request is shared at once; after
/// another one the next call tries, and the second failure is shared, so that many equal calls do
/// not fail one after the other.
task<std::optional<result<chat_response>>> cached_provider::follow(const std::string* key,
                                                                   std::optional<seat>* leading,
                                                                   call_context context) {
    using outcome = std::optional<result<chat_response>>;
    bool failed_before = false;
    for (;;) {
        const auto found = flights_->by_key.find(*key);
        if (found == flights_->by_key.end()) {
            leading->emplace(*flights_, *key); // before anybody else can look
            co_return outcome();
        }
        const std::shared_ptr<flight> other = found->second;
        coro::wait_point ended;
        const waiting_place place(other->waiting, ended);
        const coro::wake woken = co_await ended.wait(context);
        if (woken != coro::wake::notified) {
            co_return outcome(error::cancelled(woken == coro::wake::cancelled
                                                   ? context.cancel->reason()
                                                   : cancel_reason::deadline)
                                  .with_attempts(0));
        }
        if (other->response) {
            ++counters_.shared;
            co_return outcome(unpaid(*other->response));
        }
        if (!other->failure) continue; // cancelled, or its receiver failed: nobody else's end
        if (failed_before || other->failure->info().retryable == false) {
            ++counters_.shared;
            co_return outcome(shared_failure(*other->failure));
        }
        failed_before = true;
    }
}

// `request` and `on_delta` stay until this has ended: complete() and stream() see to it.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
task<result<chat_response>> cached_provider::answer(const chat_request& request,
                                                    const ports::chat_delta_sink* on_delta,
                                                    call_context context) {
    const cache_use use = request.scheduling.cache;
    if (use == cache_use::none) {
        result<chat_response> outcome = co_await ask(request, on_delta, context);
        co_return outcome;
    }
    const std::string key = key_of(request);
    if (use == cache_use::kept) {
        result<chat_response> outcome = co_await kept_only(&key, on_delta, context);
        co_return outcome;
    }
    std::optional<seat> leading;
    if (use == cache_use::shared || use == cache_use::apart) {
        const std::string place = use == cache_use::apart ? key + of_seconds : key;
        std::optional<result<chat_response>> followed = co_await follow(&place, &leading, context);
        if (followed) {
            if (!*followed) co_return std::move(*followed);
            co_return hand_out(**std::move(followed), on_delta);
        }
    }
    if (use != cache_use::renewed) {
        std::optional<chat_response> known = co_await look_up(key, context);
        if (auto stop = context.stop_error()) co_return std::move(*stop).with_attempts(0);
        if (known) {
            ++counters_.hits;
            if (leading) leading->get().response = known;
            co_return hand_out(*std::move(known), on_delta);
        }
    }
    ++counters_.misses;
    result<chat_response> outcome = co_await ask(request, on_delta, context);
    if (leading) {
        if (outcome) leading->get().response = *outcome;
        else if (is_of_service(outcome.error())) leading->get().failure = outcome.error();
        leading.reset();
    }
    if (outcome && can_be_kept(*outcome)) co_await keep(key, *outcome, context);
    co_return outcome;
}

task<result<chat_response>> cached_provider::kept_only(const std::string* key,
                                                       const ports::chat_delta_sink* on_delta,
                                                       call_context context) {
    std::optional<chat_response> known = co_await look_up(*key, context);
    if (auto stop = context.stop_error()) co_return std::move(*stop).with_attempts(0);
    if (!known) {
        co_return error(ports::make_error_code(ports::llm_errc::not_found),
                        std::string(provider_name()) + ": no response to this is kept")
            .with_retryable(false)
            .with_attempts(0);
    }
    ++counters_.hits;
    co_return hand_out(*std::move(known), on_delta);
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): as in answer
task<result<chat_response>> cached_provider::ask(const chat_request& request,
                                                 const ports::chat_delta_sink* on_delta,
                                                 call_context context) {
    return on_delta ? inner_.stream(request, *on_delta, context)
                    : inner_.complete(request, context);
}

result<chat_response> cached_provider::hand_out(chat_response known,
                                                const ports::chat_delta_sink* on_delta) {
    if (on_delta && *on_delta && !known.text.empty()) HEDDLE_CHECK((*on_delta)(known.text));
    return known;
}

task<std::optional<chat_response>> cached_provider::look_up(std::string key, call_context context) {
    result<std::optional<ports::stored_response>> found =
        co_await store_.find(std::move(key), context);
    if (!found) {
        report(found.error());
        co_return std::nullopt;
    }
    if (!*found) co_return std::nullopt;
    result<chat_response> read = read_response_json((*found)->body);
    if (!read) {
        report(read.error());
        co_return std::nullopt;
    }
    co_return unpaid(*std::move(read));
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): awaited at once
task<void> cached_provider::keep(std::string key, const chat_response& response,
                                 call_context context) {
    ports::stored_response kept;
    kept.provider = inner_.provider_name();
    kept.model = response.model;
    append_response_json(kept.body, response);
    // It is written later: neither the disk nor the end of this call takes the response away.
    const result<void> done = co_await store_.keep(std::move(key), std::move(kept), context);
    if (!done) report(done.error());
}

void cached_provider::report(const error& failure) {
    if (failure.is_cancelled() || reported_) return;
    reported_ = true;
    log_.write(log_level::warn, "cache",
               "responses are neither stored nor reused: " + failure.message() +
                   (failure.info().hint.empty() ? "" : "; " + failure.info().hint));
}

} // namespace heddle::providers
