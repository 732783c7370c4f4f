#include "parking/parking_lot.hpp"

#include "parking/parking_names.hpp"

#include <heddle/ports/response_codec.hpp>

#include <algorithm>
#include <utility>

namespace heddle::cli {

using providers::batch_response;
using providers::batch_state;
using providers::batch_status;
using store::batch_phase;
using store::parked_batch;
using store::parked_call;

namespace {

/// What a service does not know after that time is gone; before, a wrong key or address is more
/// likely.
constexpr std::int64_t seconds_kept = 48 * 3600;
constexpr double batch_share = 0.5; ///< of the usual price
constexpr std::size_t bytes_in_a_token = 4;

/// The state of a batch that heddle has asked the service to cancel.
constexpr const char* cancelling = "cancelling";

error no_response(const parked_batch& batch) {
    return error(ports::make_error_code(ports::llm_errc::protocol),
                 batch.service + ": the last of several batches has no response to this request")
        .with_origin(error_origin::server);
}

void take_back(ports::step_spending& from, const ports::step_spending& part) {
    from.requests -= std::min(from.requests, part.requests);
    from.input_tokens -= part.input_tokens;
    from.cost_usd -= part.cost_usd;
    from.unpriced -= std::min(from.unpriced, part.unpriced);
}

[[nodiscard]] bool is_retried(const batch_response& received) {
    return received.what != batch_response::fate::answered &&
           received.response.error().info().retryable.value_or(false);
}

} // namespace

const store::calls_returned parking_lot::not_performed{0, false, false, {}};
const store::calls_returned parking_lot::maybe_performed{0, true, true, {}};

/// The calls of a batch whose results arrive.
struct parking_lot::taking {
    std::map<std::string, parked_call, std::less<>> left; ///< by the id in the batch
    std::uint64_t unknown = 0;
    std::set<std::uint64_t> unperformed; ///< numbers of calls that the service reports as such
};

parking_lot::parking_lot(parts of) : of_(std::move(of)) {}

std::int64_t parking_lot::seconds_now(const coro::call_context& context) const {
    const auto now = of_.time ? of_.time(context) : context.loop->time_of_day();
    return std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
}

providers::batch_endpoint* parking_lot::service(std::string_view name) const {
    const auto found = of_.services.find(name);
    return found == of_.services.end() ? nullptr : found->second.get();
}

coro::task<result<void>> parking_lot::begin(coro::call_context context) {
    if (!of_.parks) {
        // What was never submitted is asked in the usual way.
        if (auto dropped = of_.journal.change_parking(store::calls_dropped{}); !dropped)
            co_return dropped;
    }
    result<void> kept = co_await of_.journal.flush(context);
    if (!kept) co_return kept;
    result<std::vector<parked_batch>> batches = co_await of_.kept.batches(context);
    if (!batches) co_return std::move(batches).error();
    batches_ = *std::move(batches);
    result<void> counted = co_await recount(context);
    co_return counted;
}

coro::task<result<void>> parking_lot::recount(coro::call_context context) {
    result<void> kept = co_await of_.journal.flush(context);
    if (!kept) co_return kept;
    result<std::vector<std::uint64_t>> rows = co_await of_.kept.rows(context);
    if (!rows) co_return std::move(rows).error();
    rows_ = *std::move(rows);
    result<store::parking_sums> sums = co_await of_.kept.sums(context);
    if (!sums) co_return std::move(sums).error();
    open_calls_ = sums->collected + sums->submitted;
    open_ = sums->least;
    since_counted_.clear();
    co_return result<void>();
}

bool parking_lot::waits(std::uint64_t row) const noexcept {
    return std::binary_search(rows_.begin(), rows_.end(), row);
}

std::uint64_t parking_lot::open_batches() const noexcept {
    return static_cast<std::uint64_t>(
        std::count_if(batches_.begin(), batches_.end(),
                      [](const parked_batch& each) { return each.phase != batch_phase::settled; }));
}

void parking_lot::hold(std::uint64_t row, std::function<void()> on_call) {
    if (on_call) held_[row] = std::move(on_call);
    else held_.erase(row);
}

result<void> parking_lot::park(parked_call call) {
    if (const auto held = held_.find(call.row); held != held_.end()) {
        held->second();
        return error::cancelled(cancel_reason::budget);
    }
    if (!has_parked_ && of_.on_first) HEDDLE_CHECK(of_.on_first());
    has_parked_ = true;
    ports::token_usage least;
    least.input = static_cast<std::int64_t>(call.body.size() / bytes_in_a_token);
    call.least = {};
    call.least.requests = 1;
    call.least.input_tokens = least.input;
    call.least.estimated = true;
    if (const auto cost = of_.prices.cost_usd(call.service, call.model, least))
        call.least.cost_usd = *cost * batch_share;
    else call.least.unpriced = 1;
    since_counted_[call.row].push_back({call.path, call.content, call.least});
    ++open_calls_;
    open_ += call.least;
    parked_now_.insert(call.row);
    if (const auto* endpoint = service(call.service)) {
        group_size& group = groups_[call.service + '\n' + call.model];
        ++group.calls;
        group.bytes += endpoint->size_of({parked_call_id(call), {}}) + call.body.size();
        const auto most = endpoint->limits();
        full_ = full_ || group.calls >= most.max_calls ||
                group.bytes >= std::min(most.max_bytes, max_batch_bytes);
    }
    return of_.journal.change_parking(store::call_parked{std::move(call)});
}

result<void> parking_lot::forget(std::uint64_t row) {
    parked_now_.erase(row);
    if (open_calls_ == 0) return {};
    if (const auto found = since_counted_.find(row); found != since_counted_.end()) {
        for (const collected_call& each : found->second) take_back(open_, each.least);
        open_calls_ -= found->second.size();
        since_counted_.erase(found);
    }
    return of_.journal.change_parking(store::calls_dropped{row});
}

// ---------------------------------------------------------------- looking

coro::task<result<parking_look>> parking_lot::look(coro::call_context context) {
    parking_look seen;
    const std::vector<parked_batch> all = batches_; // which change below
    for (const parked_batch& each : all) {
        if (each.phase == batch_phase::settled) continue;
        if (!service(each.service)) {
            ++seen.waiting;
            seen.problems.push_back(batch_title(each) +
                                    ": that service is not configured, or takes no batches");
            continue;
        }
        result<void> looked;
        if (each.phase == batch_phase::intended) {
            looked = co_await find_intended(each, seen, context);
        } else {
            looked = co_await look_at(each, seen, context);
        }
        if (!looked) co_return std::move(looked).error();
    }
    result<void> counted = co_await recount(context);
    if (!counted) co_return std::move(counted).error();
    co_return seen;
}

coro::task<result<std::vector<std::string>>> parking_lot::cancel(coro::call_context context) {
    std::vector<std::string> problems;
    const std::vector<parked_batch> all = batches_;
    for (const parked_batch& each : all) {
        providers::batch_endpoint* const at = service(each.service);
        if (each.phase != batch_phase::submitted || !at) continue;
        result<void> asked = co_await at->cancel(each.id, context);
        if (asked) {
            parked_batch noted = each;
            noted.state = cancelling;
            if (auto kept = note(std::move(noted)); !kept) co_return std::move(kept).error();
            continue;
        }
        if (asked.error().is_cancelled()) co_return std::move(asked).error();
        problems.push_back(batch_title(each) + " is not cancelled: " + asked.error().message());
    }
    co_return problems;
}

/// A service that keeps no marks shows sizes, some of them late; the ids in the results decide.
coro::task<result<parking_lot::candidates>> parking_lot::find_candidates(
    const parked_batch& batch, std::vector<batch_status> listed, coro::call_context context) {
    candidates possible;
    for (batch_status& each : listed) {
        const bool is_known =
            std::any_of(batches_.begin(), batches_.end(), [&](const parked_batch& other) {
                return other.service == batch.service && other.id == each.id;
            });
        if (is_known) continue;
        if (each.mark.empty() && !each.total) { // a list may show less than the batch itself
            result<batch_status> polled = co_await service(batch.service)->poll(each.id, context);
            if (polled) each = *std::move(polled);
            else if (polled.error().is_cancelled()) co_return std::move(polled).error();
        }
        if (!each.mark.empty() || each.total) {
            const bool fits =
                each.mark.empty() ? *each.total == batch.calls : each.mark == batch.mark;
            if (fits) possible.fitting.push_back(each.id);
        } else if (each.state == batch_state::running) {
            possible.unsized = true;
        } else if (each.state != batch_state::refused) { // then nothing of it was performed
            possible.fitting.push_back(each.id);
        }
    }
    co_return possible;
}

/// The process ended, or the connection broke, before the service acknowledged the submission.
coro::task<result<void>> parking_lot::find_intended(parked_batch batch, parking_look& seen,
                                                    coro::call_context context) {
    result<std::vector<batch_status>> listed =
        co_await service(batch.service)->list(batch.at, context);
    if (!listed) {
        if (listed.error().is_cancelled()) co_return std::move(listed).error();
        ++seen.waiting;
        seen.problems.push_back(batch_title(batch) + ": " + listed.error().message());
        co_return result<void>();
    }
    result<candidates> possible = co_await find_candidates(batch, *std::move(listed), context);
    if (!possible) co_return std::move(possible).error();
    const std::vector<std::string>& found = possible->fitting;
    const std::int64_t now = seconds_now(context);
    if (found.empty() && possible->unsized && now - batch.at < seconds_kept) {
        ++seen.waiting; // the service shows the size before it has performed much
        co_return result<void>();
    }
    if (found.size() == 1) {
        batch.phase = batch_phase::submitted;
        batch.id = found.front();
        if (auto noted = note(batch); !noted) co_return noted;
        result<void> looked = co_await look_at(batch, seen, context);
        co_return looked;
    }
    // From the first look on: who submitted it has ended by then, however long the upload took.
    const bool is_absent = found.empty() && !possible->unsized;
    const auto looked_for = looked_for_since(batch.state);
    if (is_absent && now - looked_for.value_or(now) <= of_.settling.count()) {
        ++seen.waiting; // it may be on its way
        if (looked_for) co_return result<void>();
        batch.state = looked_for_state(now);
        co_return note(std::move(batch));
    }
    seen.returned += batch.calls;
    if (is_absent) co_return give_back(std::move(batch), "not submitted", not_performed);
    const std::string which = found.empty() ? "a batch of unknown size" : "several batches";
    seen.problems.push_back(batch_title(batch) + ": the service has " + which +
                            " that it may be; its requests are submitted again and count as maybe "
                            "paid");
    co_return give_back(std::move(batch), "lost", maybe_performed);
}

coro::task<result<void>> parking_lot::look_at(parked_batch batch, parking_look& seen,
                                              coro::call_context context) {
    result<batch_status> status = co_await service(batch.service)->poll(batch.id, context);
    if (!status) {
        if (status.error().is_cancelled()) co_return std::move(status).error();
        ++seen.waiting;
        seen.problems.push_back(batch_title(batch) + ": " + status.error().message());
        co_return result<void>();
    }
    switch (status->state) {
    case batch_state::running: {
        ++seen.waiting;
        if (batch.state == cancelling) co_return result<void>();
        batch.state = "running";
        if (status->finished + status->failed != 0 && status->total) {
            batch.state += ", " + std::to_string(status->finished + status->failed) + " of " +
                           std::to_string(*status->total);
        }
        co_return note(std::move(batch));
    }
    case batch_state::gone:
        if (seconds_now(context) - batch.at < seconds_kept) {
            ++seen.waiting;
            seen.problems.push_back(batch_title(batch) +
                                    ": the service does not have it; check whether the key and "
                                    "the address are those that it was submitted with");
            co_return result<void>();
        }
        seen.returned += batch.calls;
        co_return give_back(std::move(batch), "gone", maybe_performed);
    case batch_state::refused: {
        result<void> taken =
            co_await take_refusal(std::move(batch), *std::move(status), seen, context);
        co_return taken;
    }
    default: {
        result<void> taken = co_await take(std::move(batch), *std::move(status), seen, context);
        co_return taken;
    }
    }
}

coro::task<result<void>> parking_lot::take(parked_batch batch, batch_status status,
                                           parking_look& seen, coro::call_context context) {
    result<std::vector<parked_call>> calls =
        co_await of_.kept.calls_of_batch(batch.number, context);
    if (!calls) co_return std::move(calls).error();
    taking going;
    for (parked_call& each : *calls) {
        std::string id = parked_call_id(each);
        going.left.emplace(std::move(id), std::move(each));
    }
    calls->clear();
    const std::size_t asked = going.left.size();
    const bool by_hand = batch.state == cancelling; // that is not a failed try
    const providers::batch_sink sink = [&](batch_response received) -> result<void> {
        const auto found = going.left.find(received.id);
        if (found == going.left.end()) {
            ++going.unknown; // never asked, or answered already
            return {};
        }
        const parked_call& call = found->second;
        if (received.what == batch_response::fate::answered) {
            ports::step_record record;
            record.kind = ports::step_kind::request;
            record.path = call.path;
            record.content = call.content;
            record.name = received.response->model;
            record.spent = half_price(batch, *received.response);
            record.body = ports::encode_response(*received.response);
            HEDDLE_CHECK(of_.journal.change_parking(
                store::call_settled{call.number, call.row, std::move(record)}));
            ++batch.answered;
            ++seen.answered;
        } else {
            if (is_retried(received) && (by_hand || call.tries + 1 < max_tries)) {
                going.unperformed.insert(call.number);
                return {};
            }
            HEDDLE_CHECK(refuse(call, received.response.error()));
            ++batch.failed;
            ++seen.failed;
        }
        going.unperformed.erase(call.number);
        going.left.erase(found);
        return {};
    };
    result<void> fetched;
    if (status.has_results) fetched = co_await service(batch.service)->fetch(status, sink, context);
    if (!fetched) {
        const error& why = fetched.error();
        const bool is_of_service = why.code().category() == ports::llm_category();
        if (!is_of_service || why.is_cancelled()) co_return fetched;
        seen.problems.push_back(batch_title(batch) + ": " + why.message());
        // The rest is taken by the next look, as long as services keep their results.
        if (why.code() != ports::llm_errc::protocol &&
            seconds_now(context) - batch.at < seconds_kept) {
            ++seen.waiting;
            co_return note(std::move(batch));
        }
    }
    // What is never answered is not submitted, and paid for, without end.
    for (auto each = going.left.begin(); fetched && each != going.left.end();) {
        if (by_hand || each->second.tries + 1 < max_tries) {
            ++each;
            continue;
        }
        if (auto done = refuse(each->second, no_response(batch)); !done) co_return done;
        ++batch.failed;
        ++seen.failed;
        each = going.left.erase(each);
    }
    seen.returned += going.left.size();
    // Not even one of ours: it is somebody else's, and ours has left no trace.
    const bool is_foreign =
        going.unknown != 0 && going.left.size() == asked && asked != 0 && asked == batch.calls;
    const bool lacks_lines =
        status.state == batch_state::ended && going.left.size() != going.unperformed.size();
    store::calls_returned how{0, !by_hand || is_foreign, false, {}};
    how.maybe_paid = !fetched || is_foreign || lacks_lines;
    how.unperformed.assign(going.unperformed.begin(), going.unperformed.end());
    const std::string state(to_string(status.state));
    co_return give_back(std::move(batch), is_foreign ? "lost" : state, std::move(how));
}

coro::task<result<void>> parking_lot::take_refusal(parked_batch batch, batch_status status,
                                                   parking_look& seen, coro::call_context context) {
    std::string why;
    for (const providers::batch_problem& each : status.problems) {
        if (why.empty()) why = each.message.empty() ? each.code : each.message;
    }
    seen.problems.push_back(batch_title(batch) + " was refused" + (why.empty() ? "" : ": " + why));
    batch.was_too_large = status.may_pass;
    if (status.may_pass) {
        seen.returned += batch.calls;
        co_return give_back(std::move(batch), "refused", not_performed);
    }
    result<std::vector<parked_call>> calls =
        co_await of_.kept.calls_of_batch(batch.number, context);
    if (!calls) co_return std::move(calls).error();
    const auto failure = [&](const std::string& message) {
        return error(ports::make_error_code(ports::llm_errc::invalid_request),
                     batch.service + ": " + message)
            .with_origin(error_origin::server);
    };
    bool names_calls = false;
    std::uint64_t refused = 0;
    for (const providers::batch_problem& each : status.problems) {
        if (!each.call || *each.call >= calls->size()) continue;
        names_calls = true;
        parked_call& call = (*calls)[*each.call];
        if (call.number == 0) continue; // two problems with one request
        if (auto done = refuse(call, failure(each.message)); !done) co_return done;
        call.number = 0;
        ++refused;
    }
    for (const parked_call& each : *calls) {
        if (names_calls || each.tries + 1 < max_tries) continue;
        const std::string message = why.empty() ? "the batch was refused" : why;
        if (auto done = refuse(each, failure(message)); !done) co_return done;
        ++refused;
    }
    batch.failed += refused;
    seen.failed += refused;
    seen.returned += batch.calls - std::min(batch.calls, refused);
    co_return give_back(std::move(batch), "refused", {0, !names_calls, false, {}});
}

result<void> parking_lot::refuse(const parked_call& call, const error& failure) {
    ports::step_record record;
    record.kind = ports::step_kind::refused;
    record.path = call.path;
    record.content = refusal_key(call.content);
    record.name = call.model;
    record.body = refusal_text(failure);
    return of_.journal.change_parking(
        store::call_settled{call.number, call.row, std::move(record)});
}

result<void> parking_lot::give_back(parked_batch batch, std::string state,
                                    store::calls_returned how) {
    how.batch = batch.number;
    HEDDLE_CHECK(of_.journal.change_parking(std::move(how)));
    batch.phase = batch_phase::settled;
    batch.state = std::move(state);
    return note(std::move(batch));
}

result<void> parking_lot::note(parked_batch batch) {
    const auto known =
        std::find_if(batches_.begin(), batches_.end(),
                     [&](const parked_batch& each) { return each.number == batch.number; });
    if (known == batches_.end()) batches_.push_back(batch);
    else *known = batch;
    return of_.journal.change_parking(store::batch_noted{std::move(batch)});
}

ports::step_spending parking_lot::half_price(const parked_batch& batch,
                                             const ports::chat_response& response) const {
    ports::step_spending spent;
    spent.requests = 1;
    if (!response.usage) {
        spent.estimated = true;
        spent.unpriced = 1;
        return spent;
    }
    spent.input_tokens = response.usage->input;
    spent.output_tokens = response.usage->output;
    spent.estimated = !response.usage->input_reported || !response.usage->output_reported;
    if (const auto cost = of_.prices.cost_usd(batch.service, batch.model, *response.usage))
        spent.cost_usd = *cost * batch_share;
    else spent.unpriced = 1;
    return spent;
}

} // namespace heddle::cli
