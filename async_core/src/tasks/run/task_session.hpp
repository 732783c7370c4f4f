// The resources of one execution: turns, window, tokens, money.
#pragma once

#include "tasks/run/shared_room.hpp"

#include <heddle/coro/deadline.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/ports/price_port.hpp>
#include <heddle/tasks/definition/context_settings.hpp>
#include <heddle/tasks/run/model_registry.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// Of a text, before a service has counted one.
inline constexpr double first_tokens_per_byte = 0.25;

/// A limit that is reached: RESOURCE_EXHAUSTION (docs/spec/runtime.md §6).
struct exhausted_resource {
    std::string_view resource; ///< turns, context, output, tokens, cost, time
    double used = 0;
    double limit = 0;
    std::string message;
};

/// Prices of the model that a task asks. The names outlive it.
struct model_price {
    const ports::price_port* prices = nullptr; ///< null: no price is known
    std::string_view provider;
    std::string_view model;
    std::span<const route_model> route_models{}; ///< where else a request may go
    [[nodiscard]] std::optional<double> of(const ports::token_usage& usage) const;
    /// At the dearest of the models that are known to have a price.
    [[nodiscard]] std::optional<double> max_of(const ports::token_usage& usage) const;
    /// Of one token of output after that input, likewise.
    [[nodiscard]] std::optional<double> max_of_output(const ports::token_usage& input) const;
};

/// Tokens of one request.
struct counted_use {
    ports::token_usage usage;
    bool estimated = false; ///< the service did not report them
};

/// The usage and cost of requests.
struct paid_figures {
    ports::token_usage usage;
    std::uint32_t requests = 0;
    double usd = 0;       ///< as far as known
    bool is_known = true; ///< the cost of all of them
};

/// What failed requests of a call have used.
struct counted_loss {
    std::int64_t tokens = 0;
    double usd = 0;
};

/// Counts what the conversation of one execution uses, its subtasks included where that is noted,
/// and knows when it is enough. Lives in the frame of the execution. Threads: its shard's only.
class task_session {
public:
    static constexpr std::int64_t default_turns = 10; ///< assistant messages, re-asks not counted
    /// Assumed output tokens of a request without a limit, if that of its model is not known. Few
    /// models can return more.
    static constexpr std::int64_t ample_output = 65'536;

    task_session() = default;
    task_session(const task_session&) = delete;
    task_session& operator=(const task_session&) = delete;
    ~task_session() { release(); }

    /// `outer`: the session of the task that this one was started by; it outlives this one.
    void begin(const resource_limits& limits, std::int64_t max_questions,
               std::optional<std::int64_t> window, const model_price& price, task_session* outer);

    /// Before a request: the limit that it would pass. Also bounds request.max_output_tokens by
    /// what the limits leave, notes warnings at 80 %, and sets aside what the request may use until
    /// it is counted or the next one is checked. Where other requests hold what it needs, it
    /// must_wait(). `at_once`: requests that the provider may send for it at the same time. Where
    /// not all of these fit, the request becomes call_scheduling::one_at_a_time.
    [[nodiscard]] std::optional<exhausted_resource> check(ports::chat_request& request,
                                                          unsigned at_once = 1);
    /// Whether a limit of tokens or money bounds this session or one above it.
    [[nodiscard]] bool shares_room() const noexcept { return room_ != nullptr; }
    /// To be called before the checked request is sent again. Result: the limit that it would
    /// exceed, given `lost`. Sets `allowed` if the limits leave less output than was checked.
    [[nodiscard]] std::optional<exhausted_resource> check_again(
        const counted_loss& lost, std::optional<std::int64_t>& allowed) const;
    /// Nothing is set aside: check() is to be called again after room_freed().
    [[nodiscard]] bool must_wait() const noexcept { return !places_.empty(); }
    /// Only while it must_wait(). Cancellation: returns.
    [[nodiscard]] coro::task<coro::wake> room_freed(coro::call_context context) {
        return places_.back()->point.wait(context);
    }
    /// What a response used: the service's figures, and for those that it did not report, or that
    /// cannot be, an estimate from the texts. Nothing for one out of a cache.
    [[nodiscard]] counted_use use_of(const ports::chat_response& response) const noexcept;
    /// The same for the last request, whatever came of it. `received`: bytes of a response.
    [[nodiscard]] counted_use use_of(const std::optional<ports::token_usage>& reported,
                                     std::size_t received) const noexcept;
    /// After a response. `cost`: empty when the price is not known.
    void count(const ports::chat_response& response, const counted_use& use,
               std::optional<double> cost);
    /// After requests without a response. `use`: what they used at least; null: nothing that is
    /// paid.
    void count_failed(std::uint32_t attempts, const counted_use* use, std::optional<double> cost);
    /// Whether what is counted from now on was paid for by an earlier execution of a durable run:
    /// for the limits that makes no difference, but paid_now() is without it.
    void set_paid_earlier(bool earlier) noexcept { paid_earlier_ = earlier; }
    /// After a response that ended at its length: whether that was a limit of the task.
    [[nodiscard]] std::optional<exhausted_resource> check_output() const;
    /// Time that a timeout has ended.
    [[nodiscard]] static exhausted_resource time_over(coro::clock::duration used,
                                                      coro::clock::duration limit);

    /// Tokens that a request takes, by what the provider reported of earlier ones, else by its
    /// bytes.
    [[nodiscard]] std::int64_t estimate(const ports::chat_request& request) const noexcept;
    /// Tokens that a text takes.
    [[nodiscard]] std::int64_t estimate(std::size_t bytes) const noexcept;
    /// Tokens of the window that the conversation may use, if the window is known.
    [[nodiscard]] std::optional<std::int64_t> room() const noexcept;
    /// Of the model that is asked.
    [[nodiscard]] const model_price& price() const noexcept { return price_; }

    [[nodiscard]] const ports::token_usage& usage() const noexcept { return usage_; }
    /// Whether usage() is meaningful: a response arrived, or a failed request had been sent.
    [[nodiscard]] bool used() const noexcept { return used_; }
    [[nodiscard]] bool estimated() const noexcept { return estimated_; }
    [[nodiscard]] std::optional<double> cost() const noexcept {
        return cost_known_ ? std::optional(cost_) : std::nullopt;
    }
    [[nodiscard]] std::uint32_t requests() const noexcept { return requests_; }
    [[nodiscard]] std::int64_t turns() const noexcept { return turns_; }
    /// What this execution has paid for: all but what was paid earlier.
    [[nodiscard]] const paid_figures& paid_now() const noexcept { return paid_now_; }
    /// Whether it had responses, and nothing was sent for any of them.
    [[nodiscard]] bool of_cache() const noexcept { return turns_ != 0 && paid_now_.requests == 0; }
    /// Warnings since the last call.
    [[nodiscard]] std::vector<std::string> take_warnings() { return std::move(warnings_); }

private:
    enum class resource : std::uint8_t { turns, context, output, tokens, cost, count };
    /// What the limits leave for the output of a request.
    struct allowance {
        std::int64_t tokens = INT64_MAX;
        resource by = resource::count; ///< count: nothing bounds it
        const task_session* in = nullptr;
        void bound(std::int64_t left, resource what, const task_session& session) noexcept;
    };
    /// A request on its way through the limits of the chain.
    struct wanted_request {
        const task_session& by;
        std::int64_t input = 0;
        std::int64_t output = 0; ///< as much as it would use if the limits left it
        allowance left;
        std::int64_t at_once = 1;                    ///< requests that the provider may send for it
        std::int64_t each_of_them = INT64_MAX;       ///< output that the limits leave each of these
        bool shares = false;                         ///< a limit of another task bounds it
        std::shared_ptr<shared_room> full = nullptr; ///< innermost that has no room; null: none

        [[nodiscard]] std::int64_t max_output() const noexcept {
            return left.tokens < output ? left.tokens : output;
        }
        void bound_each(std::int64_t tokens) noexcept {
            if (tokens < each_of_them) each_of_them = tokens;
        }
        void note_full(const std::shared_ptr<shared_room>& room) {
            if (!full) full = room;
        }
    };
    [[nodiscard]] std::optional<exhausted_resource> check_total(wanted_request& wanted);
    [[nodiscard]] std::optional<exhausted_resource> check_cost(double limit,
                                                               wanted_request& wanted);
    [[nodiscard]] bool waits_here(const wanted_request& wanted, bool fits) const noexcept;
    [[nodiscard]] const shared_room::place* place_in(const shared_room& room) const noexcept;
    void wait_in(std::shared_ptr<shared_room> full);
    void set_aside(std::int64_t input, std::int64_t output, std::int64_t at_once);
    void release() noexcept;
    [[nodiscard]] static std::string_view name_of(resource what) noexcept;
    void warn(resource what, double used, double limit);
    void add(const counted_use& use, std::optional<double> cost);
    void add_requests(std::uint32_t requests) noexcept;

    resource_limits limits_;
    std::int64_t max_turns_ = default_turns;
    std::optional<std::int64_t> window_;
    model_price price_;
    task_session* outer_ = nullptr;
    /// Of this or of the next task above that has limits on totals; null: none has.
    std::shared_ptr<shared_room> room_;
    /// Of a request that must wait, from the inside outwards: it has the turn in all but the last.
    std::vector<std::unique_ptr<shared_room::place>> places_;
    std::int64_t at_once_ = 1;               ///< requests that it may be at the same time
    std::int64_t asked_output_ = 0;          ///< as much as the request that was checked may use
    std::optional<request_share> set_aside_; ///< for the requests in flight
    allowance allowed_;                      ///< of the last request
    ports::token_usage usage_;
    std::int64_t total_ = 0; ///< tokens of this and all below, as far as known
    double total_cost_ = 0;  ///< of this and all below, as far as known
    double cost_ = 0;
    bool used_ = false;
    bool estimated_ = false;
    bool cost_known_ = true;
    std::uint32_t requests_ = 0;
    bool paid_earlier_ = false;
    paid_figures paid_now_;
    std::int64_t turns_ = 0;
    std::size_t asked_bytes_ = 0; ///< of the last request
    double tokens_per_byte_ = first_tokens_per_byte;
    bool warned_[static_cast<std::size_t>(resource::count)] = {};
    bool unpriced_ = false; ///< the warning about max_cost_usd was given
    std::vector<std::string> warnings_;
};

/// Maximum number of output tokens of a model; looked up as in window_of_model.
[[nodiscard]] std::optional<std::int64_t> output_of_model(std::string_view model) noexcept;
/// Tokens in the window of a model, by what its name begins with; nothing for names that are not
/// known.
[[nodiscard]] std::optional<std::int64_t> window_of_model(std::string_view model) noexcept;

/// Bytes of text in a request.
[[nodiscard]] std::size_t text_bytes(const ports::chat_request& request) noexcept;

} // namespace heddle::tasks
