#include "durable_step.hpp"

#include "durable_row.hpp"

#include <heddle/host/row_history.hpp>

#include <algorithm>
#include <utility>

namespace heddle::host {

std::uint64_t durable_step::seed() const noexcept { return row_.log().seed() ^ own_.low; }

ports::step_record durable_step::record(ports::step_kind kind, const ports::digest128& part,
                                        const ports::digest128& content, std::string name,
                                        std::string body) const {
    ports::step_record record;
    record.kind = kind;
    record.path = own_;
    record.part = part;
    record.content = content;
    record.name = std::move(name);
    record.body = std::move(body);
    return record;
}

coro::task<std::optional<ports::kept_part>> durable_step::take_of(ports::digest128 part,
                                                                  ports::digest128 content,
                                                                  coro::call_context context) {
    std::optional<ports::kept_part> kept =
        co_await row_.take_part({own_, part, content, end_is_known_}, context);
    remembers_ = remembers_ || kept;
    co_return kept;
}

bool durable_step::may_ask() noexcept {
    if (end_is_known_) return false;
    if (!row_.log().plan() && !row_.only_replays()) return true;
    was_refused_ = true;
    return false;
}

/// What has ended, or is only replayed, has all its records.
bool durable_step::keeps_nothing() const noexcept { return end_is_known_ || row_.only_replays(); }

coro::task<result<void>> durable_step::keep_of(const ports::digest128& part,
                                               const ports::digest128& content, std::string name,
                                               std::string body, ports::step_spending spent,
                                               coro::call_context context) {
    ports::step_record kept =
        record(ports::step_kind::request, part, content, std::move(name), std::move(body));
    kept.spent = spent;
    counted_ += spent;
    return keep_record(std::move(kept), true, context);
}

coro::task<void> durable_step::keep_failure_of(ports::digest128 part, ports::digest128 content,
                                               std::string name, std::string body,
                                               coro::call_context context) {
    result<void> kept = co_await keep_record(
        record(ports::step_kind::unanswered, part, content, std::move(name), std::move(body)),
        false, context);
    (void)kept; // shows in the next write
}

coro::task<result<void>> durable_step::keep_result_of(const ports::digest128& part,
                                                      const ports::digest128& content,
                                                      std::string name, std::string body,
                                                      coro::call_context context) {
    return keep_record(
        record(ports::step_kind::tool, part, content, std::move(name), std::move(body)), true,
        context);
}

coro::task<result<void>> durable_step::keep_record(ports::step_record record, bool durable,
                                                   coro::call_context context) {
    if (keeps_nothing()) co_return result<void>();
    result<void> kept = co_await row_.keep_part(std::move(record), durable, context);
    co_return kept;
}

coro::task<result<void>> durable_step::keep(ports::digest128 content, std::string name,
                                            std::string body, ports::step_spending spent,
                                            coro::call_context context) {
    return keep_of({}, content, std::move(name), std::move(body), spent, context);
}

coro::task<void> durable_step::keep_failure(ports::digest128 content, std::string name,
                                            std::string body, coro::call_context context) {
    return keep_failure_of({}, content, std::move(name), std::move(body), context);
}

coro::task<result<void>> durable_step::keep_result(ports::digest128 content, std::string name,
                                                   std::string body, coro::call_context context) {
    return keep_result_of({}, content, std::move(name), std::move(body), context);
}

ports::step_spending durable_step::spent() const noexcept {
    ports::step_spending rest = spent_;
    rest.requests -= std::min(rest.requests, counted_.requests);
    rest.input_tokens = std::max<std::int64_t>(0, rest.input_tokens - counted_.input_tokens);
    rest.output_tokens = std::max<std::int64_t>(0, rest.output_tokens - counted_.output_tokens);
    rest.cost_usd = std::max(0.0, rest.cost_usd - counted_.cost_usd);
    rest.unpriced -= std::min(rest.unpriced, counted_.unpriced);
    return rest;
}

coro::task<result<void>> durable_step::note_sent(ports::digest128 content, std::string name,
                                                 ports::cost_if_lost if_lost,
                                                 coro::call_context context) {
    return note_sent_of({}, content, std::move(name), if_lost, context);
}

coro::task<result<void>> durable_step::note_sent_of(const ports::digest128& part,
                                                    const ports::digest128& content,
                                                    std::string name, ports::cost_if_lost if_lost,
                                                    coro::call_context context) {
    ports::step_record sent =
        record(ports::step_kind::sent, part, content, std::move(name), output_cost(if_lost));
    sent.spent = if_lost.least;
    return row_.keep_part(std::move(sent), true, context);
}

void durable_step::note_unpaid(ports::digest128 content) {
    row_.log().note(record(ports::step_kind::unpaid, {}, content, {}, {}));
}

std::chrono::nanoseconds durable_step::time_to_catch_up() const noexcept {
    return row_.time_to_catch_up();
}

void durable_step::note_parts(int more) noexcept { row_.note_work(more); }

coro::task<void> durable_step::park(coro::call_context context) { return row_.park_step(context); }

ports::step_place durable_step::place() const noexcept { return {row_.log().row(), own_}; }

} // namespace heddle::host
