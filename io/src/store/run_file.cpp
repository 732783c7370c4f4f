#include "store/run_file.hpp"

#include "store/parking_table.hpp"

#include <sys/stat.h>

namespace heddle::store {

namespace {

constexpr std::int64_t our_application = 0x68646c72; // "hdlr"
/// 5: functions of the program name the step that they ran in, and failures what they have cost and
/// whose time was over. 4: records may be `unanswered`. 3: calls are parked, and records may be
/// `tool` or `refused`. 2: rows.emitted may be `outdated`, records have further kinds, and meta has
/// output_phase.
constexpr std::int64_t layout_version = 6;
constexpr std::int64_t oldest_version = 1; ///< that this code reads as it is

// Rows are narrow, so that a million of them are read at once when a run begins again; what is
// long about them has tables of its own.
constexpr const char* layout = R"(
    CREATE TABLE meta (name TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID;
    CREATE TABLE sources (
        name TEXT PRIMARY KEY NOT NULL,
        digest TEXT NOT NULL,
        text BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE rows (
        row INTEGER PRIMARY KEY,
        status INTEGER NOT NULL,
        emitted INTEGER NOT NULL, -- 1: its result is in the output; 2: the row is outdated
        id_digest BLOB NOT NULL,
        content_digest BLOB NOT NULL);
    CREATE INDEX rows_to_emit ON rows (row) WHERE status > 1 AND emitted = 0;
    CREATE TABLE texts (row INTEGER PRIMARY KEY, id TEXT NOT NULL, text BLOB NOT NULL);
    CREATE TABLE ends (
        row INTEGER PRIMARY KEY,
        attempts INTEGER NOT NULL,
        duration INTEGER NOT NULL,
        maybe_paid INTEGER NOT NULL,
        requests INTEGER NOT NULL,
        input_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL,
        cost REAL NOT NULL,
        unpriced INTEGER NOT NULL,
        estimated INTEGER NOT NULL,
        value BLOB NOT NULL,
        error BLOB NOT NULL,
        ended INTEGER); -- ascending in the order of the ends
    CREATE TABLE records (
        row INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        path BLOB NOT NULL,
        content BLOB,
        at REAL NOT NULL,
        name TEXT NOT NULL,
        requests INTEGER NOT NULL,
        input_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL,
        cost REAL NOT NULL,
        unpriced INTEGER NOT NULL,
        estimated INTEGER NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (row, seq)) WITHOUT ROWID;
    INSERT INTO meta (name, value) VALUES ('begun', 0), ('done', 0), ('failed', 0),
        ('rejected', 0), ('maybe_paid', 0), ('requests', 0), ('input_tokens', 0), ('output_tokens', 0),
        ('cost', 0.0), ('unpriced', 0), ('estimated', 0), ('emitted_size', 0);
)";

/// When rows were worked on last, where somebody notes it; what rows have taken before their last
/// end, and before their clocks began again with another version of the program; the order of the
/// ends. Versions that do not know them leave them alone.
constexpr const char* additions = R"(
    CREATE TABLE IF NOT EXISTS times (row INTEGER PRIMARY KEY, at INTEGER NOT NULL);
    CREATE INDEX IF NOT EXISTS times_by_age ON times (at);
    CREATE TABLE IF NOT EXISTS work (
        row INTEGER PRIMARY KEY,
        attempts INTEGER NOT NULL,
        duration INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS clocks (row INTEGER PRIMARY KEY, before INTEGER NOT NULL);
    CREATE INDEX IF NOT EXISTS ends_in_order ON ends (ended);
)";

/// Whether the file is empty; an error when it is not ours.
result<bool> is_empty(sqlite_database& database) {
    HEDDLE_TRY(const std::int64_t owner, database.number_of("PRAGMA application_id"));
    HEDDLE_TRY(const std::int64_t version, database.number_of("PRAGMA user_version"));
    if (owner == our_application) {
        if (version >= oldest_version && version <= layout_version) return false;
        if (version > layout_version) {
            return error(errc::io_error, "it was made by a newer version of heddle (layout " +
                                             std::to_string(version) + ")")
                .with_hint("continue the run with that version, or begin it in another folder");
        }
        return error(errc::io_error, "it was made by an older version of heddle (layout " +
                                         std::to_string(version) + ")")
            .with_hint("finish the run with that version, or begin it in another folder");
    }
    HEDDLE_TRY(const std::int64_t tables, database.number_of("SELECT count(*) FROM sqlite_schema"));
    if (owner == 0 && version == 0 && tables == 0) return true;
    return error(errc::io_error, "this is the database of another program")
        .with_hint("name another folder");
}

result<void> make_tables(sqlite_database& database) {
    // One transaction: whoever is killed here leaves an empty file.
    const std::string all = std::string("BEGIN IMMEDIATE;") + layout + parking_layout + additions +
                            "PRAGMA application_id = " + std::to_string(our_application) +
                            "; PRAGMA user_version = " + std::to_string(layout_version) +
                            "; COMMIT";
    auto outcome = database.run(all.c_str());
    if (!outcome) (void)database.run("ROLLBACK");
    return outcome;
}

[[nodiscard]] bool exists(const std::string& file) {
    struct stat about {};
    return ::stat(file.c_str(), &about) == 0;
}

error no_run() {
    return error(errc::io_error, "there is no run").with_hint("check the name of the folder");
}

error no_journal() {
    return error(errc::io_error, "the journal is missing or empty")
        .with_hint(
            "the run cannot continue without it: restore it from a copy; to run all rows again, "
            "name another folder and another output");
}

result<sqlite_database> opened_to_write(const run_store_options& options) {
    const std::string file = file_of_run(options.folder);
    const bool there = exists(file);
    if (!there && options.opening == run_opening::resume) return no_journal();
    HEDDLE_TRY(sqlite_database database, sqlite_database::open(file));
    HEDDLE_TRY(const bool empty, is_empty(database));
    if (!empty && options.opening == run_opening::create) {
        return error(errc::io_error, "there is a run already")
            .with_hint("resume it, or name another folder");
    }
    if (empty && options.opening == run_opening::resume) return no_journal();
    const char* settings = options.durability == run_durability::off
                               ? "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF"
                               : "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL";
    HEDDLE_CHECK(database.run(settings));
    HEDDLE_CHECK(
        database.run("PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -16384;"
                     "PRAGMA journal_size_limit = 67108864"));
    if (options.max_pages != 0) {
        const std::string limit = "PRAGMA max_page_count = " + std::to_string(options.max_pages);
        HEDDLE_CHECK(database.run(limit.c_str()));
    }
    if (empty) {
        HEDDLE_CHECK(make_tables(database));
    } else {
        HEDDLE_TRY(const bool is_numbered, has_numbered_ends(database));
        if (!is_numbered) HEDDLE_CHECK(database.run("ALTER TABLE ends ADD COLUMN ended INTEGER"));
        const std::string version =
            parking_layout +
            (additions + ("PRAGMA user_version = " + std::to_string(layout_version)));
        HEDDLE_CHECK(database.run(version.c_str()));
    }
    return database;
}

result<sqlite_database> ready_to_read(result<sqlite_database> opened) {
    HEDDLE_TRY(sqlite_database database, std::move(opened));
    HEDDLE_TRY(const bool empty, is_empty(database));
    if (empty) return no_run();
    HEDDLE_CHECK(database.run("PRAGMA query_only = ON; PRAGMA cache_size = -8192"));
    return database;
}

result<sqlite_database> opened_to_read(const std::string& file) {
    if (!exists(file)) return no_run();
    auto database = ready_to_read(sqlite_database::open(file, sqlite_database::if_absent::fail));
    if (database || database.error().info().hint != sqlite_database::not_writable_hint)
        return database;
    // SQLite makes files next to a database with a log, which a reader needs only for the log.
    struct stat log {};
    if (::stat((file + "-wal").c_str(), &log) == 0 && log.st_size != 0) {
        return error(errc::io_error,
                     "its last records are in run.db-wal, and nothing can be "
                     "written next to that")
            .with_hint("copy the folder of the run to a place where you can write");
    }
    return ready_to_read(sqlite_database::open_unchanging(file));
}

} // namespace

result<bool> has_numbered_ends(sqlite_database& database) {
    HEDDLE_TRY(
        const std::int64_t columns,
        database.number_of("SELECT count(*) FROM pragma_table_info('ends') WHERE name = 'ended'"));
    return columns != 0;
}

std::string file_of_run(const std::string& folder) { return folder + "/run.db"; }

error in_run(const std::string& folder, error failure) {
    const bool damaged = failure.info().hint == sqlite_database::damaged_hint;
    error named(failure.code(), "run " + file_of_run(folder) + ": " + failure.message());
    return std::move(named).with_hint(
        damaged
            ? "the journal is damaged: restore it from a copy, or begin the run in another folder"
            : failure.info().hint);
}

result<sqlite_database> open_to_write(const run_store_options& options) {
    auto opened = opened_to_write(options);
    if (!opened) return in_run(options.folder, std::move(opened).error());
    return opened;
}

result<sqlite_database> open_to_read(const std::string& folder) {
    auto opened = opened_to_read(file_of_run(folder));
    if (!opened) return in_run(folder, std::move(opened).error());
    return opened;
}

result<run_sums> load_sums(sqlite_database& database) {
    run_sums sums;
    auto& totals = sums.totals;
    HEDDLE_TRY(sqlite_statement asked, database.prepare("SELECT name, value FROM meta"));
    for (;;) {
        HEDDLE_TRY(const bool there, asked.step());
        if (!there) return sums;
        const std::string name(asked.bytes(0));
        const auto number = static_cast<std::uint64_t>(asked.number(1));
        if (name == "begun") totals.begun = number;
        else if (name == "done") totals.done = number;
        else if (name == "failed") totals.failed = number;
        else if (name == "rejected") totals.rejected = number;
        else if (name == "maybe_paid") totals.maybe_paid = number;
        else if (name == "requests") totals.spent.requests = static_cast<std::uint32_t>(number);
        else if (name == "input_tokens") totals.spent.input_tokens = asked.number(1);
        else if (name == "output_tokens") totals.spent.output_tokens = asked.number(1);
        else if (name == "cost") totals.spent.cost_usd = asked.real(1);
        else if (name == "unpriced") totals.spent.unpriced = static_cast<std::uint32_t>(number);
        else if (name == "estimated") totals.spent.estimated = number != 0;
        else if (name == "emitted_size") sums.emitted_size = number;
        else if (name == "ended") sums.ended = number;
        else if (name == "output_phase") sums.phase = static_cast<output_phase>(number);
    }
}

void bind_digest(sqlite_statement& statement, const ports::digest128& digest, std::string& buffer) {
    buffer.clear();
    for (const std::uint64_t half : {digest.high, digest.low}) {
        for (int shift = 56; shift >= 0; shift -= 8)
            buffer.push_back(static_cast<char>(half >> shift));
    }
    statement.bind(std::string_view(buffer));
}

ports::digest128 digest_in(std::string_view bytes) noexcept {
    ports::digest128 built;
    if (bytes.size() != 16) return built;
    for (std::size_t i = 0; i < 16; ++i) {
        std::uint64_t& half = i < 8 ? built.high : built.low;
        half = half << 8 | static_cast<unsigned char>(bytes[i]);
    }
    return built;
}

void bind_spending(sqlite_statement& statement, const ports::step_spending& spent) {
    statement.bind(std::int64_t{spent.requests})
        .bind(spent.input_tokens)
        .bind(spent.output_tokens)
        .bind_real(spent.cost_usd)
        .bind(std::int64_t{spent.unpriced})
        .bind(std::int64_t{spent.estimated});
}

ports::step_spending spending_in(const sqlite_statement& statement, int column) {
    ports::step_spending spent;
    spent.requests = static_cast<std::uint32_t>(statement.number(column));
    spent.input_tokens = statement.number(column + 1);
    spent.output_tokens = statement.number(column + 2);
    spent.cost_usd = statement.real(column + 3);
    spent.unpriced = static_cast<std::uint32_t>(statement.number(column + 4));
    spent.estimated = statement.number(column + 5) != 0;
    return spent;
}

} // namespace heddle::store
