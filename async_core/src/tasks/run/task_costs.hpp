// What the requests of one execution cost, in its notes and in the budgets around it.
#pragma once

#include "tasks/call/spending.hpp"
#include "tasks/run/task_session.hpp"

#include <heddle/ports/run_journal.hpp>
#include <heddle/ports/send_gate.hpp>

#include <cstdint>
#include <forward_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// What a call is paid from. All of it outlives the call.
struct payment {
    const lang::host_ref<lang::counted_extent>* innermost = nullptr; ///< of the forms around it
    spending_ledger* session = nullptr;                              ///< null: no budget
    cost_history* history = nullptr;                                 ///< of the session
    cost_history* shared = nullptr;    ///< of all sessions; null: only budgets estimate
    task_observer* observer = nullptr; ///< null: nobody listens
};

/// A request, and what it has cost as far as that is known.
struct paid_request {
    counted_use use;
    std::optional<double> cost; ///< in US dollars
};

/// Counts the requests of an execution in its session, and holds their part of the budgets.
class task_costs {
public:
    /// `request` is the next one, or the one that is under way. What is referred to outlives it.
    task_costs(const std::string& task, const payment& from, task_session& session,
               const ports::chat_request& request)
        : task_(task), from_(from), session_(session), request_(request) {}

    /// The task asks a model, and `session` knows its price.
    void begin();
    /// Whether a budget bounds what calls cost, or how many there are, or their cost is estimated.
    [[nodiscard]] bool must_reserve() const noexcept { return spends_ || estimates_; }
    /// Waits for the budgets. A value: one is used up. Errors: cancelled, configuration_error.
    [[nodiscard]] coro::task<result<std::optional<spent_budget>>> reserve(
        coro::call_context context);
    /// Whether reserve() would wait now.
    [[nodiscard]] bool would_wait();
    /// The request has ended, although its receiver may still be at work: budgets get back what it
    /// held.
    void request_ended(const result<ports::chat_response>& ended);

    /// Whether a budget, or a limit of the task or of one above it, bounds what a call may use.
    [[nodiscard]] bool is_bounded() const noexcept { return spends_ || session_.shares_room(); }
    /// To be called before a further request of the call in progress. `lost`: earlier requests that
    /// may be charged for. A value: a limit of a task, which would be exceeded; else `terms` are
    /// those of the request.
    [[nodiscard]] std::optional<spent_budget> allow_again(
        const std::vector<ports::lost_request>& lost, ports::send_terms& terms) const;
    /// The same for the budgets.
    [[nodiscard]] std::optional<spent_budget> over_budget(
        const std::vector<ports::lost_request>& lost) const;
    /// To be called before the first request of the call in progress. A value: a budget allowed the
    /// call a kept response, and there is none.
    [[nodiscard]] std::optional<spent_budget> refuses_request() { return share_.refuses_request(); }
    /// Reserves the cost of hedges of the call, without waiting. `at_once`: maximum number of
    /// requests in flight. False: the budgets do not allow them, and no hedge must be sent.
    [[nodiscard]] bool reserve_beside(unsigned at_once);
    /// The cost of the request if its response is lost.
    [[nodiscard]] ports::cost_if_lost if_lost() const;
    /// The cost of a response, including failed requests of the call.
    [[nodiscard]] ports::step_spending spending_of(const ports::chat_response& response) const;

    /// `paid_earlier`: by an earlier execution of a durable run, whose totals have it. Limits and
    /// budgets of the execution count it as it was then; a budget of the whole run
    /// (spending_ledger::follow_journal) has counted it.
    void count(const ports::chat_response& response, bool paid_earlier = false);
    /// The same of a call without a response: what was sent counts, its input at least.
    void count(const error& failure, bool paid_earlier);

private:
    void note_paid(double spent, std::uint32_t attempts);
    void count(const error& failure);
    void count(const ports::chat_response& response, const paid_request& paid);
    void count_lost(const std::vector<paid_request>& lost);
    void settle(const ports::chat_response& response, std::uint32_t attempts);
    void settle(const error& failure);
    void settle(double spent, bool sent);

    [[nodiscard]] paid_request paid_for(const ports::chat_response& response,
                                        std::uint32_t attempts) const;
    [[nodiscard]] paid_request paid_for_part(const ports::chat_response& part,
                                             std::uint32_t attempts) const;
    /// `request`, whose response was cut off, counts no less than the estimate until a call of its
    /// kind has ended. `asked`: as of unreported_cost().
    [[nodiscard]] paid_request at_least_guessed(paid_request request,
                                                const ports::chat_response& asked) const;
    [[nodiscard]] std::vector<paid_request> paid_for(
        const std::vector<ports::lost_request>& lost) const;
    [[nodiscard]] double unreported_cost(const ports::chat_response& asked) const;
    [[nodiscard]] paid_request min_paid(const ports::chat_response& asked) const;
    [[nodiscard]] paid_request min_paid(const error& failure) const;
    [[nodiscard]] counted_loss loss_of(const std::vector<ports::lost_request>& lost) const;
    [[nodiscard]] double lost_cost(const std::vector<ports::lost_request>& lost) const;
    [[nodiscard]] double input_cost() const;
    [[nodiscard]] model_price price_of(std::string_view provider, std::string_view asked_model,
                                       std::string_view model) const;

    [[nodiscard]] result<cost_estimate> first_estimate() const;
    void learn(double spent, bool is_known);
    /// What the next request may cost. Errors: configuration_error.
    [[nodiscard]] result<expected_cost> expected();

    const std::string& task_;
    payment from_;
    task_session& session_;
    const ports::chat_request& request_;
    bool spends_ = false;
    bool has_dollars_ = false;
    bool estimates_ = false;                   ///< what a call costs that reports no cost
    std::string kind_;                         ///< in the cost history; empty: not asked for
    spending_share share_;                     ///< refers to kind_
    std::forward_list<spending_share> beside_; ///< of hedges
};

} // namespace heddle::tasks
