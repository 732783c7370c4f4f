#include "call_counts.hpp"

#include "cost_report.hpp"

#include <heddle/setup/display_text.hpp>

#include <vector>

namespace heddle::cli {

std::string response_sources::text() const {
    std::vector<std::string> names;
    if (batches) names.emplace_back("batches");
    if (journal) names.emplace_back("the journal");
    if (cache) names.emplace_back("the cache");
    if (names.empty()) return "without a request";
    std::string text = "from " + names.front();
    for (std::size_t i = 1; i < names.size(); ++i)
        text += (i + 1 == names.size() ? " or " : ", ") + names[i];
    return text;
}

void call_counts::on_task_started(const tasks::task_started&) noexcept { ++running; }

void call_counts::on_task_finished(const tasks::task_finished& event) noexcept {
    --running;
    switch (event.outcome) {
    case tasks::task_outcome::complete: ++(event.of_cache ? kept : done); break;
    case tasks::task_outcome::failed: ++failed; break;
    case tasks::task_outcome::cancelled: ++cancelled; break;
    }
    requests += event.requests;
    input_tokens += event.usage.input;
    output_tokens += event.usage.output;
    if (event.estimated) ++estimated;
    if (event.earlier_turns != 0) ++with_turns;
    earlier_turns += event.earlier_turns;
    if (event.cost_usd) cost_usd += *event.cost_usd;
    else if (event.usage.input != 0 || event.usage.output != 0) ++unpriced;
}

void call_counts::on_budget_wait(bool waits) noexcept {
    if (waits) ++waiting;
    else --waiting;
}

void call_counts::on_limit_wait(bool waits) noexcept {
    if (waits) ++limited;
    else --limited;
}

std::string call_counts::cost_text() const {
    std::string text = cli::cost_text(cost_usd, unpriced);
    if (replayed && cost_usd > 0) text += " when they were recorded, nothing now";
    return text;
}

call_counts call_counts::since(const call_counts& before) const noexcept {
    call_counts part = *this;
    part.done -= before.done;
    part.kept -= before.kept;
    part.failed -= before.failed;
    part.cancelled -= before.cancelled;
    part.requests -= before.requests;
    part.input_tokens -= before.input_tokens;
    part.output_tokens -= before.output_tokens;
    part.cost_usd -= before.cost_usd;
    part.unpriced -= before.unpriced;
    part.estimated -= before.estimated;
    part.with_turns -= before.with_turns;
    part.earlier_turns -= before.earlier_turns;
    return part;
}

std::string call_counts::summary() const {
    std::string text = replayed ? setup::counted(done, "response") + " of the recording"
                                : setup::counted(done, "call") + " done";
    const auto add = [&](std::uint64_t count, std::string_view word) {
        if (count == 0) return;
        text += ", " + setup::grouped(count) + " ";
        text += word;
    };
    add(kept, sources.text());
    add(running - waiting - limited, "running");
    add(waiting, "waiting for the budget");
    add(limited, "waiting for a limit");
    add(failed, "failed");
    add(cancelled, "cancelled");
    if (input_tokens != 0 || output_tokens != 0) {
        text += ", " + setup::grouped(input_tokens) +
                (input_tokens == 1 ? " token in, " : " tokens in, ") +
                setup::grouped(output_tokens) + " out";
    }
    if (const std::string cost = cost_text(); !cost.empty()) text += ", " + cost;
    if (estimated != 0) {
        text += " (the usage of " + setup::counted(estimated, "call") + " is estimated)";
    }
    if (earlier_turns != 0) {
        text += ", " + setup::counted(with_turns, "call") + " carried " +
                setup::counted(earlier_turns, "earlier turn");
    }
    return text;
}

} // namespace heddle::cli
