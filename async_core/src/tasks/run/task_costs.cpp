#include "tasks/run/task_costs.hpp"

#include <heddle/tasks/output/task_failure_reason.hpp>
#include <heddle/tasks/run/task_system_parts.hpp>

#include <algorithm>
#include <utility>

namespace heddle::tasks {

namespace {

/// Output tokens that a budget sets aside while it has not seen what such calls cost.
constexpr std::int64_t first_output = 4096;

coro::task<result<std::optional<spent_budget>>> refused(error failure) {
    co_return std::move(failure);
}

[[nodiscard]] bool has_dollar_limit(const lang::host_ref<lang::counted_extent>& innermost) {
    for (const auto* each = innermost.get(); each; each = each->outer().get()) {
        if (each->usd()) return true;
    }
    return false;
}

} // namespace

std::shared_ptr<cost_history> make_cost_history() { return std::make_shared<cost_history>(); }

void task_costs::begin() {
    spends_ = from_.session || *from_.innermost;
    has_dollars_ =
        (from_.session && from_.session->bounds().usd) || has_dollar_limit(*from_.innermost);
    estimates_ = has_dollars_ || from_.shared;
}

// ---------------------------------------------------------------- before a request

/// Before anything is known of such calls: the input, and room for the output.
result<cost_estimate> task_costs::first_estimate() const {
    const model_price& price = session_.price();
    ports::token_usage least;
    least.input = session_.estimate(request_);
    ports::token_usage most = least;
    most.output = std::min(request_.max_output_tokens.value_or(first_output), first_output);
    const auto input = price.max_of(least);
    const auto both = price.max_of(most);
    if (!input || !both) {
        return task_failed(task_failure_reason::configuration_error,
                           "a budget in dollars cannot be held: the price of the model '" +
                               std::string(price.model) + "' is not known")
            .with_hint(
                "give its price in the price file (prices in heddle.toml), or bound the "
                "calls with max-calls");
    }
    const bool bounded = request_.max_output_tokens && *request_.max_output_tokens <= first_output;
    return cost_estimate{*input, *both, !bounded};
}

result<expected_cost> task_costs::expected() {
    if (!estimates_) return expected_cost{};
    auto first = first_estimate();
    if (!first && has_dollars_) return std::move(first).error();
    if (kind_.empty()) {
        kind_ = task_;
        kind_ += '\n';
        kind_ += session_.price().provider;
        kind_ += '\n';
        kind_ += session_.price().model;
    }
    // A budget of a form knows the calls of its session alone: no other one changes what it allows.
    return expected_cost{has_dollars_ ? from_.history : from_.shared, kind_,
                         first ? *first : cost_estimate()};
}

coro::task<result<std::optional<spent_budget>>> task_costs::reserve(coro::call_context context) {
    auto wanted = expected();
    if (!wanted) return refused(std::move(wanted).error());
    return share_.reserve(*from_.innermost, from_.session, *wanted, context, from_.observer);
}

bool task_costs::would_wait() {
    const auto wanted = expected();
    if (!wanted) return false; // reserving reports why
    return spending_share::would_wait(*from_.innermost, from_.session, *wanted);
}

bool task_costs::reserve_beside(unsigned at_once) {
    if (!has_dollars_ || !share_.held()) return true;
    for (unsigned beside = 1; beside < at_once; ++beside) {
        if (beside_.emplace_front().take_beside(share_)) continue;
        beside_.clear();
        return false;
    }
    return true;
}

void task_costs::settle(double spent, bool sent) {
    share_.settle(spent, sent);
    for (spending_share& each : beside_) each.settle(0, false); // what they cost is in `spent`
    beside_.clear();
}

counted_loss task_costs::loss_of(const std::vector<ports::lost_request>& lost) const {
    counted_loss sum;
    for (const paid_request& each : paid_for(lost)) {
        sum.tokens += each.use.usage.input + each.use.usage.output;
        sum.usd += each.cost.value_or(input_cost());
    }
    return sum;
}

std::optional<spent_budget> task_costs::over_budget(
    const std::vector<ports::lost_request>& lost) const {
    return share_.passed_by(loss_of(lost).usd);
}

std::optional<spent_budget> task_costs::allow_again(const std::vector<ports::lost_request>& lost,
                                                    ports::send_terms& terms) const {
    auto over = session_.check_again(loss_of(lost), terms.max_output_tokens);
    if (!over) return std::nullopt;
    return spent_budget{over->resource, over->used, over->limit, std::move(over->message)};
}

/// Without what a budget expects of such a call: the output is added when the response is lost.
ports::cost_if_lost task_costs::if_lost() const {
    ports::token_usage sent;
    sent.input = session_.estimate(request_);
    const auto input = session_.price().of(sent);
    ports::cost_if_lost cost;
    cost.least.requests = 1;
    cost.least.input_tokens = sent.input;
    cost.least.estimated = true;
    if (input) cost.least.cost_usd = *input;
    else cost.least.unpriced = 1;
    cost.is_bounded = request_.max_output_tokens.has_value();
    cost.output_tokens = request_.max_output_tokens.value_or(first_output);
    ports::token_usage with_output = sent;
    with_output.output = cost.output_tokens;
    const auto both = session_.price().of(with_output);
    if (input && both && cost.output_tokens > 0)
        cost.usd_per_token = (*both - *input) / static_cast<double>(cost.output_tokens);
    return cost;
}

// ---------------------------------------------------------------- what was paid

/// Where a route chose, it is the one who responded that is paid, for the model that it was asked
/// for.
model_price task_costs::price_of(std::string_view provider, std::string_view asked_model,
                                 std::string_view model) const {
    const model_price& price = session_.price();
    if (provider.empty()) return price;
    if (asked_model.empty()) asked_model = model.empty() ? price.model : model;
    return {price.prices, provider, asked_model};
}

/// The request that has a response.
paid_request task_costs::paid_for(const ports::chat_response& response,
                                  std::uint32_t attempts) const {
    if (attempts == 0) return {{}, 0.0}; // out of a cache
    paid_request request{session_.use_of(response), {}};
    request.cost =
        price_of(response.provider, response.asked_model, response.model).of(request.use.usage);
    return request;
}

/// A request whose response was cut off: unless the service has reported what it cost, what arrived
/// is less than that, so it counts as a guess until one of its kind has ended.
paid_request task_costs::paid_for_part(const ports::chat_response& part,
                                       std::uint32_t attempts) const {
    paid_request request = paid_for(part, attempts);
    const bool known = attempts == 0 || !request.use.estimated;
    return known ? request : at_least_guessed(request, part);
}

paid_request task_costs::at_least_guessed(paid_request request,
                                          const ports::chat_response& asked) const {
    if (estimates_ && request.cost && share_.guessed())
        request.cost = std::max(*request.cost, unreported_cost(asked));
    return request;
}

std::vector<paid_request> task_costs::paid_for(const std::vector<ports::lost_request>& lost) const {
    std::vector<paid_request> requests;
    requests.reserve(lost.size());
    for (const ports::lost_request& each : lost) {
        paid_request& one = requests.emplace_back();
        one.use = session_.use_of(each.usage, each.received);
        one.cost = price_of(each.provider, each.asked_model, each.model).of(one.use.usage);
    }
    return requests;
}

ports::step_spending task_costs::spending_of(const ports::chat_response& response) const {
    ports::step_spending spent;
    if (response.attempts == 0) return spent; // out of a cache
    std::vector<paid_request> all = paid_for(response.lost);
    all.push_back(paid_for(response, response.attempts));
    for (const paid_request& each : all) {
        spent.input_tokens += each.use.usage.input;
        spent.output_tokens += each.use.usage.output;
        spent.estimated = spent.estimated || each.use.estimated;
        if (each.cost) spent.cost_usd += *each.cost;
        else ++spent.unpriced;
    }
    spent.requests = response.attempts;
    return spent;
}

/// What a request counts where costs are estimated and its own stays unknown. `asked`: what a route
/// recorded of whom it asked. Until a call of its kind has ended, it is the estimate at the price
/// of that one, whatever the dearest model of the route costs.
double task_costs::unreported_cost(const ports::chat_response& asked) const {
    if (asked.provider.empty() || !share_.guessed()) return share_.expected();
    ports::token_usage most;
    most.input = session_.estimate(request_);
    most.output = std::min(request_.max_output_tokens.value_or(first_output), first_output);
    return price_of(asked.provider, asked.asked_model, asked.model)
        .of(most)
        .value_or(share_.expected());
}

/// A request without a response: what was sent, and where costs are estimated, what such a call
/// costs.
paid_request task_costs::min_paid(const ports::chat_response& asked) const {
    paid_request request;
    request.use.estimated = true;
    request.use.usage.input = session_.estimate(request_);
    request.cost = price_of(asked.provider, asked.asked_model, asked.model).of(request.use.usage);
    if (estimates_ && request.cost) request.cost = std::max(*request.cost, unreported_cost(asked));
    return request;
}

/// The last request of a call that failed before anything had arrived that could be read.
paid_request task_costs::min_paid(const error& failure) const {
    const auto* asked = dynamic_cast<const ports::partial_response*>(failure.info().payload.get());
    if (!asked) return min_paid(ports::begun_response());
    if (asked->unread == 0) return min_paid(asked->so_far);
    const ports::chat_response& part = asked->so_far;
    paid_request request;
    request.use = session_.use_of(part.usage, asked->unread);
    request.cost = price_of(part.provider, part.asked_model, part.model).of(request.use.usage);
    return at_least_guessed(request, part);
}

double task_costs::input_cost() const {
    if (!has_dollars_) return 0;
    ports::token_usage input;
    input.input = session_.estimate(request_);
    return session_.price().of(input).value_or(0);
}

double task_costs::lost_cost(const std::vector<ports::lost_request>& lost) const {
    double sum = 0;
    for (const paid_request& each : paid_for(lost)) sum += each.cost.value_or(input_cost());
    return sum;
}

// ---------------------------------------------------------------- in the notes

void task_costs::count(const ports::chat_response& response, bool paid_earlier) {
    if (paid_earlier && spends_ && !share_.held())
        note_paid(paid_for(response, response.attempts).cost.value_or(share_.expected()) +
                      lost_cost(response.lost),
                  response.attempts);
    settle(response, response.attempts);
    if (paid_earlier) share_.note_paid_earlier();
    session_.set_paid_earlier(paid_earlier);
    count(response, paid_for(response, response.attempts));
    session_.set_paid_earlier(false);
}

void task_costs::count(const ports::chat_response& response, const paid_request& paid) {
    const std::vector<paid_request> lost = paid_for(response.lost);
    session_.count(response, paid.use, paid.cost);
    count_lost(lost);
}

/// In the budgets of forms around the call. One of the whole run has counted it.
void task_costs::note_paid(double spent, std::uint32_t attempts) {
    if (attempts != 0) spending_share::note_paid(*from_.innermost, nullptr, spent, 1);
}

void task_costs::count(const error& failure, bool paid_earlier) {
    if (paid_earlier && spends_ && !share_.held()) {
        const std::uint32_t attempts = ports::attempts_of(failure);
        const double last = ports::is_unpaid(failure) ? 0 : min_paid(failure).cost.value_or(0);
        note_paid(last + lost_cost(ports::lost_with(failure)), attempts);
    }
    session_.set_paid_earlier(paid_earlier);
    count(failure);
    if (paid_earlier) share_.note_paid_earlier();
    session_.set_paid_earlier(false);
}

void task_costs::count(const error& failure) {
    const std::uint32_t attempts = ports::attempts_of(failure);
    if (const ports::chat_response* so_far = ports::part_of(failure)) {
        ports::chat_response part = *so_far;
        part.attempts = attempts;
        settle(failure);
        count(part, paid_for_part(part, attempts));
        return;
    }
    settle(failure);
    const std::vector<paid_request> lost = paid_for(ports::lost_with(failure));
    const paid_request last = ports::is_unpaid(failure)
                                  ? paid_request{{}, 0.0}
                                  : min_paid(failure); // no cost is a known one
    session_.count_failed(attempts, attempts == 0 ? nullptr : &last.use, last.cost);
    count_lost(lost);
}

void task_costs::count_lost(const std::vector<paid_request>& lost) {
    for (const paid_request& each : lost) session_.count_failed(0, &each.use, each.cost);
}

// ---------------------------------------------------------------- in the budgets

void task_costs::request_ended(const result<ports::chat_response>& ended) {
    if (ended) settle(*ended, ended->attempts);
    else settle(ended.error());
}

/// As counted in the notes. Where the price of who responded is not known, a budget counts what was
/// expected.
void task_costs::settle(const ports::chat_response& response, std::uint32_t attempts) {
    if (!share_.held()) return;
    const std::optional<double> cost = paid_for(response, attempts).cost;
    const double spent = cost.value_or(share_.expected());
    // The response of a hedge may be out of a cache, though another request was sent.
    const bool of_cache = attempts == 0 || (response.usage && response.usage->of_cache);
    if (!of_cache) learn(spent, cost.has_value());
    settle(spent + lost_cost(response.lost), attempts != 0);
}

/// A call has ended with a whole response.
void task_costs::learn(double spent, bool is_known) {
    if (has_dollars_) from_.history->add(kind_, spent);
    if (from_.shared && is_known) from_.shared->add(kind_, spent);
}

void task_costs::settle(const error& failure) {
    if (!share_.held()) return;
    const std::uint32_t attempts = ports::attempts_of(failure);
    if (const ports::chat_response* part = ports::part_of(failure)) {
        // No evidence of what a whole one costs: the history does not learn from it.
        const double least = paid_for_part(*part, attempts).cost.value_or(share_.expected());
        return settle(least + lost_cost(part->lost), attempts != 0);
    }
    const double spent =
        ports::is_unpaid(failure) ? 0 : min_paid(failure).cost.value_or(share_.expected());
    settle(spent + lost_cost(ports::lost_with(failure)), attempts != 0);
}

} // namespace heddle::tasks
