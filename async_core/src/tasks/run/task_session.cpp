#include "tasks/run/task_session.hpp"

#include <heddle/base/number_text.hpp>
#include <heddle/tasks/run/token_estimate.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace heddle::tasks {

namespace {

constexpr double warning_share = 0.8;
constexpr std::size_t bytes_of_a_message = 16;                  ///< what roles and brackets come to
constexpr std::int64_t max_tokens_of_a_request = 1'000'000'000; ///< whatever a service reports
constexpr std::int64_t priced_tokens = 1000;                    ///< prices are asked for so many
constexpr std::array<std::string_view, 5> names{"turns", "context", "output", "tokens", "cost"};

void add_tokens(ports::token_usage& sum, const ports::token_usage& more) noexcept {
    sum.input += more.input;
    sum.output += more.output;
    sum.cached += more.cached;
    sum.cache_written += more.cache_written;
    sum.reasoning += more.reasoning;
}

[[nodiscard]] exhausted_resource reached(std::string_view resource, double used, double limit,
                                         std::string_view unit) {
    return {resource, used, limit,
            "the limit of the task is reached: " + rounded_text(used, 6) + " of " +
                rounded_text(limit, 6) + " " + std::string(unit)};
}

/// What all models that a request may reach can give, as far as that is known.
[[nodiscard]] std::optional<std::int64_t> output_of_models(
    std::string_view model, std::span<const route_model> others) noexcept {
    std::optional<std::int64_t> least = output_of_model(model);
    for (const route_model& each : others) {
        const auto most = output_of_model(each.model);
        if (most) least = std::min(least.value_or(*most), *most);
    }
    return least;
}

} // namespace

std::int64_t estimated_tokens(const ports::chat_request& request) noexcept {
    return static_cast<std::int64_t>(static_cast<double>(text_bytes(request)) *
                                     first_tokens_per_byte);
}

std::size_t text_bytes(const ports::chat_request& request) noexcept {
    std::size_t bytes = 0;
    for (const ports::chat_message& each : request.messages) {
        bytes += each.text.size() + bytes_of_a_message;
        for (const ports::tool_call& call : each.tool_calls) {
            bytes += call.name.size() + call.arguments_json.size();
        }
        for (const ports::reasoning_part& part : each.reasoning) bytes += part.text.size();
    }
    for (const ports::tool_spec& tool : request.tools) {
        bytes += tool.name.size() + tool.description.size() + tool.parameters_json.size();
    }
    return bytes + request.format.schema_json.size();
}

std::string_view task_session::name_of(resource what) noexcept {
    return names[static_cast<std::size_t>(what)];
}

void task_session::begin(const resource_limits& limits, std::int64_t max_questions,
                         std::optional<std::int64_t> window, const model_price& price,
                         task_session* outer) {
    limits_ = limits;
    price_ = price;
    max_turns_ = limits.max_turns.value_or(default_turns + max_questions);
    window_ = window;
    outer_ = outer;
    if (outer) room_ = outer->room_;
    if (limits.max_tokens_total || limits.max_cost_usd)
        room_ = std::make_shared<shared_room>(std::move(room_));
}

std::int64_t task_session::estimate(std::size_t bytes) const noexcept {
    return static_cast<std::int64_t>(static_cast<double>(bytes) * tokens_per_byte_);
}

std::int64_t task_session::estimate(const ports::chat_request& request) const noexcept {
    return estimate(text_bytes(request));
}

std::optional<std::int64_t> task_session::room() const noexcept {
    if (!window_) return std::nullopt;
    return static_cast<std::int64_t>(static_cast<double>(*window_) *
                                     limits_.max_context.value_or(1.0));
}

void task_session::warn(resource what, double used, double limit) {
    bool& warned = warned_[static_cast<std::size_t>(what)];
    if (warned || used < warning_share * limit) return;
    warned = true;
    warnings_.push_back(std::string(name_of(what)) + ": " + rounded_text(used, 6) + " of " +
                        rounded_text(limit, 6) + " used");
}

void task_session::allowance::bound(std::int64_t left, resource what,
                                    const task_session& session) noexcept {
    if (left >= tokens) return;
    tokens = left;
    by = what;
    in = &session;
}

/// Whether the request has to wait for others below this session. It is given no less than it would
/// get alone: a response that is cut short was paid for in vain.
bool task_session::waits_here(const wanted_request& wanted, bool fits) const noexcept {
    return room_->others_first(wanted.by.place_in(*room_)) || (room_->busy() && !fits);
}

/// Limits of the whole chain: of this task and of those that wait for it.
std::optional<exhausted_resource> task_session::check_total(wanted_request& wanted) {
    if (const auto& most = limits_.max_tokens_total) {
        const std::int64_t next = total_ + wanted.input;
        const auto used = static_cast<double>(next);
        const auto limit = static_cast<double>(*most);
        if (next >= *most) return reached(name_of(resource::tokens), used, limit, "tokens");
        warn(resource::tokens, used, limit);
        const std::int64_t rest = *most - next - room_->held().tokens;
        if (waits_here(wanted, rest >= wanted.max_output())) {
            wanted.note_full(room_);
        } else {
            wanted.left.bound(rest, resource::tokens, *this);
            wanted.bound_each((rest - (wanted.at_once - 1) * wanted.input) / wanted.at_once);
            wanted.shares = wanted.shares || this != &wanted.by;
        }
    }
    if (limits_.max_cost_usd) {
        if (auto over = check_cost(*limits_.max_cost_usd, wanted)) return over;
    }
    return outer_ ? outer_->check_total(wanted) : std::nullopt;
}

std::optional<exhausted_resource> task_session::check_cost(double limit, wanted_request& wanted) {
    const model_price& price = wanted.by.price_;
    ports::token_usage asked;
    asked.input = wanted.input;
    const auto input = price.max_of(asked);
    const auto output = price.max_of_output(asked);
    const bool known = input && output;
    if (!known) {
        if (!std::exchange(unpriced_, true)) {
            warnings_.push_back("max_cost_usd: the price of the model '" +
                                std::string(price.model) + "' is not known");
        }
        if (total_cost_ < limit) return std::nullopt;
    }
    const double used = total_cost_ + input.value_or(0);
    const double per_token = output.value_or(0);
    const auto tokens_for = [&](double usd) {
        return per_token > 0 ? std::floor(usd / per_token) : 0;
    };
    if (used > limit || total_cost_ >= limit || (per_token > 0 && tokens_for(limit - used) < 1)) {
        // A model that costs nothing is never too dear.
        if (known && *input == 0 && per_token == 0) return std::nullopt;
        return reached(name_of(resource::cost), used, limit, "USD");
    }
    warn(resource::cost, used, limit);
    if (known && *input == 0 && per_token == 0)
        return std::nullopt; // nothing of it can be held by others
    const double rest = limit - used - room_->held().usd;
    const double most = static_cast<double>(wanted.max_output()) * per_token;
    if (waits_here(wanted, rest >= most)) {
        wanted.note_full(room_);
        return std::nullopt;
    }
    if (wanted.at_once > 1) {
        const auto others = static_cast<double>(wanted.at_once - 1);
        const double outputs = rest - others * input.value_or(0);
        const double each = tokens_for(outputs) / (others + 1);
        if (outputs < 0) wanted.bound_each(-1);
        else if (per_token > 0 && each < static_cast<double>(INT64_MAX / 2))
            wanted.bound_each(static_cast<std::int64_t>(each));
    }
    if (per_token > 0 && tokens_for(rest) < static_cast<double>(INT64_MAX / 2)) {
        wanted.left.bound(static_cast<std::int64_t>(tokens_for(rest)), resource::cost, *this);
        wanted.shares = wanted.shares || this != &wanted.by;
    }
    return std::nullopt;
}

const shared_room::place* task_session::place_in(const shared_room& room) const noexcept {
    for (const auto& each : places_) {
        if (each->is_in(room)) return each.get();
    }
    return nullptr;
}

/// Keeps its turns in the rooms within `full`: requests that gave them up could send each other
/// back and forth between two rooms for ever.
void task_session::wait_in(std::shared_ptr<shared_room> full) {
    while (!places_.empty() && places_.back()->is_around(*full)) places_.pop_back();
    if (!places_.empty() && places_.back()->is_in(*full)) return places_.back()->wait_again();
    places_.push_back(std::make_unique<shared_room::place>(std::move(full)));
}

void task_session::set_aside(std::int64_t input, std::int64_t output, std::int64_t at_once) {
    if (!room_) return;
    ports::token_usage most;
    most.input = input;
    most.output = output;
    set_aside_ = request_share{at_once * (most.input + most.output),
                               static_cast<double>(at_once) * price_.max_of(most).value_or(0)};
    room_->take(*set_aside_);
}

void task_session::release() noexcept {
    if (!set_aside_) return;
    room_->release(*set_aside_);
    set_aside_.reset();
}

std::optional<exhausted_resource> task_session::check(ports::chat_request& request,
                                                      unsigned at_once) {
    release();
    request.scheduling.one_at_a_time = false;
    if (turns_ >= max_turns_) {
        return reached(name_of(resource::turns), static_cast<double>(turns_),
                       static_cast<double>(max_turns_), "turns");
    }
    if (limits_.max_turns) {
        warn(resource::turns, static_cast<double>(turns_ + 1), static_cast<double>(max_turns_));
    }
    asked_bytes_ = text_bytes(request);
    const std::int64_t next = estimate(asked_bytes_);
    if (const auto most = room()) {
        const auto used = static_cast<double>(next);
        const auto limit = static_cast<double>(*most);
        if (used > limit)
            return reached(name_of(resource::context), used, limit, "tokens of context");
        warn(resource::context, used, limit);
    }
    const auto max_of_model = output_of_models(request.model, price_.route_models);
    wanted_request wanted{*this,
                          next,
                          request.max_output_tokens.value_or(max_of_model.value_or(ample_output)),
                          {},
                          std::max<std::int64_t>(at_once, 1)};
    allowance& left = wanted.left;
    if (const auto& most = limits_.max_output) {
        if (usage_.output >= *most) {
            return reached(name_of(resource::output), static_cast<double>(usage_.output),
                           static_cast<double>(*most), "tokens of output");
        }
        left.bound(*most - usage_.output, resource::output, *this);
    }
    if (auto over = check_total(wanted)) {
        places_.clear();
        return over;
    }
    if (wanted.full) {
        wait_in(std::move(wanted.full));
        return std::nullopt;
    }
    // One request gets what it would get without hedges: a response that is cut short is worth less
    // than one that comes late.
    if (wanted.each_of_them < wanted.max_output()) wanted.at_once = 1;
    else if (!request.max_output_tokens) left.tokens = std::min(left.tokens, wanted.each_of_them);
    request.scheduling.one_at_a_time = wanted.at_once < static_cast<std::int64_t>(at_once);
    // Services refuse more than their model can give. Where no limit comes before that, the service
    // applies its own: the request has none. A limit of the output itself was asked for.
    const bool is_free = left.tokens > wanted.output && !request.max_output_tokens &&
                         (max_of_model || left.by != resource::output);
    if (is_free) left = {};
    if (request.max_output_tokens && *request.max_output_tokens < left.tokens) left = {};
    if (left.in) request.max_output_tokens = left.tokens;
    allowed_ = left;
    asked_output_ = request.max_output_tokens.value_or(wanted.output);
    at_once_ = wanted.at_once;
    set_aside(next, asked_output_, at_once_);
    places_.clear(); // whoever is next sees what is set aside
    return std::nullopt;
}

std::optional<exhausted_resource> task_session::check_again(
    const counted_loss& lost, std::optional<std::int64_t>& allowed) const {
    const std::int64_t input = estimate(asked_bytes_);
    ports::token_usage asked;
    asked.input = input;
    const auto input_usd = price_.max_of(asked);
    const double per_token = price_.max_of_output(asked).value_or(0);
    request_share own = set_aside_.value_or(request_share{});
    own.tokens /= at_once_; // what was set aside for hedges, they may use
    own.usd /= static_cast<double>(at_once_);
    std::int64_t rest = asked_output_;
    for (const task_session* each = this; each; each = each->outer_) {
        if (const auto& most = each->limits_.max_tokens_total) {
            const std::int64_t used = each->total_ + lost.tokens + input;
            const std::int64_t left = *most - used - (each->room_->held().tokens - own.tokens);
            if (left < 1) {
                return reached(name_of(resource::tokens), static_cast<double>(used),
                               static_cast<double>(*most), "tokens");
            }
            rest = std::min(rest, left);
        }
        if (const auto& most = each->limits_.max_cost_usd) {
            const double used = each->total_cost_ + lost.usd + input_usd.value_or(0);
            const double left = *most - used - (each->room_->held().usd - own.usd);
            if (left < 0 || (per_token > 0 && left < per_token))
                return reached(name_of(resource::cost), used, *most, "USD");
            if (per_token > 0 && left / per_token < static_cast<double>(rest))
                rest = static_cast<std::int64_t>(left / per_token);
        }
    }
    if (rest < asked_output_) allowed = rest;
    return std::nullopt;
}

std::optional<exhausted_resource> task_session::check_output() const {
    const task_session* in = allowed_.in;
    switch (allowed_.by) {
    case resource::tokens:
        return reached(name_of(allowed_.by), static_cast<double>(in->total_),
                       static_cast<double>(*in->limits_.max_tokens_total), "tokens");
    case resource::cost:
        return reached(name_of(allowed_.by), in->total_cost_, *in->limits_.max_cost_usd, "USD");
    default: break;
    }
    if (!limits_.max_output || usage_.output < *limits_.max_output) return std::nullopt;
    return reached(name_of(resource::output), static_cast<double>(usage_.output),
                   static_cast<double>(*limits_.max_output), "tokens of output");
}

exhausted_resource task_session::time_over(coro::clock::duration used,
                                           coro::clock::duration limit) {
    const std::chrono::duration<double> spent = used;
    const std::chrono::duration<double> most = limit;
    return {"time", spent.count(), most.count(), "the time limit of the task has passed"};
}

counted_use task_session::use_of(const ports::chat_response& response) const noexcept {
    if (response.attempts == 0) return {}; // out of a cache
    return use_of(response.usage, ports::bytes_of(response));
}

counted_use task_session::use_of(const std::optional<ports::token_usage>& reported,
                                 std::size_t received) const noexcept {
    counted_use use;
    if (reported && reported->of_cache) return use; // what was lost before it is counted separately
    if (reported) use.usage = *reported;
    else use.usage.input_reported = use.usage.output_reported = false;
    // There is no request without input, and no text that took no tokens.
    const auto take = [&use](std::int64_t& figure, bool is_reported, std::int64_t estimated) {
        const bool possible =
            (figure > 0 || (figure == 0 && estimated == 0)) && figure <= max_tokens_of_a_request;
        if (!possible) figure = 0;
        if (is_reported && possible) return;
        figure = std::max(figure, estimated);
        use.estimated = true;
    };
    take(use.usage.input, use.usage.input_reported, estimate(asked_bytes_));
    take(use.usage.output, use.usage.output_reported,
         received == 0 ? 0 : std::max<std::int64_t>(1, estimate(received)));
    for (std::int64_t* each : {&use.usage.cached, &use.usage.cache_written, &use.usage.reasoning}) {
        *each = std::clamp<std::int64_t>(*each, 0, max_tokens_of_a_request);
    }
    // Parts of the input. More than all of it cannot be right, and would make it cheaper.
    if (use.usage.cached + use.usage.cache_written > use.usage.input)
        use.usage.cached = use.usage.cache_written = 0;
    return use;
}

void task_session::add_requests(std::uint32_t requests) noexcept {
    requests_ += requests;
    if (!paid_earlier_) paid_now_.requests += requests;
}

void task_session::add(const counted_use& use, std::optional<double> cost) {
    used_ = true;
    estimated_ = estimated_ || use.estimated;
    add_tokens(usage_, use.usage);
    if (cost) cost_ += *cost;
    else cost_known_ = false;
    if (!paid_earlier_) {
        add_tokens(paid_now_.usage, use.usage);
        if (cost) paid_now_.usd += *cost;
        else paid_now_.is_known = false;
    }
    for (task_session* each = this; each; each = each->outer_) {
        each->total_ += use.usage.input + use.usage.output;
        if (cost) each->total_cost_ += *cost;
        const resource_limits& limits = each->limits_;
        if (const auto& most = limits.max_tokens_total) {
            if (each->total_ > *most) {
                each->warnings_.push_back(
                    "more tokens than max_tokens_total allows: " + std::to_string(each->total_) +
                    " of " + std::to_string(*most));
            } else {
                each->warn(resource::tokens, static_cast<double>(each->total_),
                           static_cast<double>(*most));
            }
        }
        if (const auto& most = limits.max_cost_usd) {
            if (each->total_cost_ > *most) {
                each->warnings_.push_back(
                    "more than max_cost_usd allows: " + rounded_text(each->total_cost_, 6) +
                    " of " + rounded_text(*most, 6) + " USD");
            } else {
                each->warn(resource::cost, each->total_cost_, *most);
            }
        }
    }
}

void task_session::count(const ports::chat_response& response, const counted_use& use,
                         std::optional<double> cost) {
    release();
    add_requests(response.attempts);
    ++turns_;
    if (!use.estimated && use.usage.input > 0 && asked_bytes_ != 0) {
        // Kept within what strings can be, whatever a service reports.
        tokens_per_byte_ = std::clamp(
            static_cast<double>(use.usage.input) / static_cast<double>(asked_bytes_), 0.05, 1.0);
    }
    add(use, cost);
    if (limits_.max_output) {
        warn(resource::output, static_cast<double>(usage_.output),
             static_cast<double>(*limits_.max_output));
    }
}

void task_session::count_failed(std::uint32_t attempts, const counted_use* use,
                                std::optional<double> cost) {
    release();
    add_requests(attempts);
    if (use) add(*use, cost);
}

std::optional<double> model_price::of(const ports::token_usage& usage) const {
    return prices ? prices->cost_usd(provider, model, usage) : std::nullopt;
}

std::optional<double> model_price::max_of_output(const ports::token_usage& input) const {
    ports::token_usage both = input;
    both.output += priced_tokens;
    const auto of_a_token = [&](std::string_view by, std::string_view of) -> std::optional<double> {
        const auto without = prices->cost_usd(by, of, input);
        const auto with = prices->cost_usd(by, of, both);
        if (!without || !with) return std::nullopt;
        return (*with - *without) / static_cast<double>(priced_tokens);
    };
    if (!prices) return std::nullopt;
    std::optional<double> most = of_a_token(provider, model);
    if (!most) return most;
    for (const route_model& each : route_models)
        most = std::max(*most, of_a_token(each.provider, each.model).value_or(0));
    return most;
}

std::optional<double> model_price::max_of(const ports::token_usage& usage) const {
    std::optional<double> most = of(usage);
    if (!most) return most;
    for (const route_model& each : route_models) {
        const auto cost = prices->cost_usd(each.provider, each.model, usage);
        if (cost) most = std::max(*most, *cost);
    }
    return most;
}

} // namespace heddle::tasks
