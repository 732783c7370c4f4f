#include "durable_step.hpp"

#include "durable_row.hpp"

#include <heddle/host/row_history.hpp>

#include <algorithm>
#include <utility>

namespace heddle::host {

std::uint64_t durable_step::seed() const noexcept { return row_.log().seed() ^ own_.low; }

ports::step_record durable_step::part(ports::step_kind kind, const ports::digest128& content,
                                      std::string name, std::string body) const {
    ports::step_record record;
    record.kind = kind;
    record.path = own_;
    record.content = content;
    record.name = std::move(name);
    record.body = std::move(body);
    return record;
}

std::optional<ports::kept_part> durable_step::take(const ports::digest128& content) {
    auto part = row_.take_part(own_, content);
    remembers_ = remembers_ || part;
    return part;
}

bool durable_step::may_ask() noexcept {
    if (end_is_known_) return false;
    if (!row_.log().plan() && !row_.only_replays()) return true;
    was_refused_ = true;
    return false;
}

coro::task<result<void>> durable_step::keep(ports::digest128 content, std::string name,
                                            std::string body, ports::step_spending spent,
                                            coro::call_context) {
    ports::step_record record =
        part(ports::step_kind::request, content, std::move(name), std::move(body));
    record.spent = spent;
    counted_ += spent;
    return row_.keep_part(std::move(record));
}

void durable_step::note_failure(ports::digest128 content, std::string name, std::string body) {
    row_.note_part(part(ports::step_kind::unanswered, content, std::move(name), std::move(body)));
}

coro::task<result<void>> durable_step::keep_result(ports::digest128 content, std::string name,
                                                   std::string body, coro::call_context) {
    return row_.keep_part(part(ports::step_kind::tool, content, std::move(name), std::move(body)));
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
                                                 ports::cost_if_lost if_lost, coro::call_context) {
    ports::step_record record =
        part(ports::step_kind::sent, content, std::move(name), output_cost(if_lost));
    record.spent = if_lost.least;
    return row_.keep_part(std::move(record));
}

void durable_step::note_unpaid(ports::digest128 content) {
    row_.log().note(part(ports::step_kind::unpaid, content, {}, {}));
}

void durable_step::note_parts(int more) noexcept { row_.note_work(more); }

coro::task<void> durable_step::park(coro::call_context context) { return row_.park_step(context); }

ports::step_place durable_step::place() const noexcept { return {row_.log().row(), own_}; }

} // namespace heddle::host
