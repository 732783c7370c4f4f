// The parts of steps of a durable row: responses, results of tools, contexts, failures.
#include "durable_row.hpp"
#include "record_kinds.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace heddle::host {

namespace {

/// The next tick of the loop's timers: what is posted now runs before.
constexpr auto time_to_settle = std::chrono::milliseconds(1);
/// Rounds of the loop after that, for what wakes something else: on a loaded loop a tick may be one
/// round.
constexpr int rounds_to_settle = 8;

} // namespace

/// In the list of what is being kept, with its scope.
class durable_row::kept_part_now {
public:
    kept_part_now(durable_row& row, const coro::call_context& context)
        : row_(row), place_(row.kept_now_.insert(row.kept_now_.end(), &context)) {}
    kept_part_now(const kept_part_now&) = delete;
    kept_part_now& operator=(const kept_part_now&) = delete;
    ~kept_part_now() { row_.kept_now_.erase(place_); }

private:
    durable_row& row_;
    std::list<const coro::call_context*>::iterator place_;
};

using ports::digest128;
using ports::step_kind;
using ports::step_record;

/// Parts of a step that has ended are not taken, unless it is performed again for the functions
/// inside of it. Where functions ran, or parts side by side, they take effect in the order of the
/// records.
void durable_row::take_parts() {
    std::set<digest128> ended;
    std::set<digest128> composed;
    for (const step_record& each : earlier_) {
        if (each.kind == step_kind::answer) ended.insert(each.path);
        if (each.kind == step_kind::composed) composed.insert(each.path);
    }
    std::vector<step_record> left;
    for (step_record& each : earlier_) {
        if (!is_part(each.kind)) {
            left.push_back(std::move(each));
            continue;
        }
        if (ended.contains(each.path)) continue;
        const bool is_reused = each.kind == step_kind::reused; // it has cost this program nothing
        const bool is_response = is_reused || each.kind == step_kind::request;
        recorded_part part;
        part.kept.is_counted =
            !is_response || each.is_counted || is_reused || each.spent.requests != 0;
        part.kept.is_failure = each.kind == step_kind::unanswered;
        part.kept.body = std::move(each.body);
        part.of = each.part;
        const bool runs_functions = functions_.any(each.path) || composed.contains(each.path);
        const bool is_ordered = !each.takes_no_turn && !each.content.is_zero() &&
                                (runs_functions || !each.part.is_zero());
        if (is_ordered) part.at = left.size();
        parts_[each.path].emplace(each.content, std::move(part));
        if (is_ordered) left.push_back(std::move(each));
    }
    earlier_ = std::move(left);
    number_by_path();
}

coro::task<std::optional<ports::kept_part>> durable_row::take_part(asked_part asked,
                                                                   coro::call_context context) {
    const auto kept = parts_.find(asked.step);
    if (kept == parts_.end()) co_return spare_for(asked);
    const auto [first, last] = kept->second.equal_range(asked.content);
    auto found =
        std::find_if(first, last, [&](const auto& each) { return each.second.of == asked.part; });
    // Journals up to layout 4 and what is kept from outside name no part.
    if (found == last)
        found =
            std::find_if(first, last, [](const auto& each) { return each.second.of.is_zero(); });
    if (found == last) co_return spare_for(asked);
    recorded_part taken = std::move(found->second);
    kept->second.erase(found);
    if (taken.at != recorded_part::no_place && taken.at >= next_ && !closed_) {
        part_turn self(*this, taken.at);
        go_on();
        (void)co_await self.granted.wait(context);
    }
    co_return std::move(taken.kept);
}

std::optional<ports::kept_part> durable_row::spare_for(const asked_part& asked) {
    if (asked.is_of_ended_step) return std::nullopt;
    return take_spare(asked.step, asked.content);
}

/// The step's own if it asked that under the earlier version of the program, too.
std::optional<ports::kept_part> durable_row::take_spare(const digest128& step,
                                                        const digest128& content) {
    auto own = spares_of_steps_.lower_bound({content, step});
    if (own == spares_of_steps_.end() || own->first != std::pair(content, step)) {
        const auto first = spares_.lower_bound(content);
        if (first == spares_.end() || first->first != content) return std::nullopt;
        own = spares_of_steps_.lower_bound({content, first->second.path}); // the same one
    }
    const spares::iterator found = own->second;
    spares_of_steps_.erase(own);
    spare taken = std::move(found->second);
    spares_.erase(found);
    note_computing();
    log_.use_spare({taken.number, step, std::max(clock_, real_clock())});
    return std::move(taken.part);
}

coro::task<result<void>> durable_row::keep_part(step_record record, bool durable,
                                                coro::call_context context) {
    note_computing();
    record.at = std::max(clock_, real_clock());
    const coro::call_context unbounded{&loop_, nullptr, {}};
    // Beside others it takes effect in its turn, as it will when it is repeated.
    const bool takes_turn = !record.part.is_zero() && is_part(record.kind) && !closed_;
    std::optional<arrival> turn;
    if (takes_turn) {
        turn.emplace(*this);
        turn->is_part = true;
        turn->at = record.at;
        arrive(*turn);
    }
    result<void> kept;
    const bool is_beside_others = !record.part.is_zero();
    {
        std::optional<kept_part_now> under_way;
        if (is_beside_others) under_way.emplace(*this, context);
        if (durable) {
            result<void> appended = co_await log_.append(std::move(record), unbounded);
            kept = std::move(appended);
        } else {
            log_.note(std::move(record));
        }
    }
    // What it was kept for has no effect then, when it is repeated either.
    if (is_beside_others && context.cancelled()) {
        if (!closed_) settle();
        co_return kept;
    }
    if (!turn) co_return kept;
    turn->ready = true;
    go_on(); // its turn has come already if the evaluation was closed
    (void)co_await turn->turn.wait({&loop_, context.cancel, {}});
    co_return kept;
}

bool durable_row::keeps_cancelled_parts() const noexcept {
    return std::any_of(kept_now_.begin(), kept_now_.end(),
                       [](const coro::call_context* each) { return each->cancelled(); });
}

/// The first one that waits goes on. Beside others, what follows from it is to have followed before
/// the next part takes effect: the loop gets time for it.
void durable_row::grant_part(bool runs_beside_others) noexcept {
    part_turn& first = *part_turns_.begin()->second;
    first.end_wait();
    first.granted.notify();
    if (runs_beside_others) settle();
}

void durable_row::settle() noexcept {
    try {
        loop_.schedule(settles_, loop_.now() + time_to_settle);
        settling_ = true;
        ++settlings_;
    } catch (...) { // no memory: what follows may come later than it should
        has_settled_ = true;
    }
}

/// Nothing is under way, and nothing is about to be: what waits for another part may have been
/// woken just now.
bool durable_row::is_at_rest() noexcept {
    if (at_work_ != 0) return false;
    if (steps_.empty()) return true;
    if (!has_settled_) settle();
    return has_settled_;
}

void durable_row::settle_timer::on_timer() noexcept {
    row_.pass_rounds(rounds_to_settle, row_.settlings_);
}

/// `of`: which settling; another one that has begun since takes its place.
void durable_row::pass_rounds(int left, std::uint64_t of) noexcept {
    if (of != settlings_) return;
    if (left != 0) {
        try {
            boost::asio::post(loop_.get_executor(),
                              [this, left, of, alive = std::weak_ptr(lives_)] {
                                  if (!alive.expired()) pass_rounds(left - 1, of);
                              });
            return;
        } catch (...) { // no memory: what follows may come later than it should
        }
    }
    settling_ = false;
    has_settled_ = true;
    go_on();
    has_settled_ = false;
}

} // namespace heddle::host
