#include "durable_row.hpp"

#include "arrival_places.hpp"
#include "clock_records.hpp"
#include "function_cuts.hpp"
#include "record_kinds.hpp"

#include <heddle/base/exceptions.hpp>
#include <heddle/lang/errors.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

namespace heddle::host {

namespace {

using ports::digest128;
using ports::step_kind;
using ports::step_record;

[[nodiscard]] bool is_spare(step_kind kind) noexcept {
    return kind == step_kind::spare || kind == step_kind::due;
}

} // namespace

durable_row::durable_row(step_log& log, coro::event_loop& loop)
    : log_(log), replay_(log.replay()), loop_(loop), ways_(log.evaluation()), began_(loop.now()) {
    std::vector<step_record> all = log.take_earlier();
    std::map<ports::digest128, ports::step_spending> spent_by_parts;
    for (step_record& each : all) {
        if (each.kind == step_kind::past || each.kind == step_kind::sent ||
            each.kind == step_kind::lost || each.kind == step_kind::failed ||
            each.kind == step_kind::unpaid) {
            continue;
        }
        if (is_spare(each.kind)) {
            const bool counted = each.kind == step_kind::spare;
            const auto place = spares_.emplace(
                each.content, spare{each.path, each.number, {std::move(each.body), counted}});
            spares_of_steps_.emplace(std::pair(each.content, each.path), place);
            continue;
        }
        arrived_last_.read(each);
        clock_at_begin_ = std::max(clock_at_begin_, each.at);
        if (each.kind == step_kind::request) spent_by_parts[each.path] += each.spent;
        if (read_beginning(each)) continue;
        if (function_cuts::is_by_slices(each)) slice_cuts_.push_back(std::move(each));
        else if (each.kind == step_kind::clock && clock_records::is_between(each))
            between_.push_back(std::move(each));
        else if (each.kind == step_kind::clock && clock_records::is_beginning(each))
            beginnings_.push_back(std::move(each));
        else if (each.kind == step_kind::clock) clocks_.push_back(std::move(each));
        else earlier_.push_back(std::move(each));
    }
    number_by_path();
    drop_late_beginnings();
    take_parts();
    is_void_.resize(earlier_.size());
    first_of_arrivals_ = first_of_arrivals();
    const auto by_slices = [](const step_record& a, const step_record& b) {
        return a.path.low < b.path.low;
    };
    std::stable_sort(clocks_.begin(), clocks_.end(), by_slices);
    std::stable_sort(slice_cuts_.begin(), slice_cuts_.end(), by_slices);
    std::stable_sort(between_.begin(), between_.end(), by_slices);
    std::stable_sort(beginnings_.begin(), beginnings_.end(), by_slices);
    // What a step has cost is what its requests have and what its end has counted besides.
    for (step_record& each : earlier_) {
        if (!ends_a_step(each)) continue;
        const auto parts = spent_by_parts.find(each.path);
        if (parts != spent_by_parts.end()) each.spent += parts->second;
    }
}

void durable_row::number_by_path() {
    by_path_.clear();
    functions_.clear();
    for (std::size_t i = 0; i < earlier_.size(); ++i) {
        if (!is_part(earlier_[i].kind)) by_path_.emplace(earlier_[i].path, i);
        functions_.add(earlier_[i], i);
    }
}

/// Records that functions began inside of a step that had ended, or that ended without one.
void durable_row::drop_late_beginnings() {
    std::set<std::size_t> late;
    for (std::size_t i = 0; i < earlier_.size(); ++i) {
        if (!ends_a_step(earlier_[i])) continue;
        for (const std::size_t inside : functions_.of(earlier_[i].path)) {
            if (inside > i || earlier_[i].kind == step_kind::answer) late.insert(inside);
        }
    }
    if (late.empty()) return;
    std::vector<step_record> kept;
    for (std::size_t i = 0; i < earlier_.size(); ++i) {
        if (!late.contains(i)) kept.push_back(std::move(earlier_[i]));
    }
    earlier_ = std::move(kept);
    number_by_path();
}

double durable_row::note_cut(step_record record) {
    record.kind = step_kind::cut;
    record.name = "deadline";
    const double at = record.at;
    log_.note(std::move(record));
    return at;
}

coro::task<coro::wake> durable_row::park(branch_wait& self, coro::deadline until) {
    self.cut = false;
    if (!until.is_never() && replays()) bounded_waits_.emplace(self.path, &self);
    self.waits = true;
    ++waits_;
    branch_waits();
    while (self.waits) {
        const coro::deadline limit = self.overdue || closed_ ? coro::deadline() : until;
        const coro::wake woken =
            co_await self.woken.wait(coro::call_context{&loop_, nullptr, limit});
        if (!self.waits || woken != coro::wake::timed_out) continue;
        self.place = overdue_.insert(overdue_.end(), &self);
        self.overdue = true;
        go_on();
    }
    co_return self.cut ? coro::wake::timed_out : coro::wake::notified;
}

void durable_row::wake(branch_wait& self) noexcept {
    if (self.waits) {
        self.waits = false;
        --waits_;
        if (std::exchange(self.overdue, false)) overdue_.erase(self.place);
        bounded_waits_.erase(self.path);
        ++running_;
    }
    self.woken.notify();
}

void durable_row::cut(branch_wait& waiting, double at) noexcept {
    clock_ = std::max(clock_, at);
    took_effect(waiting.path);
    waiting.cut = true;
    wake(waiting);
}

result<const step_record*> durable_row::recorded(const digest128& path, std::string_view name,
                                                 const digest128& content) {
    const auto found = by_path_.find(path);
    if (found == by_path_.end() || closed_) return nullptr;
    const step_record& record = earlier_[found->second];
    if (record.name != name) {
        fail("it was '" + record.name + "' and is '" + std::string(name) + "' now");
        return *broken_;
    }
    if (!record.content.is_zero() && !content.is_zero() && record.content != content) {
        fail("'" + record.name + "' was asked for something else");
        return *broken_;
    }
    return &record;
}

coro::task<result<void>> durable_row::replay_turn(const digest128& path) {
    if (closed_) {
        ++running_;
        co_return result<void>();
    }
    arrival self(*this);
    self.path = path;
    self.ready = true;
    arrive(self);
    go_on();
    co_await self.turn.wait(coro::call_context{&loop_, nullptr, {}});
    self.taken = true;
    co_return result<void>();
}

coro::task<result<void>> durable_row::record_turn(step_record record, bool durable) {
    if (replay_) {
        co_await withhold(std::move(record.name), false);
        co_return result<void>();
    }
    arrival self(*this);
    self.path = record.path;
    self.at = record.at = std::max(clock_, real_clock());
    if (running_ != 0 || !arrivals_.empty() || replays())
        record.part = arrival_places::after_slices(slices_);
    if (!closed_) note_computing();
    if (closed_) {
        const result<void> kept =
            co_await log_.append(std::move(record), coro::call_context{&loop_, nullptr, {}});
        ++running_;
        co_return kept;
    }
    arrive(self);
    result<void> kept;
    if (durable) {
        result<void> appended =
            co_await log_.append(std::move(record), coro::call_context{&loop_, nullptr, {}});
        kept = std::move(appended);
    } else {
        log_.note(std::move(record));
    }
    self.ready = true;
    go_on(); // its turn has come already if the evaluation was closed
    co_await self.turn.wait(coro::call_context{&loop_, nullptr, {}});
    self.taken = true;
    co_return kept;
}

coro::task<void> durable_row::withhold(std::string name, bool runs) {
    if (closed_) {
        if (!runs) ++running_;
        co_return;
    }
    withheld_step self;
    self.name = std::move(name);
    const listed_step place(*this, withheld_, self);
    if (runs) --running_;
    go_on();
    try {
        co_await self.turn.wait(coro::call_context{&loop_, nullptr, {}});
    } catch (...) { // no memory to wait
        if (runs && !closed_) ++running_;
        throw;
    }
}

void durable_row::arrive(arrival& self) {
    self.place = arrivals_.insert(arrivals_.end(), &self);
    self.waits = true;
    if (self.is_part) --at_work_;
    else if (replays()) self.by_path = arrivals_by_path_.emplace(self.path, &self);
}

void durable_row::leave(arrival& self) noexcept {
    if (!std::exchange(self.waits, false)) return;
    arrivals_.erase(self.place);
    if (self.is_part) ++at_work_;
    if (self.by_path) arrivals_by_path_.erase(*self.by_path);
}

void durable_row::grant(arrival& first, double at) noexcept {
    leave(first);
    first.turn.notify();
    if (first.is_part) return settle();
    first.granted = true;
    clock_ = std::max(clock_, at);
    took_effect(first.path);
    ++running_;
}

/// What happens next, as long as no branch can run.
void durable_row::go_on() noexcept {
    while (running_ == 0 && !closed_) {
        if (settling_ || keeps_cancelled_parts()) return;
        if (!replays()) forget_slice_cuts();
        if (replays()) {
            if (!replay_next()) return;
        } else if (!idle_parts_.empty()) {
            // Of a step whose end is not recorded, and that must not ask.
            if (is_at_rest()) (void)release_part({});
            return;
        } else if (replay_) {
            return end_of_records();
        } else if (!arrivals_.empty()) {
            if (!arrivals_.front()->ready) return;
            grant(*arrivals_.front(), arrivals_.front()->at);
        } else if (!cut_next_function() && !cut_next()) {
            if (only_parked() && is_at_rest()) end_parked();
            return;
        }
    }
    if (!slice_cuts_.empty()) cut_recorded_functions();
    end_gathering();
}

/// False: it is not there yet.
bool durable_row::replay_next(repeats when) noexcept {
    const step_record& record = earlier_[next_];
    const auto go_to_next = [this] {
        ++next_;
        if (!time_stands_still() && !goes_beyond_) begin_clock();
    };
    if (is_void_[next_]) {
        go_to_next();
        return true;
    }
    if (is_part(record.kind)) {
        const bool is_asked_for = part_turns_.contains(next_);
        // Nobody will ask for it, or not before something else has taken effect.
        if (!is_asked_for && steps_.contains(record.path) && !is_at_rest()) return false;
        if (is_asked_for) grant_part(!record.part.is_zero());
        go_to_next();
        return true;
    }
    if (record.kind == step_kind::cut) {
        const auto found = bounded_waits_.find(record.path);
        if (found != bounded_waits_.end()) {
            go_to_next();
            cut(*found->second, record.at);
            if (replay_) replay_->note_effect(record);
            return true;
        }
        const auto function = running_functions_.find(record.content);
        if (function != running_functions_.end() && function->second) {
            go_to_next();
            clock_ = std::max(clock_, record.at);
            took_effect(record.path);
            function->second->cut();
            has_settled_ = false;
            if (replay_) replay_->note_effect(record);
            return true;
        }
    } else {
        const auto found = arrivals_by_path_.lower_bound(record.path);
        if (found != arrivals_by_path_.end() && found->first == record.path) {
            arrival& first = *found->second;
            if (!first.ready) return false;
            go_to_next();
            grant(first, record.at);
            if (replay_) replay_->note_effect(record);
            return true;
        }
    }
    // A step that is executed again may still come to it.
    const bool is_of_ended_function = record.kind == step_kind::cut && !record.content.is_zero();
    if (!is_at_rest()) return false;
    if (is_of_ended_function) {
        go_to_next();
        return true;
    }
    if (release_part(record.path)) return false;
    if (when == repeats::between_slices) { // where no branch can run, it may be reached
        forget_between();
        return true;
    }
    fail("it does not reach '" + record.name + "' any more");
    return false;
}

/// A deadline that has passed ends its wait when nothing else has arrived.
bool durable_row::cut_next() noexcept {
    if (overdue_.empty()) return false;
    branch_wait& first = *overdue_.front();
    try {
        step_record record;
        record.path = first.path;
        record.at = time_now();
        cut(first, note_cut(std::move(record)));
    } catch (...) { // no memory: it is tried again when something happens
        return false;
    }
    return true;
}

void durable_row::fail(std::string what) noexcept {
    if (broken_) return;
    try {
        broken_ = error(lang::errc::evaluation, "the journal does not fit the program: at step " +
                                                    std::to_string(next_ + 1) + " of " +
                                                    std::to_string(earlier_.size()) + ", " + what)
                      .with_hint(
                          "the program, its templates or the row have changed; start the row "
                          "over with 'heddle runs retry'")
                      .with_payload(std::make_shared<journal_mismatch>());
    } catch (...) {
        broken_ = out_of_memory();
    }
    if (on_broken) on_broken();
}

coro::task<void> durable_row::park_step(coro::call_context context) {
    if (closed_) co_return;
    parked_step self{{}, context};
    const waiting_part idle(*this); // nothing comes of it in this process
    const listed_step place(*this, parked_steps_, self);
    go_on();
    (void)co_await self.ended.wait(context);
}

bool durable_row::only_parked() const noexcept {
    return !parked_steps_.empty() &&
           std::none_of(parked_steps_.begin(), parked_steps_.end(),
                        [](const parked_step* each) { return each->context.cancelled(); });
}

/// Nothing is under way but steps that are parked: their time comes with another process.
void durable_row::end_parked() noexcept {
    if (broken_) return;
    try {
        broken_ = error(lang::errc::evaluation, "the row waits for an answer");
    } catch (...) {
        broken_ = out_of_memory();
    }
    log_.note_parked();
    if (on_broken) on_broken();
}

/// All records have taken effect, and no branch can run: what comes next is not recorded.
void durable_row::end_of_records() noexcept {
    const bool has_ended = withheld_.empty() && waits_ == 0 && parked_steps_.empty();
    if (broken_ || has_ended) return;
    try {
        constexpr std::size_t max_named = 3;
        std::string what;
        std::size_t named = 0;
        for (const withheld_step* each : withheld_) {
            if (++named > max_named) break;
            what += (what.empty() ? "'" : ", '") + each->name + "'";
        }
        if (withheld_.empty())
            what = parked_steps_.empty() ? "the end of a wait" : "the answer to a question";
        if (withheld_.size() > max_named)
            what += " and " + std::to_string(withheld_.size() - max_named) + " more";
        broken_ = error(lang::errc::evaluation, "the journal ends here: " + what +
                                                    (withheld_.size() > 1 ? " are" : " is") +
                                                    " not recorded");
        replay_->note_end(what);
    } catch (...) {
        broken_ = out_of_memory();
    }
    if (on_broken) on_broken();
}

void durable_row::close() noexcept {
    if (std::exchange(closed_, true)) return;
    const std::list<parked_step*> parked = std::exchange(parked_steps_, {});
    for (parked_step* each : parked) each->ended.notify();
    while (!part_turns_.empty()) {
        part_turn& each = *part_turns_.begin()->second;
        each.end_wait();
        each.granted.notify();
    }
    while (!idle_parts_.empty()) {
        idle_part& each = *idle_parts_.front();
        each.end_wait();
        each.released.notify();
    }
    const std::list<withheld_step*> withheld = std::exchange(withheld_, {});
    for (withheld_step* each : withheld) {
        ++running_;
        each->turn.notify();
    }
    while (!arrivals_.empty()) {
        arrival& each = *arrivals_.front();
        leave(each);
        each.granted = !each.is_part;
        if (each.granted) ++running_;
        each.turn.notify();
    }
    end_gathering();
}

} // namespace heddle::host
