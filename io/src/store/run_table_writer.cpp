#include "store/run_table_writer.hpp"

#include <utility>

namespace heddle::store {

result<run_table_writer> run_table_writer::open(const run_store_options& options) {
    HEDDLE_TRY(sqlite_database database, open_to_write(options));
    const auto prepared = [&]() -> result<std::pair<statements, run_sums>> {
        statements on;
        const sqlite_database::statement_text all[] = {
            {&on.status, "SELECT status FROM rows WHERE row = ?"},
            {&on.begin_row,
             "INSERT INTO rows (row, status, emitted, id_digest, content_digest) "
             "VALUES (?, ?, 0, ?, ?) ON CONFLICT (row) DO UPDATE SET "
             "status = excluded.status, emitted = 0, "
             "id_digest = excluded.id_digest, "
             "content_digest = excluded.content_digest"},
            {&on.text, "INSERT OR REPLACE INTO texts (row, id, text) VALUES (?, ?, ?)"},
            {&on.restart, "DELETE FROM ends WHERE row = ?"},
            // Spares were paid for, whatever becomes of the row.
            {&on.drop, "DELETE FROM records WHERE row = ? AND kind NOT IN (10, 11, 13)"},
            {&on.discard,
             "UPDATE records SET kind = 11, body = ?, content = NULL "
             "WHERE row = ? AND seq = ? AND kind IN (2, 12)"},
            {&on.to_due,
             "UPDATE records SET kind = 13 WHERE row = ? AND kind = 2 AND requests = 0 AND "
             "path NOT IN (SELECT path FROM records WHERE row = ? AND kind IN (1, 6))"},
            {&on.to_spares, "UPDATE records SET kind = 10 WHERE row = ? AND kind IN (2, 12)"},
            {&on.to_past,
             "UPDATE records SET kind = 11, body = ?, "
             "content = CASE kind WHEN 8 THEN content END WHERE row = ? AND (kind IN (1, 6, 8) "
             "OR (kind = 16 AND requests > 0))"},
            {&on.use,
             "UPDATE records SET kind = CASE kind WHEN 13 THEN 2 ELSE 12 END, path = ?, at = ?, "
             "seq = ?, body = ? WHERE row = ? AND seq = ? AND kind IN (10, 13)"},
            {&on.body_of, "SELECT body FROM records WHERE row = ? AND seq = ?"},
            {&on.next, "SELECT max(seq) FROM records WHERE row = ?"},
            {&on.append,
             "INSERT INTO records (row, seq, kind, path, content, at, name, requests, "
             "input_tokens, output_tokens, cost, unpriced, estimated, body) "
             "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
            {&on.end_row, "UPDATE rows SET status = ?, emitted = 0 WHERE row = ?"},
            {&on.end,
             "INSERT OR REPLACE INTO ends (row, attempts, duration, maybe_paid, requests, "
             "input_tokens, output_tokens, cost, unpriced, estimated, value, error, ended) "
             "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
            {&on.work, "INSERT OR REPLACE INTO work (row, attempts, duration) VALUES (?, ?, ?)"},
            {&on.keep_work,
             "INSERT OR REPLACE INTO work (row, attempts, duration) "
             "SELECT row, attempts, duration FROM ends WHERE row = ?"},
            {&on.new_clock,
             "INSERT OR REPLACE INTO clocks (row, before) SELECT ?1, max("
             "coalesce((SELECT duration FROM ends WHERE row = ?1), "
             "(SELECT duration FROM work WHERE row = ?1), 0), "
             "coalesce((SELECT before FROM clocks WHERE row = ?1), 0) + "
             "coalesce((SELECT CAST(max(at) * 1000 + 0.999 AS INTEGER) FROM records "
             "WHERE row = ?1 AND kind NOT IN (10, 11, 13)), 0))"},
            {&on.time, "INSERT OR REPLACE INTO times (row, at) VALUES (?, ?)"},
            {&on.emit, "UPDATE rows SET emitted = 1 WHERE row = ?"},
            {&on.sum, "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)"},
            {&on.source, "INSERT OR REPLACE INTO sources (name, digest, text) VALUES (?, ?, ?)"},
        };
        HEDDLE_CHECK(database.prepare(all));
        HEDDLE_TRY(const run_sums sums, load_sums(database));
        return std::pair(std::move(on), sums);
    };
    auto ready = prepared();
    if (!ready) return in_run(options.folder, std::move(ready).error());
    return run_table_writer(options.folder, std::move(database), std::move(ready->first),
                            ready->second);
}

result<void> run_table_writer::begin() {
    if (!database_.has_its_name()) {
        return in_run(folder_, error(errc::io_error, "the file was deleted or replaced")
                                   .with_hint("its content is lost, unless there is a copy"));
    }
    if (auto begun = database_.run("BEGIN IMMEDIATE"); !begun)
        return in_run(folder_, std::move(begun).error());
    return {};
}

result<void> run_table_writer::write(const write_change& change) {
    auto written = std::visit([this](const auto& each) { return apply(each); }, change);
    if (!written) return in_run(folder_, std::move(written).error());
    return {};
}

result<void> run_table_writer::commit() {
    auto written = write_sums();
    if (written) written = database_.run("COMMIT");
    if (!written) return in_run(folder_, std::move(written).error());
    return {};
}

void run_table_writer::roll_back() noexcept { (void)database_.run("ROLLBACK"); }

std::uint64_t* run_table_writer::count_of(ports::row_status status) noexcept {
    switch (status) {
    case ports::row_status::begun: return &sums_.totals.begun;
    case ports::row_status::done: return &sums_.totals.done;
    case ports::row_status::failed: return &sums_.totals.failed;
    case ports::row_status::rejected: return &sums_.totals.rejected;
    }
    return nullptr;
}

result<void> run_table_writer::set_status(std::uint64_t row, ports::row_status status,
                                          const ports::known_row& known) {
    HEDDLE_TRY(const bool there, on_.status.begin().bind(key_of(row)).step());
    if (there) {
        const auto before = static_cast<ports::row_status>(on_.status.number(0));
        if (std::uint64_t* count = count_of(before); count && *count != 0) --*count;
    }
    on_.status.begin();
    if (std::uint64_t* count = count_of(status)) ++*count;
    const auto number = static_cast<std::int64_t>(status);
    if (there && known.id.is_zero() && known.content.is_zero())
        return done(on_.end_row.begin().bind(number).bind(key_of(row)));
    on_.begin_row.begin().bind(key_of(row)).bind(number);
    bind_digest(on_.begin_row, known.id, digest_buffers_[0]);
    bind_digest(on_.begin_row, known.content, digest_buffers_[1]);
    return done(on_.begin_row);
}

result<void> run_table_writer::apply(const row_begun& change) {
    HEDDLE_CHECK(set_status(change.row.row, ports::row_status::begun, change.row));
    return done(on_.text.begin()
                    .bind(key_of(change.row.row))
                    .bind_text(change.id)
                    .bind(packer_.pack(change.text)));
}

result<void> run_table_writer::drop_end(std::uint64_t row) {
    HEDDLE_CHECK(done(on_.keep_work.begin().bind(key_of(row))));
    return done(on_.restart.begin().bind(key_of(row)));
}

result<void> run_table_writer::apply(const row_restarted& change) {
    HEDDLE_CHECK(done(on_.new_clock.begin().bind(key_of(change.row))));
    return restart(change.row);
}

/// Its clock has been noted.
result<void> run_table_writer::restart(std::uint64_t row) {
    next_.erase(row);
    HEDDLE_CHECK(done(on_.drop.begin().bind(key_of(row))));
    HEDDLE_CHECK(drop_end(row));
    return set_status(row, ports::row_status::begun, {});
}

result<void> run_table_writer::apply(const row_retried& change) {
    HEDDLE_CHECK(drop_end(change.row));
    return set_status(change.row, ports::row_status::begun, {});
}

result<void> run_table_writer::apply(const row_revised& change) {
    const std::int64_t row = key_of(change.row);
    HEDDLE_CHECK(done(on_.new_clock.begin().bind(row))); // while the records are what they were
    const std::string nothing(packer_.pack({}));
    for (const std::uint64_t each : change.discarded) {
        HEDDLE_CHECK(
            done(on_.discard.begin().bind(std::string_view(nothing)).bind(row).bind(key_of(each))));
    }
    HEDDLE_CHECK(done(on_.to_due.begin().bind(row).bind(row)));
    HEDDLE_CHECK(done(on_.to_spares.begin().bind(row)));
    HEDDLE_CHECK(done(on_.to_past.begin().bind(std::string_view(nothing)).bind(row)));
    return restart(change.row);
}

result<void> run_table_writer::apply(const rows_outdated& change) {
    if (change.which == ports::outdated_rows::begun)
        return database_.run("UPDATE rows SET emitted = 2 WHERE status = 1 AND emitted <> 2");
    HEDDLE_CHECK(database_.run("UPDATE rows SET emitted = 2 WHERE emitted <> 2"));
    sums_.emitted_size = 0;
    sums_.phase = output_phase::beside;
    return {};
}

result<void> run_table_writer::apply(const row_timed& change) {
    return done(on_.time.begin().bind(key_of(change.row)).bind(change.at));
}

result<void> run_table_writer::apply(const rows_forgotten& change) {
    for (const std::uint64_t row : change.rows) {
        HEDDLE_TRY(const bool there, on_.status.begin().bind(key_of(row)).step());
        if (there) {
            const auto before = static_cast<ports::row_status>(on_.status.number(0));
            if (std::uint64_t* count = count_of(before); count && *count != 0) --*count;
        }
        on_.status.begin();
        next_.erase(row);
        for (const char* table : {"rows", "texts", "ends", "records", "times", "work", "clocks"}) {
            const std::string drop =
                "DELETE FROM " + std::string(table) + " WHERE row = " + std::to_string(key_of(row));
            HEDDLE_CHECK(database_.run(drop.c_str()));
        }
    }
    return {};
}

result<void> run_table_writer::apply(const spare_used& change) {
    const std::int64_t row = key_of(change.row);
    // Last, where it was used: a retry drops what came before it.
    HEDDLE_TRY(const std::int64_t next, next_of(change.row));
    // The part of the step that it was given to is not one of this program.
    on_.body_of.begin().bind(row).bind(key_of(change.use.number));
    HEDDLE_TRY(const bool there, on_.body_of.step());
    ports::step_record used;
    if (there) {
        HEDDLE_TRY(used.body, unpack_text(on_.body_of.bytes(0)));
    }
    on_.body_of.begin();
    ports::read_stored_body(used);
    on_.use.begin();
    bind_digest(on_.use, change.use.to, digest_buffers_[0]);
    on_.use.bind_real(change.use.at)
        .bind(next)
        .bind(packer_.pack(used.body))
        .bind(row)
        .bind(key_of(change.use.number));
    return done(on_.use);
}

result<void> run_table_writer::apply(const phase_set& change) {
    sums_.phase = change.phase;
    return {};
}

result<void> run_table_writer::apply(const parking_change& change) {
    return parking_.write(database_, change, [this](std::uint64_t row, ports::step_record record) {
        return apply(step_appended{row, std::move(record)});
    });
}

result<std::int64_t> run_table_writer::next_of(std::uint64_t row) {
    if (const auto found = next_.find(row); found != next_.end()) return found->second++;
    HEDDLE_TRY(const bool there, on_.next.begin().bind(key_of(row)).step());
    const std::int64_t next = there && !on_.next.is_null(0) ? on_.next.number(0) + 1 : 0;
    on_.next.begin();
    next_.emplace(row, next + 1);
    return next;
}

result<void> run_table_writer::apply(const step_appended& change) {
    const ports::step_record& record = change.record;
    HEDDLE_TRY(const std::int64_t next, next_of(change.row));
    on_.append.begin()
        .bind(key_of(change.row))
        .bind(next)
        .bind(static_cast<std::int64_t>(record.kind));
    bind_digest(on_.append, record.path, digest_buffers_[0]);
    if (record.content.is_zero()) on_.append.bind_null();
    else bind_digest(on_.append, record.content, digest_buffers_[1]);
    on_.append.bind_real(record.at).bind_text(record.name);
    bind_spending(on_.append, record.spent);
    if (ports::has_stored_part(record)) {
        const std::string body = ports::stored_body(record);
        on_.append.bind(packer_.pack(body));
    } else {
        on_.append.bind(packer_.pack(record.body));
    }
    if (record.kind != ports::step_kind::sent) sums_.totals.spent += record.spent;
    if (record.kind == ports::step_kind::lost) ++sums_.totals.maybe_paid;
    return done(on_.append);
}

result<void> run_table_writer::apply(const ports::row_end& change) {
    next_.erase(change.row);
    HEDDLE_CHECK(set_status(change.row, change.status, {}));
    on_.end.begin()
        .bind(key_of(change.row))
        .bind(std::int64_t{change.attempts})
        .bind(change.duration_ms)
        .bind(std::int64_t{change.maybe_paid});
    bind_spending(on_.end, change.spent);
    const std::string value(packer_.pack(change.value_json));
    on_.end.bind(std::string_view(value)).bind(packer_.pack(change.error_json));
    on_.end.bind(static_cast<std::int64_t>(++sums_.ended));
    return done(on_.end);
}

result<void> run_table_writer::apply(const work_noted& change) {
    return done(on_.work.begin()
                    .bind(key_of(change.row))
                    .bind(std::int64_t{change.sum.attempts})
                    .bind(change.sum.duration_ms));
}

result<void> run_table_writer::apply(const rows_emitted& change) {
    sums_.emitted_size = change.size;
    if (change.alone) HEDDLE_CHECK(database_.run("UPDATE rows SET emitted = 0 WHERE emitted = 1"));
    for (const std::uint64_t row : change.rows)
        HEDDLE_CHECK(done(on_.emit.begin().bind(key_of(row))));
    return {};
}

result<void> run_table_writer::apply(const manifest_set& change) {
    for (const manifest_entry& each : change.entries) {
        HEDDLE_CHECK(done(on_.source.begin()
                              .bind_text(each.name)
                              .bind_text(each.digest)
                              .bind(packer_.pack(each.text))));
    }
    return {};
}

result<void> run_table_writer::apply(const contents_indexed&) {
    return database_.run(
        "CREATE INDEX IF NOT EXISTS records_by_content ON records (content) "
        "WHERE content IS NOT NULL");
}

result<void> run_table_writer::set_sum(std::string_view name, std::int64_t number) {
    return done(on_.sum.begin().bind_text(name).bind(number));
}

result<void> run_table_writer::write_sums() {
    const ports::run_totals& totals = sums_.totals;
    const std::pair<std::string_view, std::int64_t> all[] = {
        {"begun", static_cast<std::int64_t>(totals.begun)},
        {"done", static_cast<std::int64_t>(totals.done)},
        {"failed", static_cast<std::int64_t>(totals.failed)},
        {"rejected", static_cast<std::int64_t>(totals.rejected)},
        {"maybe_paid", static_cast<std::int64_t>(totals.maybe_paid)},
        {"requests", totals.spent.requests},
        {"input_tokens", totals.spent.input_tokens},
        {"output_tokens", totals.spent.output_tokens},
        {"unpriced", totals.spent.unpriced},
        {"estimated", totals.spent.estimated},
        {"emitted_size", static_cast<std::int64_t>(sums_.emitted_size)},
        {"ended", static_cast<std::int64_t>(sums_.ended)},
        {"output_phase", static_cast<std::int64_t>(sums_.phase)},
    };
    for (const auto& [name, number] : all) HEDDLE_CHECK(set_sum(name, number));
    return done(on_.sum.begin().bind_text("cost").bind_real(totals.spent.cost_usd));
}

} // namespace heddle::store
