#include "store/response_table.hpp"

#include "store/sha256.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace heddle::store {

namespace {

constexpr std::int64_t our_application = 0x68646c63; // "hdlc"
constexpr std::int64_t layout_version = 1;
constexpr std::int64_t touch_after = 3600; ///< seconds: the time of use is only roughly kept
constexpr std::uint64_t refill_percent = 90;
using std::chrono::milliseconds;
/// For a lock that keeps others from reading, which is rare. A call of a model waits as long.
constexpr milliseconds reading_wait{1'000};
constexpr milliseconds writing_wait{10'000};
constexpr std::chrono::seconds trouble_time{5};

constexpr const char* journal = "PRAGMA synchronous = NORMAL; PRAGMA journal_mode = WAL";

constexpr const char* layout = R"(
    CREATE TABLE IF NOT EXISTS responses (
        key BLOB PRIMARY KEY NOT NULL,
        provider TEXT NOT NULL,
        model TEXT NOT NULL,
        created INTEGER NOT NULL,
        used INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        body BLOB NOT NULL);
    CREATE INDEX IF NOT EXISTS responses_by_use ON responses (used);
    CREATE INDEX IF NOT EXISTS responses_by_age ON responses (created);
)";

std::string_view view_of(const sha256::digest& key) {
    return {reinterpret_cast<const char*>(key.data()), key.size()};
}

std::int64_t bytes_of(std::string_view key, const ports::stored_response& response) {
    return static_cast<std::int64_t>(key.size() + response.body.size() + response.provider.size() +
                                     response.model.size());
}

std::chrono::system_clock::time_point time_of(std::int64_t seconds) {
    return std::chrono::system_clock::time_point(std::chrono::seconds(seconds));
}

} // namespace

error response_table::in_file(error failure) const {
    std::string message = "response cache " + options_.file + ": " + failure.message();
    error problem = error(failure.code(), std::move(message)).with_hint(failure.info().hint);
    if (failure.info().retryable)
        problem = std::move(problem).with_retryable(*failure.info().retryable);
    return problem;
}

std::int64_t response_table::now() const {
    return std::chrono::duration_cast<std::chrono::seconds>(options_.clock().time_since_epoch())
        .count();
}

namespace {

/// What a file is to us.
enum class file_state : std::uint8_t {
    empty,
    unmarked, ///< it has the tables, and nothing else: earlier versions marked it in a second step
    ours
};

/// Looks whose file it is, inside of a transaction. Errors: it is not ours.
result<file_state> state_of(sqlite_database& database) {
    HEDDLE_TRY(const std::int64_t version, database.number_of("PRAGMA user_version"));
    HEDDLE_TRY(const std::int64_t owner, database.number_of("PRAGMA application_id"));
    if (owner == our_application && version == layout_version) return file_state::ours;
    HEDDLE_TRY(
        const std::int64_t foreign,
        database.number_of("SELECT count(*) FROM sqlite_schema WHERE tbl_name <> 'responses'"));
    const bool fresh = owner == 0 && version == 0 && foreign == 0;
    if (!fresh && owner != our_application) {
        return error(errc::io_error, "this is the database of another program")
            .with_hint("name another file");
    }
    if (!fresh) {
        return error(errc::io_error,
                     "it was made by another version (layout " + std::to_string(version) + ")")
            .with_hint("name another file, or delete this one, and a new one is created");
    }
    HEDDLE_TRY(const std::int64_t tables,
               database.number_of("SELECT count(*) FROM sqlite_schema WHERE name = 'responses'"));
    return tables == 0 ? file_state::empty : file_state::unmarked;
}

/// The same, without keeping others from writing.
result<file_state> look_at(sqlite_database& database) {
    HEDDLE_CHECK(database.run("BEGIN"));
    auto state = state_of(database);
    (void)database.run("ROLLBACK");
    return state;
}

result<void> make_tables(sqlite_database& database) {
    // Another process may have been faster.
    HEDDLE_TRY(const file_state state, state_of(database));
    if (state == file_state::ours) return {};
    HEDDLE_CHECK(database.run(layout));
    const std::string mark = "PRAGMA application_id = " + std::to_string(our_application) +
                             "; PRAGMA user_version = " + std::to_string(layout_version);
    return database.run(mark.c_str());
}

/// Makes the tables in a new file. Inside of one transaction: of several processes that come at
/// once the first does it, and one that is killed leaves nothing half done.
result<void> claim(sqlite_database& database) {
    HEDDLE_CHECK(database.run("BEGIN IMMEDIATE"));
    if (auto outcome = make_tables(database); !outcome) {
        (void)database.run("ROLLBACK");
        return outcome;
    }
    return database.run("COMMIT");
}

} // namespace

result<std::optional<response_table::open_table>> response_table::open(purpose what,
                                                                       patience wait) const {
    const bool reads = what == purpose::reading;
    std::error_code unknown;
    if (reads && !std::filesystem::exists(options_.file, unknown) && !unknown)
        return std::optional<open_table>(); // whoever only looks makes no file
    HEDDLE_TRY(sqlite_database database,
               sqlite_database::open(options_.file, reads ? sqlite_database::if_absent::fail
                                                          : sqlite_database::if_absent::make));
    database.wait_when_busy(wait.limit, wait.abandoned);
    HEDDLE_TRY(const file_state state, look_at(database));
    if (reads) {
        // The first response makes the tables: looking needs no lock of those who write.
        if (state == file_state::empty) return std::optional<open_table>();
    } else {
        if (state != file_state::ours) HEDDLE_CHECK(claim(database));
        // The switch does not wait for other processes. Without it all works, only slower, and the
        // next one that opens the file makes it.
        (void)database.run(journal);
    }
    HEDDLE_TRY(auto find, database.prepare("SELECT created, used, provider, model, body "
                                           "FROM responses WHERE key = ?"));
    HEDDLE_TRY(auto touch, database.prepare("UPDATE responses SET used = ? WHERE key = ?"));
    HEDDLE_TRY(auto size_of, database.prepare("SELECT bytes FROM responses WHERE key = ?"));
    HEDDLE_TRY(auto keep, database.prepare("INSERT OR REPLACE INTO responses (key, provider, model,"
                                           " created, used, bytes, body)"
                                           " VALUES (?, ?, ?, ?, ?, ?, ?)"));
    HEDDLE_TRY(auto total, database.prepare("SELECT count(*), coalesce(sum(bytes), 0),"
                                            " min(created), max(created),"
                                            " coalesce(sum(created <= ?), 0) FROM responses"));
    HEDDLE_TRY(auto expire, database.prepare("DELETE FROM responses WHERE created <= ?"));
    HEDDLE_TRY(auto oldest, database.prepare("SELECT key, bytes FROM responses ORDER BY used"));
    HEDDLE_TRY(auto remove, database.prepare("DELETE FROM responses WHERE key = ?"));
    open_table table{std::move(database), std::move(find),  std::move(touch),  std::move(size_of),
                     std::move(keep),     std::move(total), std::move(expire), std::move(oldest),
                     std::move(remove),   std::nullopt};
    return std::optional(std::move(table));
}

result<response_table::open_table*> response_table::opened(purpose what, patience wait) {
    if (table_ && !table_->database.has_its_name()) {
        table_.reset();
        lost_file_ = true;
    }
    if (!table_) {
        auto outcome = open(what, wait);
        if (!outcome) return in_file(std::move(outcome).error());
        if (!*outcome) return nullptr;
        table_.emplace(**std::move(outcome));
    }
    table_->database.wait_when_busy(wait.limit, wait.abandoned);
    return &*table_;
}

result<std::optional<ports::stored_response>> response_table::find(
    std::string_view request, const std::atomic<bool>* abandoned) {
    const turn mine(*this);
    if (trouble_ && std::chrono::steady_clock::now() < trouble_until_) return *trouble_;
    if (abandoned && abandoned->load(std::memory_order_relaxed)) {
        return error::cancelled(cancel_reason::user); // nobody is notified of it
    }
    trouble_.reset();
    const sha256::digest key = sha256().of({request});
    auto found = look_up(view_of(key), {reading_wait, abandoned});
    const bool given_up = abandoned && abandoned->load(std::memory_order_relaxed);
    if (!found && !given_up) {
        trouble_ = found.error();
        trouble_until_ = std::chrono::steady_clock::now() + trouble_time;
    }
    return found;
}

result<std::optional<ports::stored_response>> response_table::look_up(std::string_view key,
                                                                      patience wait) {
    HEDDLE_TRY(open_table * table, opened(purpose::reading, wait));
    if (!table) return std::optional<ports::stored_response>();
    auto found = find_in(*table, key, wait);
    if (!found) return in_file(std::move(found).error());
    return found;
}

result<std::optional<ports::stored_response>> response_table::find_in(open_table& table,
                                                                      std::string_view key,
                                                                      patience wait) {
    HEDDLE_TRY(const bool there, table.find.begin().bind(key).step());
    if (!there) return std::optional<ports::stored_response>();
    const std::int64_t today = now();
    const std::int64_t created = table.find.number(0);
    const std::int64_t used = table.find.number(1);
    std::optional<ports::stored_response> built;
    if (created > today - options_.keep_for.count()) {
        built.emplace();
        built->provider = table.find.bytes(2);
        built->model = table.find.bytes(3);
        built->body = table.find.bytes(4);
    }
    table.find.begin();
    if (built && used < today - touch_after) {
        // A response that was found is not lost, nor waits, because its time of use cannot be
        // written.
        table.database.wait_when_busy(milliseconds(0));
        (void)table.touch.begin().bind(today).bind(key).step();
        table.touch.begin();
        table.database.wait_when_busy(wait.limit, wait.abandoned);
    }
    return built;
}

result<void> response_table::keep(std::string_view request, const ports::stored_response& response,
                                  std::optional<std::int64_t> created,
                                  const std::atomic<bool>* abandoned) {
    const turn mine(*this);
    const patience wait{writing_wait, abandoned};
    HEDDLE_TRY(open_table * table, opened(purpose::writing, wait));
    const sha256::digest key = sha256().of({request});
    auto kept = keep_in(*table, view_of(key), response, created.value_or(now()));
    if (!kept) return in_file(std::move(kept).error());
    return {};
}

std::optional<error> response_table::take_loss() {
    const std::lock_guard held(lock_);
    if (!std::exchange(lost_file_, false)) return std::nullopt;
    return in_file(error(errc::io_error, "the file was deleted or replaced during the run"))
        .with_hint(
            "responses that were stored in it are lost, and later ones are stored in a new one");
}

result<void> response_table::count_bytes(open_table& table) {
    HEDDLE_TRY([[maybe_unused]] const bool row, table.total.begin().bind(std::int64_t{0}).step());
    table.bytes = table.total.number(1);
    table.total.begin();
    return {};
}

result<void> response_table::keep_in(open_table& table, std::string_view key,
                                     const ports::stored_response& response, std::int64_t created) {
    const std::int64_t size = bytes_of(key, response);
    if (static_cast<std::uint64_t>(size) > options_.max_bytes) return {};
    if (!table.bytes) HEDDLE_CHECK(count_bytes(table));
    HEDDLE_TRY(const bool replaced, table.size_of.begin().bind(key).step());
    const std::int64_t before = replaced ? table.size_of.number(0) : 0;
    table.size_of.begin();
    table.keep.begin().bind(key).bind_text(response.provider).bind_text(response.model);
    HEDDLE_TRY([[maybe_unused]] const bool row,
               table.keep.bind(created).bind(created).bind(size).bind(response.body).step());
    table.keep.begin();
    *table.bytes += size - before;
    if (static_cast<std::uint64_t>(std::max<std::int64_t>(*table.bytes, 0)) <= options_.max_bytes) {
        return {};
    }
    return make_room(table);
}

/// Down to 90 % of what is allowed, so that not every response pays for it.
result<void> response_table::make_room(open_table& table) {
    HEDDLE_TRY([[maybe_unused]] const bool gone,
               table.expire.begin().bind(now() - options_.keep_for.count()).step());
    table.expire.begin();
    HEDDLE_CHECK(count_bytes(table));
    const auto wanted = static_cast<std::int64_t>(options_.max_bytes / 100 * refill_percent);
    if (*table.bytes <= wanted) return {};
    HEDDLE_CHECK(table.database.run("BEGIN IMMEDIATE"));
    table.oldest.begin();
    result<void> outcome;
    while (*table.bytes > wanted) {
        const auto next = table.oldest.step();
        if (!next) outcome = next.error();
        if (!next || !*next) break;
        const std::string key(table.oldest.bytes(0));
        *table.bytes -= table.oldest.number(1);
        const auto removed = table.remove.begin().bind(std::string_view(key)).step();
        if (!removed) {
            outcome = removed.error();
            break;
        }
    }
    table.oldest.begin();
    table.remove.begin();
    if (!outcome) {
        (void)table.database.run("ROLLBACK");
        return outcome;
    }
    return table.database.run("COMMIT");
}

result<ports::response_store_stats> response_table::stats() {
    const turn mine(*this);
    HEDDLE_TRY(open_table * table, opened(purpose::reading, {writing_wait}));
    ports::response_store_stats found;
    found.max_bytes = options_.max_bytes;
    if (!table) return found;
    const auto counted = table->total.begin().bind(now() - options_.keep_for.count()).step();
    if (!counted) return in_file(counted.error());
    found.entries = static_cast<std::uint64_t>(table->total.number(0));
    found.bytes = static_cast<std::uint64_t>(table->total.number(1));
    if (!table->total.is_null(2)) {
        found.oldest = time_of(table->total.number(2));
        found.newest = time_of(table->total.number(3));
    }
    found.expired = static_cast<std::uint64_t>(table->total.number(4));
    table->total.begin();
    return found;
}

result<std::uint64_t> response_table::clear(std::optional<std::chrono::seconds> age) {
    const turn mine(*this);
    HEDDLE_TRY(open_table * table, opened(purpose::reading, {writing_wait}));
    if (!table) return std::uint64_t{0};
    const std::int64_t until = age ? now() - age->count() : INT64_MAX;
    const auto removed = table->expire.begin().bind(until).step();
    if (!removed) return in_file(removed.error());
    table->expire.begin();
    const auto count = static_cast<std::uint64_t>(table->database.changes());
    // Returns the room to the file system, and leaves no response in the log of changes.
    if (auto shrunk = table->database.run("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)"); !shrunk) {
        return in_file(std::move(shrunk).error());
    }
    table->bytes.reset();
    return count;
}

} // namespace heddle::store
