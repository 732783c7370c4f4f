#include "store/parking_table.hpp"

#include <algorithm>
#include <utility>

namespace heddle::store {

namespace {

struct sizes {
    std::size_t operator()(const call_parked& each) const noexcept {
        return each.call.body.size() + each.call.service.size() + each.call.model.size();
    }
    std::size_t operator()(const batch_intended& each) const noexcept {
        return each.calls.size() * sizeof(std::uint64_t);
    }
    std::size_t operator()(const calls_returned& each) const noexcept {
        return each.unperformed.size() * sizeof(std::uint64_t);
    }
    std::size_t operator()(const call_settled& each) const noexcept {
        return each.record.name.size() + each.record.body.size();
    }
    template <class Other>
    std::size_t operator()(const Other&) const noexcept {
        return 0;
    }
};

} // namespace

std::size_t bytes_of(const parking_change& change) noexcept { return std::visit(sizes(), change); }

result<void> parking_table::prepare(sqlite_database& database) {
    if (on_) return {};
    statements on;
    const sqlite_database::statement_text all[] = {
        {&on.park,
         "INSERT OR IGNORE INTO parked_calls (row, path, content, service, model, size, tries, "
         "batch, requests, input_tokens, output_tokens, cost, unpriced, estimated, body) "
         "VALUES (?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?)"},
        {&on.intend,
         "INSERT INTO parked_batches (number, phase, service, model, mark, id, at, calls, "
         "answered, failed, state, too_large) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
        {&on.assign, "UPDATE parked_calls SET batch = ? WHERE number = ? AND batch = 0"},
        {&on.note,
         "UPDATE parked_batches SET phase = ?, id = ?, answered = ?, failed = ?, state = ?, "
         "too_large = ? WHERE number = ?"},
        {&on.find, "SELECT 1 FROM parked_calls WHERE number = ?"},
        {&on.drop, "DELETE FROM parked_calls WHERE number = ?"},
        {&on.give_back, "UPDATE parked_calls SET batch = 0, tries = tries + ? WHERE batch = ?"},
        {&on.left,
         "SELECT row, path, content, model, requests, input_tokens, output_tokens, cost, "
         "unpriced, estimated, number FROM parked_calls WHERE batch = ?"},
        {&on.drop_row, "DELETE FROM parked_calls WHERE batch = 0 AND row = ?"},
        {&on.drop_all, "DELETE FROM parked_calls WHERE batch = 0"},
    };
    HEDDLE_CHECK(database.prepare(all));
    on_ = std::move(on);
    return {};
}

result<void> parking_table::write(sqlite_database& database, const parking_change& change,
                                  const append_record& append) {
    HEDDLE_CHECK(prepare(database));
    append_ = &append;
    return std::visit([this](const auto& each) { return apply(each); }, change);
}

result<void> parking_table::apply(const call_parked& change) {
    const parked_call& call = change.call;
    on_->park.begin().bind(key_of(call.row));
    bind_digest(on_->park, call.path, digest_buffers_[0]);
    bind_digest(on_->park, call.content, digest_buffers_[1]);
    on_->park.bind_text(call.service).bind_text(call.model).bind(key_of(call.body.size()));
    bind_spending(on_->park, call.least);
    return done(on_->park.bind(packer_.pack(call.body)));
}

result<void> parking_table::apply(const batch_intended& change) {
    const parked_batch& batch = change.batch;
    HEDDLE_CHECK(done(on_->intend.begin()
                          .bind(key_of(batch.number))
                          .bind(static_cast<std::int64_t>(batch.phase))
                          .bind_text(batch.service)
                          .bind_text(batch.model)
                          .bind_text(batch.mark)
                          .bind_text(batch.id)
                          .bind(batch.at)
                          .bind(key_of(change.calls.size()))
                          .bind(key_of(batch.answered))
                          .bind(key_of(batch.failed))
                          .bind_text(batch.state)
                          .bind(std::int64_t{batch.was_too_large})));
    for (const std::uint64_t call : change.calls)
        HEDDLE_CHECK(done(on_->assign.begin().bind(key_of(batch.number)).bind(key_of(call))));
    return {};
}

result<void> parking_table::apply(const batch_noted& change) {
    const parked_batch& batch = change.batch;
    return done(on_->note.begin()
                    .bind(static_cast<std::int64_t>(batch.phase))
                    .bind_text(batch.id)
                    .bind(key_of(batch.answered))
                    .bind(key_of(batch.failed))
                    .bind_text(batch.state)
                    .bind(std::int64_t{batch.was_too_large})
                    .bind(key_of(batch.number)));
}

result<void> parking_table::apply(const call_settled& change) {
    HEDDLE_TRY(const bool waits, on_->find.begin().bind(key_of(change.call)).step());
    on_->find.begin();
    if (!waits) return {}; // an earlier process has taken it
    HEDDLE_CHECK((*append_)(change.row, change.record));
    return done(on_->drop.begin().bind(key_of(change.call)));
}

result<void> parking_table::apply(const calls_returned& change) {
    if (change.maybe_paid) {
        sqlite_statement& left = on_->left.begin().bind(key_of(change.batch));
        for (;;) {
            HEDDLE_TRY(const bool there, left.step());
            if (!there) break;
            const auto number = static_cast<std::uint64_t>(left.number(10));
            const auto& unperformed = change.unperformed;
            if (std::binary_search(unperformed.begin(), unperformed.end(), number)) continue;
            ports::step_record lost;
            lost.kind = ports::step_kind::lost;
            lost.path = digest_in(left.bytes(1));
            lost.content = digest_in(left.bytes(2));
            lost.name = left.bytes(3);
            lost.spent = spending_in(left, 4);
            HEDDLE_CHECK((*append_)(static_cast<std::uint64_t>(left.number(0)), std::move(lost)));
        }
        left.begin();
    }
    return done(
        on_->give_back.begin().bind(std::int64_t{change.counts}).bind(key_of(change.batch)));
}

result<void> parking_table::apply(const calls_dropped& change) {
    if (!change.row) return done(on_->drop_all.begin());
    return done(on_->drop_row.begin().bind(key_of(*change.row)));
}

} // namespace heddle::store
