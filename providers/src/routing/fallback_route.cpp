#include <heddle/providers/routing/route.hpp>

#include "routing/kept_targets.hpp"
#include "routing/paid_targets.hpp"
#include "routing/target_request.hpp"

#include <heddle/ports/send_gate.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace heddle::providers {

using coro::call_context;
using coro::task;
using ports::chat_delta_sink;
using ports::chat_request;
using ports::chat_response;

namespace {

/// The gate of a call, for a target that comes after others.
class later_gate final : public ports::send_gate {
public:
    /// Both outlive it.
    later_gate(send_gate& first, const std::vector<ports::lost_request>& before)
        : first_(first), before_(before) {}

    task<result<ports::send_terms>> before_sending(
        // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
        const chat_request& request, const std::vector<ports::lost_request>& lost,
        call_context context) override {
        std::vector<ports::lost_request> all = before_;
        all.insert(all.end(), lost.begin(), lost.end());
        result<ports::send_terms> terms = co_await first_.before_sending(request, all, context);
        co_return terms;
    }
    void on_unpaid() noexcept override { first_.on_unpaid(); }

private:
    send_gate& first_;
    const std::vector<ports::lost_request>& before_;
};

} // namespace

/// What one call has been through.
struct fallback_route::progress {
    std::size_t at = 0;          ///< the target
    std::optional<error> failed; ///< of the targets before, the last with the others as causes
    std::uint32_t attempts = 0;  // requests of the targets before
    std::vector<ports::lost_request> lost; // of those that may be charged for
    std::size_t lost_before = 0;           // of these, before the last target that failed
    std::optional<error> last;             // the failure of that target, signed
    std::optional<later_gate> gate;
    bool handed_out = false;

    /// The gate for the next target where targets before it may be charged for; else null.
    [[nodiscard]] ports::send_gate* gate_after(const chat_request& request) {
        if (!request.sends || lost.empty()) return nullptr;
        return &gate.emplace(*request.sends, lost);
    }

    /// Completes the response of `target` by the requests of the targets before it.
    void complete(chat_response& response, const route_target& target) const {
        sign(response, target);
        sign_lost(response.lost, 0, target);
        response.attempts += attempts;
        put_lost(response, lost);
    }
    error end(error last, const std::vector<route_target>& targets) {
        const bool sent_nothing = ports::attempts_of(last) == 0;
        last = finish(std::move(last), targets);
        if (sent_nothing && this->last) {
            // The last request of the call is one of the target before.
            error ended = ports::ended_after(last, *this->last,
                                             {lost.begin(), lost.begin() + lost_before}, attempts);
            if (!ports::is_unpaid(ended)) return ended;
        }
        return ports::with_lost(std::move(last), std::move(lost));
    }
    error finish(error last, const std::vector<route_target>& targets) {
        if (!failed) return last;
        last = std::move(last).with_trace("after " + target_text(targets[at - 1]) +
                                          " failed: " + failed->message());
        last = ports::with_other_attempts(std::move(last), attempts);
        return std::move(last).with_last_cause(*std::move(failed));
    }
};

fallback_route::fallback_route(std::string name, std::vector<route_target> targets, log_port& log,
                               error_kinds on, bool (*also)(const error&) noexcept)
    : name_(std::move(name)), targets_(std::move(targets)), log_(log), on_(on), also_(also) {}

bool fallback_route::hands_on(const error& failure, progress& so_far, const call_context& context) {
    const bool is_kind = failure.code().category() == ports::llm_category() &&
                         on_.has(static_cast<ports::llm_errc>(failure.code().value()));
    const bool curable = !failure.is_cancelled() && (is_kind || (also_ && also_(failure)));
    if (!curable || so_far.handed_out || so_far.at + 1 == targets_.size()) return false;
    if (context.stop_error()) return false;
    const std::uint32_t sent = ports::attempts_of(failure);
    so_far.lost_before = so_far.lost.size();
    so_far.last = signed_failure(failure, targets_[so_far.at]);
    add_lost_of(so_far.lost, failure, targets_[so_far.at]);
    so_far.failed = so_far.finish(failure, targets_);
    so_far.attempts += sent;
    ++so_far.at;
    ++counters_.fallbacks;
    if (log_.enabled(log_level::info)) {
        log_.write(log_level::info, "llm",
                   name_ + ": " + failure.message() + "; continuing with " +
                       target_text(targets_[so_far.at]));
    }
    return true;
}

bool fallback_route::keeps_responses() const noexcept {
    return std::all_of(targets_.begin(), targets_.end(),
                       [](const route_target& each) { return each.provider->keeps_responses(); });
}

/// One target after the other.
unsigned fallback_route::max_requests_at_once() const noexcept {
    unsigned most = 1;
    for (const route_target& each : targets_)
        most = std::max(most, each.provider->max_requests_at_once());
    return most;
}

// `request` by reference: the port requires that it outlives the call.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
task<result<chat_response>> fallback_route::complete(const chat_request& request,
                                                     call_context context) {
    if (asks_for_kept(request)) {
        result<chat_response> kept = co_await kept_response(targets_, request, nullptr, context);
        co_return kept;
    }
    ++counters_.calls;
    progress so_far;
    for (;;) {
        const route_target& target = targets_[so_far.at];
        const target_request asked(request, target, false, so_far.gate_after(request));
        result<chat_response> response = co_await target.provider->complete(*asked, context);
        if (response) {
            so_far.complete(*response, target);
            co_return response;
        }
        if (!hands_on(response.error(), so_far, context)) {
            co_return so_far.end(signed_failure(std::move(response).error(), targets_[so_far.at]),
                                 targets_);
        }
    }
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): as in complete
task<result<chat_response>> fallback_route::stream(const chat_request& request,
                                                   chat_delta_sink on_delta, call_context context) {
    if (asks_for_kept(request)) {
        result<chat_response> kept = co_await kept_response(targets_, request, &on_delta, context);
        co_return kept;
    }
    ++counters_.calls;
    progress so_far;
    for (;;) {
        const route_target& target = targets_[so_far.at];
        const target_request asked(request, target, false, so_far.gate_after(request));
        // Refers to what stays until the call below has ended.
        chat_delta_sink watching = [&so_far, &on_delta](std::string_view text) {
            so_far.handed_out = so_far.handed_out || !text.empty();
            return on_delta ? on_delta(text) : result<void>();
        };
        result<chat_response> response =
            co_await target.provider->stream(*asked, std::move(watching), context);
        if (response) {
            so_far.complete(*response, target);
            co_return response;
        }
        if (!hands_on(response.error(), so_far, context)) {
            co_return so_far.end(signed_failure(std::move(response).error(), targets_[so_far.at]),
                                 targets_);
        }
    }
}

} // namespace heddle::providers
