#include "store/run_reader.hpp"

#include "store/packed_text.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::store {

namespace {

#define RECORD_COLUMNS                                                                       \
    "kind, path, content, at, name, requests, input_tokens, output_tokens, cost, unpriced, " \
    "estimated, body, seq"
#define END_COLUMNS                                                                           \
    "attempts, duration, maybe_paid, requests, input_tokens, output_tokens, cost, unpriced, " \
    "estimated, value, error"

constexpr std::size_t max_bytes_at_once = std::size_t{8} << 20; ///< of values and errors

std::int64_t limited(std::uint64_t number) noexcept {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(number, INT64_MAX));
}

result<ports::step_record> record_in(const sqlite_statement& asked, int first) {
    ports::step_record record;
    record.kind = static_cast<ports::step_kind>(asked.number(first));
    record.path = digest_in(asked.bytes(first + 1));
    record.content = digest_in(asked.bytes(first + 2));
    record.at = asked.real(first + 3);
    record.name = asked.bytes(first + 4);
    record.spent = spending_in(asked, first + 5);
    HEDDLE_TRY(record.body, unpack_text(asked.bytes(first + 11))); // of NULL: no bytes
    ports::read_stored_body(record);
    record.number = static_cast<std::uint64_t>(asked.number(first + 12));
    return record;
}

/// Of a row whose number and status stand before.
result<ports::row_end> end_in(const sqlite_statement& asked, std::uint64_t row,
                              ports::row_status status, int first, bool whole) {
    ports::row_end end;
    end.row = row;
    end.status = status;
    end.attempts = static_cast<std::uint32_t>(asked.number(first));
    end.duration_ms = asked.number(first + 1);
    end.maybe_paid = asked.number(first + 2) != 0;
    end.spent = spending_in(asked, first + 3);
    if (!whole) return end;
    HEDDLE_TRY(end.value_json, unpack_text(asked.bytes(first + 9)));
    HEDDLE_TRY(end.error_json, unpack_text(asked.bytes(first + 10)));
    return end;
}

ports::known_row known_in(const sqlite_statement& asked) {
    ports::known_row known;
    known.row = static_cast<std::uint64_t>(asked.number(0));
    known.status = static_cast<ports::row_status>(asked.number(1));
    known.emitted = asked.number(2) == 1;
    known.outdated = asked.number(2) == 2;
    known.id = digest_in(asked.bytes(3));
    known.content = digest_in(asked.bytes(4));
    return known;
}

result<end_place> place_in(const sqlite_statement& asked) {
    return end_place{static_cast<std::uint64_t>(asked.number(0)),
                     static_cast<std::uint64_t>(asked.number(1))};
}

/// The rows of a statement, each made by `make`.
template <class One, class Make>
result<std::vector<One>> all_of(sqlite_statement& asked, Make&& make) {
    std::vector<One> all;
    for (;;) {
        HEDDLE_TRY(const bool there, asked.step());
        if (!there) return all;
        result<One> one = make();
        if (!one) return std::move(one).error();
        all.push_back(*std::move(one));
    }
}

} // namespace

template <class Answer, class Question>
result<Answer> run_reader::ask(Question&& question) {
    const std::lock_guard held(lock_);
    if (!database_) {
        auto opened = open_to_read(folder_);
        if (!opened) return std::move(opened).error();
        database_.emplace(*std::move(opened));
    }
    result<Answer> answer = question(*database_);
    if (!answer) return in_run(folder_, std::move(answer).error());
    return answer;
}

result<run_sums> run_reader::sums() {
    return ask<run_sums>([](sqlite_database& database) { return load_sums(database); });
}

result<std::vector<ports::known_row>> run_reader::known_rows() {
    using rows = std::vector<ports::known_row>;
    return ask<rows>([](sqlite_database& database) -> result<rows> {
        HEDDLE_TRY(sqlite_statement asked,
                   database.prepare("SELECT row, status, emitted, id_digest, content_digest "
                                    "FROM rows ORDER BY row"));
        return all_of<ports::known_row>(
            asked, [&]() -> result<ports::known_row> { return known_in(asked); });
    });
}

result<std::vector<ports::known_row>> run_reader::rows_before(std::int64_t at, std::size_t count) {
    using rows = std::vector<ports::known_row>;
    return ask<rows>([&](sqlite_database& database) -> result<rows> {
        HEDDLE_TRY(sqlite_statement asked,
                   database.prepare("SELECT rows.row, status, emitted, id_digest, content_digest "
                                    "FROM times JOIN rows ON rows.row = times.row "
                                    "WHERE at < ? ORDER BY at LIMIT ?"));
        asked.begin().bind(at).bind(limited(count));
        return all_of<ports::known_row>(
            asked, [&]() -> result<ports::known_row> { return known_in(asked); });
    });
}

result<std::vector<ports::step_record>> run_reader::records_of(std::uint64_t row) {
    using records = std::vector<ports::step_record>;
    return ask<records>([row](sqlite_database& database) -> result<records> {
        HEDDLE_TRY(sqlite_statement asked,
                   database.prepare("SELECT " RECORD_COLUMNS " FROM records WHERE row = ? "
                                    "ORDER BY seq"));
        asked.begin().bind(static_cast<std::int64_t>(row));
        return all_of<ports::step_record>(asked, [&] { return record_in(asked, 0); });
    });
}

result<ports::row_work> run_reader::work_of(std::uint64_t row) {
    return ask<ports::row_work>([row](sqlite_database& database) -> result<ports::row_work> {
        ports::row_work work;
        HEDDLE_TRY(
            sqlite_statement noted,
            database.prepare("SELECT attempts, duration, 1 AS place FROM ends WHERE row = ?1 "
                             "UNION ALL SELECT attempts, duration, 2 FROM work "
                             "WHERE row = ?1 ORDER BY place LIMIT 1"));
        // The end is there as long as it is not written that the row goes on.
        noted.begin().bind(static_cast<std::int64_t>(row));
        HEDDLE_TRY(const bool there, noted.step());
        if (there) {
            work.attempts = static_cast<std::uint32_t>(noted.number(0));
            work.duration_ms = noted.number(1);
        }
        HEDDLE_TRY(sqlite_statement clock,
                   database.prepare("SELECT max(at), (SELECT before FROM clocks WHERE row = ?1) "
                                    "FROM records WHERE row = ?1 AND kind NOT IN (10, 11, 13)"));
        clock.begin().bind(static_cast<std::int64_t>(row));
        HEDDLE_TRY(const bool any, clock.step());
        if (any) {
            // A process that was killed has noted nothing but its records, whose clock has begun
            // with this version of the program.
            const auto recorded =
                clock.number(1) + static_cast<std::int64_t>(std::ceil(clock.real(0) * 1000));
            work.duration_ms = std::max(work.duration_ms, recorded);
        }
        return work;
    });
}

result<std::vector<end_place>> run_reader::last_ends(std::size_t count) {
    using places = std::vector<end_place>;
    return ask<places>([count](sqlite_database& database) -> result<places> {
        HEDDLE_TRY(const bool is_numbered, has_numbered_ends(database));
        HEDDLE_TRY(
            sqlite_statement asked,
            database.prepare(
                is_numbered ? "SELECT row, ended FROM ends ORDER BY ended DESC, row DESC LIMIT ?"
                            : "SELECT row, 0 FROM ends ORDER BY row DESC LIMIT ?"));
        asked.begin().bind(limited(count));
        HEDDLE_TRY(places all, all_of<end_place>(asked, [&] { return place_in(asked); }));
        std::reverse(all.begin(), all.end());
        return all;
    });
}

result<std::vector<end_place>> run_reader::ends_after(std::uint64_t number, std::size_t count) {
    using places = std::vector<end_place>;
    return ask<places>([=](sqlite_database& database) -> result<places> {
        HEDDLE_TRY(const bool is_numbered, has_numbered_ends(database));
        if (!is_numbered) return places();
        HEDDLE_TRY(sqlite_statement asked,
                   database.prepare("SELECT row, ended FROM ends WHERE ended > ? "
                                    "ORDER BY ended LIMIT ?"));
        asked.begin().bind(limited(number)).bind(limited(count));
        return all_of<end_place>(asked, [&] { return place_in(asked); });
    });
}

result<std::vector<row_records>> run_reader::rows_with_open_requests(std::uint64_t first,
                                                                     std::size_t count) {
    using found = std::vector<row_records>;
    return ask<found>([=](sqlite_database& database) -> result<found> {
        // A million rows may have begun and wait for batches: most have nothing that is open.
        HEDDLE_TRY(
            sqlite_statement asked,
            database.prepare(
                "WITH open AS (SELECT row FROM rows WHERE row >= ? AND status = 1 AND EXISTS "
                "(SELECT 1 FROM records AS sent WHERE sent.row = rows.row AND sent.kind = 7 "
                "AND NOT EXISTS (SELECT 1 FROM records AS step WHERE step.row = sent.row AND "
                "step.seq > sent.seq AND step.kind IN (1, 6) AND step.path = sent.path)) "
                "ORDER BY row LIMIT ?) "
                "SELECT records.row, kind, path, content, at, name, requests, input_tokens, "
                "output_tokens, cost, unpriced, estimated, "
                "CASE kind WHEN 7 THEN body END, seq "
                "FROM open CROSS JOIN records ON records.row = open.row "
                "ORDER BY records.row, seq"));
        asked.begin().bind(limited(first)).bind(limited(count));
        found all;
        for (;;) {
            HEDDLE_TRY(const bool there, asked.step());
            if (!there) return all;
            const auto row = static_cast<std::uint64_t>(asked.number(0));
            if (all.empty() || all.back().row != row) all.push_back({row, {}});
            HEDDLE_TRY(ports::step_record record, record_in(asked, 1));
            all.back().records.push_back(std::move(record));
        }
    });
}

result<std::vector<std::uint64_t>> run_reader::begun_rows_with(const std::string& name,
                                                               std::uint64_t first,
                                                               std::size_t count) {
    using numbers = std::vector<std::uint64_t>;
    return ask<numbers>([&](sqlite_database& database) -> result<numbers> {
        HEDDLE_TRY(sqlite_statement asked,
                   database.prepare("SELECT row FROM rows WHERE row >= ? AND status = 1 AND EXISTS "
                                    "(SELECT 1 FROM records WHERE records.row = rows.row AND "
                                    "kind IN (2, 12) AND name = ?) ORDER BY row LIMIT ?"));
        asked.begin().bind(limited(first)).bind_text(name).bind(limited(count));
        return all_of<std::uint64_t>(asked, [&]() -> result<std::uint64_t> {
            return static_cast<std::uint64_t>(asked.number(0));
        });
    });
}

result<std::vector<ports::row_end>> run_reader::ends_to_emit(std::uint64_t first,
                                                             std::size_t count) {
    using ends = std::vector<ports::row_end>;
    return ask<ends>([&](sqlite_database& database) -> result<ends> {
        HEDDLE_TRY(sqlite_statement asked,
                   database.prepare("SELECT rows.row, rows.status, " END_COLUMNS
                                    " FROM rows JOIN ends ON ends.row = rows.row "
                                    "WHERE rows.row >= ? AND status > 1 AND emitted = 0 "
                                    "ORDER BY rows.row LIMIT ?"));
        asked.begin().bind(limited(first)).bind(limited(count));
        ends all;
        for (std::size_t bytes = 0; bytes < max_bytes_at_once;) {
            HEDDLE_TRY(const bool there, asked.step());
            if (!there) break;
            HEDDLE_TRY(ports::row_end end,
                       end_in(asked, static_cast<std::uint64_t>(asked.number(0)),
                              static_cast<ports::row_status>(asked.number(1)), 2, true));
            bytes += end.value_json.size() + end.error_json.size();
            all.push_back(std::move(end));
        }
        return all;
    });
}

result<std::vector<row_failure>> run_reader::failures(std::uint64_t first, std::size_t count,
                                                      ports::row_status status) {
    using found = std::vector<row_failure>;
    return ask<found>([&](sqlite_database& database) -> result<found> {
        HEDDLE_TRY(
            sqlite_statement asked,
            database.prepare("SELECT rows.row, status, emitted, id_digest, content_digest, "
                             "id, error FROM rows JOIN ends ON ends.row = rows.row "
                             "LEFT JOIN texts ON texts.row = rows.row "
                             "WHERE rows.row >= ? AND status = ? ORDER BY rows.row LIMIT ?"));
        asked.begin().bind(limited(first)).bind(static_cast<std::int64_t>(status));
        asked.bind(limited(count));
        found all;
        for (std::size_t bytes = 0; bytes < max_bytes_at_once;) {
            HEDDLE_TRY(const bool there, asked.step());
            if (!there) break;
            row_failure one;
            one.known = known_in(asked);
            one.id = asked.bytes(5);
            HEDDLE_TRY(one.error_json, unpack_text(asked.bytes(6)));
            bytes += one.error_json.size();
            all.push_back(std::move(one));
        }
        return all;
    });
}

result<std::vector<manifest_entry>> run_reader::manifest() {
    using entries = std::vector<manifest_entry>;
    return ask<entries>([](sqlite_database& database) -> result<entries> {
        HEDDLE_TRY(sqlite_statement asked,
                   database.prepare("SELECT name, digest, text FROM sources ORDER BY name"));
        return all_of<manifest_entry>(asked, [&]() -> result<manifest_entry> {
            manifest_entry entry{std::string(asked.bytes(0)), std::string(asked.bytes(1)), {}};
            HEDDLE_TRY(entry.text, unpack_text(asked.bytes(2)));
            return entry;
        });
    });
}

result<std::vector<run_row>> run_reader::rows(std::uint64_t first, std::size_t count,
                                              std::optional<ports::row_status> status, bool whole) {
    using found = std::vector<run_row>;
    return ask<found>([&](sqlite_database& database) -> result<found> {
        HEDDLE_TRY(sqlite_statement asked,
                   database.prepare("SELECT rows.row, status, emitted, id_digest, content_digest, "
                                    "id, text, ends.row, " END_COLUMNS
                                    " FROM rows LEFT JOIN texts ON texts.row = rows.row "
                                    "LEFT JOIN ends ON ends.row = rows.row "
                                    "WHERE rows.row >= ? AND (? = 0 OR status = ?) "
                                    "ORDER BY rows.row LIMIT ?"));
        const std::int64_t wanted = status ? static_cast<std::int64_t>(*status) : 0;
        asked.begin().bind(limited(first)).bind(wanted).bind(wanted).bind(limited(count));
        return all_of<run_row>(asked, [&]() -> result<run_row> {
            run_row row;
            row.known = known_in(asked);
            row.id = asked.bytes(5);
            HEDDLE_TRY(row.text, unpack_text(asked.bytes(6)));
            if (asked.is_null(7)) return row;
            HEDDLE_TRY(row.ended, end_in(asked, row.known.row, row.known.status, 8, whole));
            return row;
        });
    });
}

result<row_sample> run_reader::sample_rows() {
    return ask<row_sample>([](sqlite_database& database) -> result<row_sample> {
        // Records of earlier versions (spares and the like) are left out. What has no response
        // counts where no row is done: rows that have failed may cost nothing else.
        HEDDLE_TRY(sqlite_statement asked,
                   database.prepare("WITH picked AS (SELECT row FROM rows "
                                    "WHERE status = ?1 ORDER BY row DESC LIMIT 1000) "
                                    "SELECT (SELECT count(*) FROM picked), sum(requests), "
                                    "sum(input_tokens), sum(output_tokens), sum(cost), "
                                    "sum(unpriced), max(estimated) FROM records "
                                    "WHERE row IN picked AND (kind IN (1, 2, 6, 12) "
                                    "OR (kind = 8 AND ?1 = ?2))"));
        row_sample found;
        for (const ports::row_status status :
             {ports::row_status::done, ports::row_status::failed}) {
            asked.begin()
                .bind(static_cast<std::int64_t>(status))
                .bind(static_cast<std::int64_t>(ports::row_status::failed));
            HEDDLE_TRY(const bool there, asked.step());
            if (!there) continue;
            found.rows = static_cast<std::uint64_t>(asked.number(0));
            if (found.rows == 0) continue;
            found.spent = spending_in(asked, 1);
            break;
        }
        asked.begin();
        HEDDLE_TRY(sqlite_statement longest,
                   database.prepare("SELECT max(output_tokens) FROM records WHERE row IN "
                                    "(SELECT row FROM rows ORDER BY row DESC LIMIT 1000) "
                                    "AND kind IN (2, 10, 12, 13)"));
        longest.begin();
        HEDDLE_TRY(const bool any, longest.step());
        if (any) found.longest_output = longest.number(0);
        longest.begin();
        return found;
    });
}

result<std::vector<content_record>> run_reader::records_with(ports::digest128 content) {
    using records = std::vector<content_record>;
    return ask<records>([&](sqlite_database& database) -> result<records> {
        HEDDLE_TRY(sqlite_statement asked,
                   database.prepare("SELECT row, " RECORD_COLUMNS " FROM records WHERE content = ? "
                                    "ORDER BY row, seq"));
        std::string buffer;
        asked.begin();
        bind_digest(asked, content, buffer);
        return all_of<content_record>(asked, [&]() -> result<content_record> {
            content_record found{static_cast<std::uint64_t>(asked.number(0)), {}};
            HEDDLE_TRY(found.record, record_in(asked, 1));
            return found;
        });
    });
}

} // namespace heddle::store
