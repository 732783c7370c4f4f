#include "lang_harness.hpp"

#include "lang/machine/join.hpp"
#include "lang/value/cycle_search.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/prelude.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/text.hpp>

#include <failing_allocations.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace heddle::lang::testing {

using heddle::testing::failing_allocations;

namespace {

constexpr builtin effects[] = {
    {"pause", "n", 1, 1, builtin_kind::effect, nullptr, "", "", "test"},
    {"fail-after", "n message", 2, 2, builtin_kind::effect, nullptr, "", "", "test"},
    {"%jitter", "round", 1, 1, builtin_kind::effect, nullptr, "", "", "test"},
    {"sleep", "n", 1, 1, builtin_kind::effect, nullptr, "", "", "test"},
    {"note", "x", 1, 1, builtin_kind::effect, nullptr, "", "", "test"},
};

double number(const value& v) {
    if (v.is_integer()) return static_cast<double>(v.as_integer());
    return v.is_real() && v.as_real() >= 0 ? v.as_real() : 0;
}

/// For what can only be a bug in the machine or in this file.
void insist(bool holds, const std::string& what) {
    if (holds) return;
    std::fprintf(stderr, "lang_world: %s\n", what.c_str());
    std::abort();
}

} // namespace

lang_harness::lang_harness() : harness(*this) {
    const auto loaded = load_prelude(harness);
    insist(loaded.has_value(), loaded ? "" : loaded.error().message());
}

lang_harness::~lang_harness() = default;

const builtin* lang_harness::find_effect(std::string_view name) const {
    for (const builtin& row : effects) {
        if (row.name == name) return &row;
    }
    return nullptr;
}

std::optional<operator_info> lang_harness::find_operator(heap&, std::string_view) const {
    return std::nullopt;
}
std::optional<operator_info> lang_harness::describe_callable(const host_object&) const {
    return std::nullopt;
}
bool lang_harness::is_reserved_key(std::string_view) const { return false; }
void lang_harness::collect_names(std::vector<std::string>&) const {}

void lang_harness::wake(fiber& ready) noexcept {
    const failing_allocations::scope ours(false);
    ready_.push_back(&ready);
}

void lang_harness::cancel_effect(fiber& waiting) noexcept {
    const failing_allocations::scope ours(false);
    const auto found = std::find_if(pending_.begin(), pending_.end(),
                                    [&](const pending& p) { return p.self == &waiting; });
    if (found == pending_.end()) return;
    pending_.erase(found);
    machine::resume(waiting, error::cancelled(waiting.cancelled_because()));
    ready_.push_back(&waiting);
}

void lang_harness::begin_effect(fiber& self) {
    const effect_request& request = self.request();
    if (self.cancel_requested() && !self.cancellation_masked()) {
        machine::resume(self, error::cancelled(self.cancelled_because()));
        ready_.push_back(&self);
        return;
    }
    const bool timed = request.row->name != "note" && request.row->name != "%jitter";
    pending begun{&self, clock_ + (timed ? number(request.arguments[0]) : 0), order_++};
    if (const auto until = self.deadline(); until && *until < begun.at) {
        begun.at = std::max(clock_, *until);
        begun.cut = true;
    }
    pending_.push_back(begun);
    peak_pending = std::max(peak_pending, pending_.size());
}

void lang_harness::answer(const pending& due) {
    clock_ = std::max(clock_, due.at);
    effect_request& request = due.self->request();
    if (due.cut) {
        machine::resume(*due.self, machine::deadline_failure(*due.self));
    } else if (request.row->name == "%jitter") {
        machine::resume(*due.self, value::real(0.5));
    } else if (request.row->name == "sleep") {
        machine::resume(*due.self, value());
    } else if (request.row->name == "note") {
        notes.push_back(print_value(request.arguments[0], {}));
        machine::resume(*due.self, value(request.arguments[0]));
    } else if (request.row->name == "fail-after") {
        machine::resume(*due.self, error(errc::evaluation,
                                         print_value(request.arguments[1], {.display = true})));
    } else {
        machine::resume(*due.self, value(request.arguments[0]));
    }
    ready_.push_back(due.self);
}

void lang_harness::adopt(std::unique_ptr<fiber> child) {
    child->driver = this;
    if (child->waits() == waiting_for::effect) begin_effect(*child);
    else if (child->waits() == waiting_for::nothing) ready_.push_back(child.get());
    fibers_.push_back(std::move(child));
    peak_fibers = std::max(peak_fibers, fibers_.size());
}

/// Nobody can go on now: to the next thing that happens.
bool lang_harness::pass_time() {
    const auto due =
        std::min_element(pending_.begin(), pending_.end(), [](const pending& a, const pending& b) {
            return a.at != b.at ? a.at < b.at : a.order < b.order;
        });
    fiber* cut = nullptr;
    for (const auto& each : fibers_) {
        if (each->waits() != waiting_for::permit && each->waits() != waiting_for::future) continue;
        const auto until = each->deadline();
        if (until && (!cut || *until < *cut->deadline())) cut = each.get();
    }
    if (cut && (due == pending_.end() || *cut->deadline() <= due->at)) {
        clock_ = std::max(clock_, *cut->deadline());
        insist(machine::interrupt_wait(*cut), "a parked fiber with a deadline cannot be woken");
        ready_.push_back(cut);
        return true;
    }
    if (due == pending_.end()) return false;
    const pending next = *due;
    pending_.erase(due);
    answer(next);
    return true;
}

/// The machine alone may lack memory, if a test asks for it.
outcome lang_harness::step(fiber& self, run_budget& budget, std::uint32_t slice) {
    const failing_allocations::scope machine_only(true);
    return machine::run(self, budget, slice);
}

outcome lang_harness::run(const std::string& program, const schedule& how) {
    runs = 0;
    stuck = false;
    peak_pending = peak_fibers = 0;
    notes.clear();
    const std::uint32_t position = harness.sources().add("test", program);
    outcome ended;
    ended.kind = outcome_kind::failed;
    auto forms = read_all(harness.memory(), program, position);
    if (!forms) {
        ended.failure = forms.error();
        return ended;
    }
    auto code = compile(harness, *forms);
    if (!code) {
        ended.failure = code.error();
        return ended;
    }
    const auto sound = verify(**code, harness.global_count());
    insist(sound.has_value(), sound ? "" : program + ": " + sound.error().message());
    harness.memory().set_limit(harness.memory().used() + how.memory);
    harness.set_moves_stacks(how.moved);
    run_budget budget;
    budget.steps = how.steps;
    budget.cleanup_steps = how.cleanup_steps;
    const scope_ref scope = with_concurrency(harness, {}, how.concurrency);
    auto first = start_fiber(harness, *code, scope);
    fiber* main = first.get();
    adopt(std::move(first));
    bool main_ended = false;
    while (!fibers_.empty()) {
        if (ready_.empty()) {
            if (!pass_time()) {
                stuck = true;
                break;
            }
            continue;
        }
        fiber* self = ready_.front();
        ready_.pop_front();
        if (runs++ == how.cancel_at && !main_ended) {
            budget.ending = true;
            main->request_cancel(cancel_reason::user);
        }
        outcome now = step_measured(*self, budget, how.slice);
        switch (now.kind) {
        case outcome_kind::effect: begin_effect(*self); break;
        case outcome_kind::parked: break;
        case outcome_kind::forked:
            ready_.push_front(self);
            adopt(std::move(now.child));
            break;
        case outcome_kind::out_of_steps:
            ready_.push_back(self);
            if (how.split) {
                if (auto child = machine::split_running_branch(*self)) adopt(std::move(child));
            }
            break;
        default:
            if (self == main) {
                ended = std::move(now);
                main_ended = true;
            }
            std::erase_if(fibers_, [&](const auto& f) { return f.get() == self; });
        }
        if (main_ended && how.outlived) continue;
        if (main_ended && !fibers_.empty()) stuck = true; // nothing may outlive the main fiber
        if (main_ended) break;
    }
    pending_.clear();
    ready_.clear();
    fibers_.clear();
    harness.memory().set_limit(SIZE_MAX);
    permits = scope->concurrency->running();
    return ended;
}

outcome lang_harness::step_measured(fiber& self, run_budget& budget, std::uint32_t slice) {
    const heap& memory = harness.memory();
    const cycle_search* const before = memory.search();
    const std::uint64_t work = before ? before->work() : 0;
    const std::size_t live = memory.live_objects();
    outcome now = step(self, budget, slice);
    if (memory.live_objects() < live)
        peak_freed = std::max(peak_freed, live - memory.live_objects());
    if (const cycle_search* const after = memory.search()) {
        // Another one may be where this one was: it has done less.
        const std::uint64_t known = before && after->work() >= work ? work : 0;
        peak_searched = std::max(peak_searched, after->work() - known);
        if (!before) ++searches;
    }
    return now;
}

std::string lang_harness::shown(const std::string& program, const schedule& how) {
    const outcome ended = run(program, how);
    if (stuck) return "stuck";
    if (ended.kind == outcome_kind::done) return print_value(ended.result);
    return std::string(error_kind_name(*ended.failure)) + ": " + ended.failure->message();
}

} // namespace heddle::lang::testing
