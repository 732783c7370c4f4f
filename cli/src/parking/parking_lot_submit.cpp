// The part of parking_lot that submits what is collected.
#include "parking/parking_lot.hpp"
#include "parking/parking_names.hpp"

#include <algorithm>
#include <utility>

namespace heddle::cli {

using store::batch_phase;
using store::parked_batch;
using store::parked_call;

namespace {

constexpr std::size_t upload_overhead = 4096; ///< bytes around the calls

} // namespace

std::size_t parking_lot::call_bound(const store::call_group& group,
                                    const providers::batch_endpoint& service) const {
    std::uint64_t most = service.limits().max_calls;
    for (const parked_batch& each : batches_) {
        if (each.was_too_large && each.service == group.service && each.model == group.model)
            most = std::min(most, std::max<std::uint64_t>(1, each.calls / 2));
    }
    return static_cast<std::size_t>(most);
}

/// An account that holds no more waits until one of its batches has ended.
bool parking_lot::holds_back(const store::call_group& group) const {
    bool was_too_large = false;
    bool is_waiting = false;
    for (const parked_batch& each : batches_) {
        if (each.service != group.service || each.model != group.model) continue;
        was_too_large = was_too_large || each.was_too_large;
        is_waiting = is_waiting || each.phase != batch_phase::settled;
    }
    return was_too_large && is_waiting;
}

coro::task<result<std::vector<std::string>>> parking_lot::submit(bool all,
                                                                 coro::call_context context) {
    std::vector<std::string> problems;
    full_ = false;
    result<void> kept = co_await of_.journal.flush(context);
    if (!kept) co_return std::move(kept).error();
    result<std::vector<store::call_group>> groups = co_await of_.kept.groups(context);
    if (!groups) co_return std::move(groups).error();
    for (const store::call_group& each : *groups) {
        groups_.erase(each.service + '\n' + each.model);
        bool more = true;
        while (more) {
            if (auto stop = context.stop_error()) co_return *std::move(stop);
            result<bool> went = co_await submit_one(each, all, problems, context);
            if (!went) co_return std::move(went).error();
            more = *went;
        }
    }
    co_return problems;
}

/// Whether there may be more of the group to submit.
coro::task<result<bool>> parking_lot::submit_one(const store::call_group& group, bool all,
                                                 std::vector<std::string>& problems,
                                                 coro::call_context context) {
    providers::batch_endpoint* to = service(group.service);
    if (!to) {
        problems.push_back("the service '" + group.service +
                           "', which requests wait for, is not configured or takes no batches");
        co_return false;
    }
    if (holds_back(group)) co_return false;
    const std::size_t max_calls = call_bound(group, *to);
    const std::size_t max_bytes =
        std::min(to->limits().max_bytes, max_batch_bytes) - upload_overhead;
    const std::size_t overhead = to->size_of({std::string(max_call_id, 'x'), {}});
    result<std::vector<parked_call>> calls =
        co_await of_.kept.calls_of_group(group, max_calls, max_bytes, overhead, context);
    if (!calls) co_return std::move(calls).error();
    std::size_t bytes = 0;
    for (const parked_call& each : *calls) bytes += each.body.size() + overhead;
    const bool is_full = calls->size() >= max_calls || bytes >= max_bytes / 8 * 7;
    if (calls->empty() || (!all && !is_full)) co_return false;

    parked_batch batch;
    for (const parked_batch& each : batches_) batch.number = std::max(batch.number, each.number);
    ++batch.number;
    batch.service = group.service;
    batch.model = group.model;
    batch.mark = new_batch_mark();
    batch.at = seconds_now(context);
    batch.calls = calls->size();
    batch.state = "being submitted";
    providers::batch_submission what{group.model, batch.mark, {}};
    store::batch_intended intended{batch, {}};
    for (const parked_call& each : *calls) { // it is not forgotten with its row
        const auto row = since_counted_.find(each.row);
        if (row == since_counted_.end()) continue;
        std::erase_if(row->second, [&](const collected_call& one) {
            return one.path == each.path && one.content == each.content;
        });
    }
    for (parked_call& each : *calls) {
        intended.calls.push_back(each.number);
        what.calls.push_back({parked_call_id(each), std::move(each.body)});
    }
    calls->clear();
    if (auto noted = of_.journal.change_parking(std::move(intended)); !noted)
        co_return std::move(noted).error();
    batches_.push_back(batch);
    result<void> durable = co_await of_.journal.flush(context);
    if (!durable) co_return std::move(durable).error();

    providers::batch_receipt receipt = co_await to->submit(std::move(what), context);
    result<void> noted;
    if (receipt.status) {
        batch.phase = batch_phase::submitted;
        batch.id = receipt.status->id;
        batch.state = "running";
        noted = note(batch);
    } else if (receipt.may_exist) {
        problems.push_back(batch_title(batch) + ": " + receipt.status.error().message() +
                           "; whether the service has it is found out later");
        batch.state = "not acknowledged";
        noted = note(batch);
    } else {
        const error& why = receipt.status.error();
        if (!why.is_cancelled())
            problems.push_back("a batch of " + group.service + ": " + why.message());
        noted = give_back(batch, "not submitted", not_performed);
    }
    if (!noted) co_return std::move(noted).error();
    durable = co_await of_.journal.flush(context);
    if (!durable) co_return std::move(durable).error();
    co_return receipt.status.has_value();
}

} // namespace heddle::cli
