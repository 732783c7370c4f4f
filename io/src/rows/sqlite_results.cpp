#include "rows/sqlite_results.hpp"

#include "rows/text_results.hpp"
#include "store/sqlite_database.hpp"

#include <heddle/fs/descriptor.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

namespace heddle::rows {

namespace {

using store::sqlite_database;
using store::sqlite_statement;

constexpr std::int64_t our_application = 0x68646c72; // "hdlr"

constexpr const char* layout = R"(
    CREATE TABLE IF NOT EXISTS results (
        id TEXT PRIMARY KEY NOT NULL,
        row INTEGER NOT NULL,
        status TEXT NOT NULL,
        value TEXT,
        error TEXT,
        requests INTEGER NOT NULL,
        input_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL,
        cost_usd REAL,
        attempts INTEGER NOT NULL,
        duration_ms INTEGER NOT NULL,
        maybe_paid INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS run (id TEXT NOT NULL);
)";

// An empty string means no value; the cost is text, which the column converts to a number. A row
// without a result never replaces one with a value, and a rejected row never the failure of an
// earlier one: it may be another row with that id, which was rejected for that.
constexpr std::string_view upsert = R"(
    INSERT INTO results VALUES
        (?, ?, ?, nullif(?, ''), nullif(?, ''), ?, ?, ?, nullif(?, ''), ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET
        row = excluded.row, status = excluded.status, value = excluded.value,
        error = excluded.error, requests = excluded.requests,
        input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
        cost_usd = excluded.cost_usd, attempts = excluded.attempts,
        duration_ms = excluded.duration_ms, maybe_paid = excluded.maybe_paid
    WHERE excluded.status = 'done' OR (results.status <> 'done' AND
        (excluded.status = 'failed' OR excluded.row <= results.row)))";

class sqlite_results final : public result_writer {
public:
    sqlite_results(std::string file, fs::descriptor lock, sqlite_database database)
        : file_(std::move(file)), lock_(std::move(lock)), database_(std::move(database)) {}

    result<void> prepare() {
        HEDDLE_TRY(insert_, database_.prepare(upsert));
        return count();
    }

    result<void> write(std::span<const row_result> batch) override {
        if (failure_) return *failure_;
        auto written = write_all(batch);
        if (written) return written;
        failure_ = in_file(file_, written.error());
        [[maybe_unused]] const auto undone = database_.run("ROLLBACK"); // perhaps done by SQLite
        return *failure_;
    }
    /// Every transaction is on the disk when it ends.
    result<void> flush() override {
        if (failure_) return *failure_;
        if (database_.has_its_name()) return {};
        failure_ = error(errc::io_error, file_ + ": the file was deleted, renamed or replaced")
                       .with_hint("put it back and run the same command again");
        return *failure_;
    }
    bool keeps_one_per_id() const noexcept override { return true; }
    std::uint64_t size() const noexcept override { return size_; }

    static error in_file(const std::string& file, const error& failure) {
        return error(failure.code(), file + ": " + failure.message())
            .with_hint(failure.info().hint);
    }

private:
    result<void> write_all(std::span<const row_result> batch) {
        HEDDLE_CHECK(database_.run("BEGIN IMMEDIATE"));
        for (const row_result& one : batch) {
            const ports::row_end& end = one.end;
            std::string cost;
            if (end.spent.unpriced == 0 || end.spent.cost_usd != 0)
                append_usd(cost, end.spent.cost_usd);
            insert_.begin()
                .bind_text(one.id)
                .bind(static_cast<std::int64_t>(end.row))
                .bind_text(word_of(end.status))
                .bind_text(end.value_json)
                .bind_text(end.error_json)
                .bind(std::int64_t{end.spent.requests})
                .bind(end.spent.input_tokens)
                .bind(end.spent.output_tokens)
                .bind_text(cost)
                .bind(std::int64_t{end.attempts})
                .bind(end.duration_ms)
                .bind(std::int64_t{end.maybe_paid});
            HEDDLE_TRY([[maybe_unused]] const bool more, insert_.step());
        }
        insert_.begin();
        HEDDLE_CHECK(database_.run("COMMIT"));
        return count();
    }
    /// Rows are never deleted from the table, so that the last number is their count, at once.
    result<void> count() {
        HEDDLE_TRY(const std::int64_t last, database_.number_of("SELECT max(rowid) FROM results"));
        size_ = static_cast<std::uint64_t>(last);
        return {};
    }

    std::string file_;
    fs::descriptor lock_; ///< released after the database: closing it ends the locks of SQLite
    sqlite_database database_;
    sqlite_statement insert_;
    std::uint64_t size_ = 0;
    std::optional<error> failure_;
};

/// Notes whose results the table has; refuses one of another run. Result: whether it was noted
/// before that they are of this run.
result<bool> set_run(sqlite_database& database, const output_target& target) {
    if (target.start == output_start::at_size && !target.run.empty()) {
        HEDDLE_TRY(sqlite_statement asked, database.prepare("SELECT id FROM run"));
        HEDDLE_TRY(const bool there, asked.step());
        if (there && asked.bytes(0) != target.run)
            return error(errc::invalid_argument, "the results are those of another run")
                .with_hint("put the file of this run back, or start a new run");
        if (there) return true;
    }
    HEDDLE_CHECK(database.run("DELETE FROM run"));
    if (target.run.empty()) return false;
    HEDDLE_TRY(sqlite_statement noted, database.prepare("INSERT INTO run (id) VALUES (?)"));
    HEDDLE_CHECK(done(noted.begin().bind_text(target.run)));
    return false;
}

/// The number of its tables. Errors: invalid_argument, for a database that is not ours.
result<std::int64_t> count_tables(sqlite_database& database) {
    HEDDLE_TRY(const std::int64_t application, database.number_of("PRAGMA application_id"));
    HEDDLE_TRY(const std::int64_t tables, database.number_of("SELECT count(*) FROM sqlite_master"));
    if (tables != 0 && application != our_application)
        return error(errc::invalid_argument, "a database of something else")
            .with_hint("choose another file for the results");
    return tables;
}

result<void> set_up(sqlite_database& database, const output_target& target) {
    HEDDLE_CHECK(database.run("PRAGMA synchronous = FULL"));
    HEDDLE_TRY(const std::int64_t tables, count_tables(database));
    if (tables != 0 && target.start == output_start::fresh) {
        HEDDLE_TRY(const std::int64_t rows, database.number_of("SELECT count(*) FROM results"));
        if (rows != 0 && !target.force)
            return error(errc::invalid_argument, "the file exists and does not belong to this run")
                .with_hint("choose another file, or replace it with --force");
        HEDDLE_CHECK(database.run("DELETE FROM results"));
    }
    const std::string mark = "PRAGMA application_id = " + std::to_string(our_application);
    HEDDLE_CHECK(database.run("BEGIN IMMEDIATE"));
    HEDDLE_CHECK(database.run(layout));
    HEDDLE_CHECK(database.run(mark.c_str()));
    HEDDLE_TRY(const bool was_own, set_run(database, target));
    // As a file of text that is cut to nothing: all results are written again.
    if (was_own && target.size == 0) HEDDLE_CHECK(database.run("DELETE FROM results"));
    return database.run("COMMIT");
}

/// Two processes that write one table would each drop what the other has written.
result<fs::descriptor> locked(const std::string& file) {
    fs::descriptor lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600));
    if (!lock.open()) {
        return error(errc::io_error, file + ": " + std::strerror(errno))
            .with_hint("the file and its folder must be writable");
    }
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return error(errc::io_error, file + ": another process writes this file")
            .with_hint("wait until it has ended, or choose another file");
    }
    return lock;
}

constexpr const char* take_over = R"(
    DELETE FROM main.results;
    INSERT INTO main.results (rowid, id, row, status, value, error, requests, input_tokens,
            output_tokens, cost_usd, attempts, duration_ms, maybe_paid)
        SELECT rowid, id, row, status, value, error, requests, input_tokens, output_tokens,
            cost_usd, attempts, duration_ms, maybe_paid FROM fresh.results ORDER BY rowid;
    DELETE FROM main.run;
    INSERT INTO main.run (id) SELECT id FROM fresh.run;
)";

result<void> take_results(sqlite_database& database, const std::string& fresh) {
    HEDDLE_CHECK(database.run("PRAGMA synchronous = FULL"));
    HEDDLE_CHECK(count_tables(database));
    {
        HEDDLE_TRY(sqlite_statement attach, database.prepare("ATTACH ? AS fresh"));
        HEDDLE_CHECK(done(attach.begin().bind_text(fresh)));
    }
    const std::string mark = "PRAGMA main.application_id = " + std::to_string(our_application);
    HEDDLE_CHECK(database.run("BEGIN IMMEDIATE"));
    HEDDLE_CHECK(database.run(layout));
    HEDDLE_CHECK(database.run(mark.c_str()));
    HEDDLE_CHECK(database.run(take_over));
    return database.run("COMMIT"); // else the transaction ends with the connection
}

} // namespace

bool has_sqlite_results(const std::string& file, std::uint64_t size) {
    auto database = sqlite_database::open(file, sqlite_database::if_absent::fail);
    if (!database) return false;
    const auto application = database->number_of("PRAGMA application_id");
    if (!application || *application != our_application) return false;
    const auto last = database->number_of("SELECT max(rowid) FROM results");
    return last && static_cast<std::uint64_t>(*last) == size;
}

result<void> replace_sqlite_results(const std::string& file, const std::string& fresh) {
    // The locks are released after the databases: closing a file ends the locks of SQLite on it.
    HEDDLE_TRY(const fs::descriptor lock, locked(file));
    HEDDLE_TRY(const fs::descriptor fresh_lock, locked(fresh));
    auto database = sqlite_database::open(file);
    if (!database) return sqlite_results::in_file(file, database.error());
    if (auto taken = take_results(*database, fresh); !taken)
        return sqlite_results::in_file(file, taken.error());
    return {};
}

result<std::unique_ptr<result_writer>> open_sqlite_results(const result_output& output) {
    const output_target& target = output.target;
    const std::string& file = target.file;
    if (file == "-")
        return error(errc::invalid_argument, "a database cannot be written to standard output")
            .with_hint("name a file");
    struct stat about {};
    if (::stat(file.c_str(), &about) == 0) {
        if (!S_ISREG(about.st_mode))
            return error(errc::invalid_argument, file + ": not a regular file");
    } else if (target.start == output_start::at_size && target.size != 0) {
        return error(errc::io_error, file + ": the results of this run are not there any more")
            .with_hint("put the file back, or start a new run");
    }
    HEDDLE_TRY(fs::descriptor lock, locked(file));
    auto opened = sqlite_database::open(file);
    if (!opened) return sqlite_results::in_file(file, opened.error());
    if (auto done = set_up(*opened, target); !done)
        return sqlite_results::in_file(file, done.error());
    auto results = std::make_unique<sqlite_results>(file, std::move(lock), std::move(*opened));
    if (auto done = results->prepare(); !done) return sqlite_results::in_file(file, done.error());
    if (target.start == output_start::at_size && results->size() < target.size)
        return error(errc::invalid_argument,
                     file + ": the table has " + std::to_string(results->size()) +
                         " results; this run wrote " + std::to_string(target.size))
            .with_hint("it was changed or replaced; put it back, or start a new run");
    return std::unique_ptr<result_writer>(std::move(results));
}

} // namespace heddle::rows
