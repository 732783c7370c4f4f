#include "recorded_call.hpp"

#include <heddle/base/json_string.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/failure.hpp>
#include <heddle/host/row_history.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/rows/row.hpp>
#include <heddle/setup/journal/row_failures.hpp>

#include <charconv>
#include <random>
#include <utility>
#include <vector>

namespace heddle::embed {

namespace {

usage usage_of(const ports::step_spending& spent) noexcept {
    usage used;
    used.requests = spent.requests;
    used.input_tokens = spent.input_tokens;
    used.output_tokens = spent.output_tokens;
    used.known_cost_usd = spent.cost_usd;
    used.unpriced = spent.unpriced;
    used.estimated = spent.estimated;
    return used;
}

ports::step_spending spending_of(const usage& used) noexcept {
    ports::step_spending spent;
    spent.requests = static_cast<std::uint32_t>(used.requests);
    spent.input_tokens = used.input_tokens;
    spent.output_tokens = used.output_tokens;
    spent.cost_usd = used.known_cost_usd;
    spent.unpriced = static_cast<std::uint32_t>(used.unpriced);
    spent.estimated = used.estimated;
    return spent;
}

std::string text_in(const json& of, std::string_view name) {
    const json* found = of.find(name);
    const auto* text = found ? found->get_if<std::string>() : nullptr;
    return text ? *text : std::string();
}

/// In what two inputs differ, for people.
std::string difference(const json& before, const json& now) {
    if (!before.is_object() || !now.is_object()) return "the input is another one";
    std::vector<std::string> names;
    for (const json_member& each : now.as_object()) {
        const json* earlier = before.find(each.name);
        if (!earlier || earlier->to_string() != each.value.to_string()) names.push_back(each.name);
    }
    for (const json_member& each : before.as_object()) {
        if (!now.find(each.name)) names.push_back(each.name);
    }
    if (names.empty()) return "the members of the input have another order";
    std::string text = "the input has another " + json_string(utf8::shortened(names.front(), 60));
    if (names.size() > 1) text += " and " + std::to_string(names.size() - 1) + " more differ";
    return text;
}

std::uint64_t new_seed() {
    std::random_device chance;
    const std::uint64_t high = chance();
    return high << 32 | chance();
}

} // namespace

recorded_call::recorded_call(call_journal& journal, recorded_request wanted)
    : journal_(journal), wanted_(std::move(wanted)), input_text_(wanted_.input.to_string()),
      content_(rows::digest_of_content(wanted_.function + '\n' + input_text_)), seed_(new_seed()) {}

coro::task<result<void>> recorded_call::open(coro::call_context context) {
    co_await journal_.recover(context);
    result<tag_claim> claimed = journal_.claim(wanted_.tag);
    if (!claimed) co_return std::move(claimed).error();
    claim_ = *std::move(claimed);
    if (!claim_.is_stored()) co_return result<void>();
    // What the last call has noted is to be read.
    result<void> kept = co_await claim_.store().flush(context);
    if (!kept) co_return claim_.noted(kept.error());
    result<std::optional<store::run_row>> row =
        co_await claim_.store().row(claim_.row().row, context);
    if (!row) co_return claim_.noted(row.error());
    if (!*row) co_return result<void>(); // the journal failed before it was kept
    co_return compare(**row);
}

/// Whether the earlier call is this one, and how it has ended.
result<void> recorded_call::compare(const store::run_row& earlier) {
    HEDDLE_TRY(const json about, json::parse(earlier.text));
    if (earlier.known.content != content_) {
        const std::string function = text_in(about, "function");
        const json* input = about.find("input");
        const std::string what = function != wanted_.function
                                     ? "it was called as " + json_string(function) + ", and is " +
                                           json_string(wanted_.function) + " now"
                                     : difference(input ? *input : json(), wanted_.input);
        return error(runtime_errc::tag_mismatch,
                     "the tag " + json_string(utf8::shortened(wanted_.tag, 100)) +
                         " is that of another call: " + what)
            .with_hint(
                "a tag names one call, with its function and input; runtime::forget() frees it");
    }
    const std::string seed = text_in(about, "seed");
    (void)std::from_chars(seed.data(), seed.data() + seed.size(), seed_);
    is_outdated_ = text_in(about, "program") != wanted_.program;
    has_records_ = true;
    has_failed_ = earlier.known.status == ports::row_status::failed;
    if (earlier.known.status != ports::row_status::done || is_outdated_ || !earlier.ended)
        return {};
    HEDDLE_TRY(json value, json::parse(earlier.ended->value_json));
    value_ = std::move(value);
    count_before(earlier.ended->spent);
    return {};
}

void recorded_call::count_before(const ports::step_spending& spent) {
    if (!has_counted_) used_before_ += usage_of(spent);
}

coro::task<result<void>> recorded_call::begin(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the call
    lang::heap& memory, coro::call_context context) {
    context = {context.loop, nullptr, {}}; // short, and to be complete
    store::run_store& store = claim_.store();
    if (has_records_ && !has_counted_) {
        result<ports::row_work> work = co_await store.work_of(claim_.row().row, context);
        if (!work) co_return claim_.noted(work.error());
        before_ = *work;
    }
    if (is_outdated_ || is_misfit_) {
        result<void> revised = co_await revise(memory, context);
        if (!revised) co_return claim_.noted(revised.error());
    } else if (has_failed_) {
        result<void> again = store.retry_row(claim_.row().row);
        if (!again) co_return claim_.noted(again.error());
    }
    result<void> noted = note_begun(context);
    if (!noted) co_return claim_.noted(noted.error());
    std::vector<ports::step_record> earlier;
    if (has_records_) {
        result<std::vector<ports::step_record>> records =
            co_await store.records_of(claim_.row().row, context);
        if (!records) co_return claim_.noted(records.error());
        host::row_history history =
            host::read_history(*std::move(records), [&memory](const ports::step_record& step) {
                return setup::failure_of_step(memory, step);
            });
        count_before(history.spent);
        for (ports::step_record& each : history.newly_lost) {
            host::count_lost(each, 0);
            count_before(each.spent);
            store.note(claim_.row().row, std::move(each));
        }
        earlier = std::move(history.replayed);
    }
    has_counted_ = true;
    has_records_ = true;
    has_failed_ = false;
    failed_step_.reset();
    attempt_ = {};
    log_.emplace(store, claim_.row().row, seed_, std::move(earlier));
    co_return result<void>();
}

/// The program is another one, or the records do not fit it: what it asks as before is answered as
/// before.
coro::task<result<void>> recorded_call::revise(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the call
    lang::heap& memory, coro::call_context context) {
    store::run_store& store = claim_.store();
    const std::uint64_t row = claim_.row().row;
    if (log_) { // what the evaluation that did not fit has noted
        (void)log_->note_lost();
        log_.reset();
        result<void> kept = co_await store.flush(context);
        if (!kept) co_return kept;
    }
    result<std::vector<ports::step_record>> records = co_await store.records_of(row, context);
    if (!records) co_return std::move(records).error();
    const bool was_open = is_outdated_ && !has_failed_ &&
                          claim_.row().status == ports::row_status::begun &&
                          setup::has_open_attempt(*records);
    host::row_history history =
        setup::read_earlier_version(memory, *std::move(records), has_failed_, has_failed_);
    count_before(history.spent);
    for (ports::step_record& each : history.newly_lost) {
        host::count_lost(each, 0);
        count_before(each.spent);
        store.note(row, std::move(each));
    }
    has_counted_ = true;
    is_outdated_ = false;
    is_misfit_ = false;
    result<void> revised = store.revise_row(row, std::move(history.discarded));
    if (!revised) co_return revised;
    if (was_open) { // that attempt does not go on
        ++before_.attempts;
        store.note_work(row, before_);
    }
    result<void> kept = co_await store.flush(context);
    co_return kept;
}

result<void> recorded_call::note_begun(coro::call_context context) {
    ports::known_row begun = claim_.row();
    begun.content = content_;
    begun.status = ports::row_status::begun;
    HEDDLE_CHECK(claim_.store().begin_row(begun, wanted_.tag, text()));
    claim_.note_begun(content_);
    note_time(context);
    return {};
}

/// What is kept of the call, as a row.
std::string recorded_call::text() const {
    return "{\"function\": " + json_string(wanted_.function) +
           ", \"program\": " + json_string(wanted_.program) + ", \"seed\": \"" +
           std::to_string(seed_) + "\", \"input\": " + input_text_ + "}";
}

void recorded_call::note_time(coro::call_context context) {
    const auto now = context.loop->time_of_day().time_since_epoch();
    const auto at = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    (void)claim_.store().set_time(claim_.row().row, at); // a failure shows in the next record
}

void recorded_call::note_misfit(const usage& used) noexcept {
    is_misfit_ = true;
    used_by_misfit_ += used;
}

coro::task<result<void>> recorded_call::end(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the call
    const result<answer>& how, bool from_outside, coro::call_context context) {
    if (!log_) co_return result<void>(); // it was refused before it began
    context = {context.loop, nullptr, {}};
    store::run_store& store = claim_.store();
    const std::uint64_t row = claim_.row().row;
    (void)log_->note_lost();
    note_time(context);
    ports::row_work work = before_;
    work.duration_ms += std::chrono::duration_cast<std::chrono::milliseconds>(
                            std::chrono::steady_clock::now() - began_)
                            .count();
    if (from_outside) { // a later call goes on with the attempt
        store.note_work(row, work);
        co_return result<void>();
    }
    ports::row_end ended;
    ended.row = row;
    ended.attempts = work.attempts + 1;
    ended.duration_ms = work.duration_ms;
    usage used = used_before_;
    if (how) used += how->used();
    else if (const failure_details* details = details_of(how.error())) used += details->used;
    ended.spent = spending_of(used);
    if (how && !failed_step_) {
        ended.status = ports::row_status::done;
        ended.value_json = how->value().to_string();
    } else {
        ended.status = ports::row_status::failed;
        ended.error_json = how ? how->value().to_string() : to_json(how.error()).to_string();
        store.note(row, failed_step_ ? host::record_of_attempt(*failed_step_, attempt_)
                                     : host::record_of_attempt(how.error().message(),
                                                               host::end_of_attempt(how.error())));
    }
    result<void> kept = co_await store.end_row(std::move(ended), context);
    if (!kept) co_return claim_.noted(kept.error());
    co_await journal_.sweep(context);
    co_return kept;
}

} // namespace heddle::embed
