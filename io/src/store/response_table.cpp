#include "store/response_table.hpp"

#include <openssl/evp.h>

#include <array>

namespace heddle::store {

namespace {

constexpr std::int64_t our_application = 0x68646c63; // "hdlc"
constexpr std::int64_t layout_version = 1;
constexpr std::int64_t touch_after = 3600; ///< seconds: the time of use is only roughly kept
constexpr std::uint64_t refill_percent = 90;
/// Once the file is open. A worker waits, and with it the end of the process.
constexpr int later_busy_wait_ms = 2'000;

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

using digest = std::array<unsigned char, 32>;

digest digest_of(std::string_view text) {
    digest made{};
    unsigned int size = 0;
    EVP_Digest(text.data(), text.size(), made.data(), &size, EVP_sha256(), nullptr);
    return made;
}

std::string_view view_of(const digest& key) {
    return {reinterpret_cast<const char*>(key.data()), key.size()};
}

std::int64_t bytes_of(std::string_view key, const ports::stored_response& answer) {
    return static_cast<std::int64_t>(key.size() + answer.body.size() + answer.provider.size() +
                                     answer.model.size());
}

std::chrono::system_clock::time_point time_of(std::int64_t seconds) {
    return std::chrono::system_clock::time_point(std::chrono::seconds(seconds));
}

} // namespace

error response_table::in_file(error failure) const {
    std::string message = "response cache " + options_.file + ": " + failure.message();
    return error(failure.code(), std::move(message)).with_hint(failure.info().hint);
}

std::int64_t response_table::now() const {
    return std::chrono::duration_cast<std::chrono::seconds>(options_.clock().time_since_epoch())
        .count();
}

namespace {

result<std::int64_t> number_of(sqlite_database& database, std::string_view question) {
    HEDDLE_TRY(sqlite_statement asked, database.prepare(question));
    HEDDLE_TRY(const bool there, asked.step());
    return there ? asked.number(0) : 0;
}

/// Looks whose file it is and makes the tables in a new one. Inside of one transaction: of several
/// processes that come at once the first does it, and one that is killed leaves nothing half done.
result<void> claim(sqlite_database& database) {
    HEDDLE_TRY(const std::int64_t version, number_of(database, "PRAGMA user_version"));
    HEDDLE_TRY(const std::int64_t owner, number_of(database, "PRAGMA application_id"));
    HEDDLE_TRY(
        const std::int64_t foreign,
        number_of(database, "SELECT count(*) FROM sqlite_schema WHERE tbl_name <> 'responses'"));
    // Earlier versions made the tables and marked the file in two steps.
    const bool fresh = owner == 0 && version == 0 && foreign == 0;
    if (!fresh && owner != our_application) {
        return error(errc::io_error, "this is the database of another program")
            .with_hint("name another file");
    }
    if (!fresh && version != layout_version) {
        return error(errc::io_error,
                     "it was made by another version (layout " + std::to_string(version) + ")")
            .with_hint("name another file, or delete this one; it is made anew");
    }
    HEDDLE_CHECK(database.run(layout));
    if (!fresh) return {};
    const std::string mark = "PRAGMA application_id = " + std::to_string(our_application) +
                             "; PRAGMA user_version = " + std::to_string(layout_version);
    return database.run(mark.c_str());
}

} // namespace

result<response_table::open_table> response_table::open() const {
    HEDDLE_TRY(sqlite_database database, sqlite_database::open(options_.file));
    HEDDLE_CHECK(database.run("BEGIN IMMEDIATE"));
    if (auto ours = claim(database); !ours) {
        (void)database.run("ROLLBACK");
        return std::move(ours).error();
    }
    HEDDLE_CHECK(database.run("COMMIT"));
    // The switch does not wait for other processes. Without it all works, only slower, and the next
    // one that opens the file makes it.
    (void)database.run(journal);
    database.wait_when_busy(later_busy_wait_ms);
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
    open_table made{std::move(database), std::move(find),   std::move(touch),
                    std::move(size_of),  std::move(keep),   std::move(total),
                    std::move(expire),   std::move(oldest), std::move(remove)};
    HEDDLE_TRY([[maybe_unused]] const bool row, made.total.begin().bind(std::int64_t{0}).step());
    made.bytes = made.total.number(1);
    made.total.begin();
    return made;
}

result<response_table::open_table*> response_table::opened() {
    if (!table_) {
        auto made = open();
        if (!made) return in_file(std::move(made).error());
        table_.emplace(*std::move(made));
    }
    return &*table_;
}

result<std::optional<ports::stored_response>> response_table::find(std::string_view request) {
    const std::lock_guard held(lock_);
    HEDDLE_TRY(open_table * table, opened());
    const digest key = digest_of(request);
    auto found = find_in(*table, view_of(key));
    if (!found) return in_file(std::move(found).error());
    return found;
}

result<std::optional<ports::stored_response>> response_table::find_in(open_table& table,
                                                                      std::string_view key) {
    HEDDLE_TRY(const bool there, table.find.begin().bind(key).step());
    if (!there) return std::optional<ports::stored_response>();
    const std::int64_t today = now();
    const std::int64_t created = table.find.number(0);
    const std::int64_t used = table.find.number(1);
    std::optional<ports::stored_response> made;
    if (created > today - options_.keep_for.count()) {
        made.emplace();
        made->provider = table.find.bytes(2);
        made->model = table.find.bytes(3);
        made->body = table.find.bytes(4);
    }
    table.find.begin();
    if (made && used < today - touch_after) {
        // An answer that was found is not lost, nor waits, because its time of use cannot be written.
        table.database.wait_when_busy(0);
        (void)table.touch.begin().bind(today).bind(key).step();
        table.touch.begin();
        table.database.wait_when_busy(later_busy_wait_ms);
    }
    return made;
}

result<void> response_table::keep(std::string_view request, const ports::stored_response& answer) {
    const std::lock_guard held(lock_);
    HEDDLE_TRY(open_table * table, opened());
    const digest key = digest_of(request);
    auto kept = keep_in(*table, view_of(key), answer);
    if (!kept) return in_file(std::move(kept).error());
    return {};
}

result<void> response_table::keep_in(open_table& table, std::string_view key,
                                     const ports::stored_response& answer) {
    const std::int64_t size = bytes_of(key, answer);
    if (static_cast<std::uint64_t>(size) > options_.max_bytes) return {};
    HEDDLE_TRY(const bool replaced, table.size_of.begin().bind(key).step());
    const std::int64_t before = replaced ? table.size_of.number(0) : 0;
    table.size_of.begin();
    const std::int64_t today = now();
    table.keep.begin().bind(key).bind_text(answer.provider).bind_text(answer.model);
    HEDDLE_TRY([[maybe_unused]] const bool row,
               table.keep.bind(today).bind(today).bind(size).bind(answer.body).step());
    table.keep.begin();
    table.bytes += size - before;
    if (static_cast<std::uint64_t>(std::max<std::int64_t>(table.bytes, 0)) <= options_.max_bytes) {
        return {};
    }
    return make_room(table);
}

/// Down to 90 % of what is allowed, so that not every answer pays for it.
result<void> response_table::make_room(open_table& table) {
    HEDDLE_TRY([[maybe_unused]] const bool gone,
               table.expire.begin().bind(now() - options_.keep_for.count()).step());
    table.expire.begin();
    HEDDLE_TRY([[maybe_unused]] const bool row, table.total.begin().bind(std::int64_t{0}).step());
    table.bytes = table.total.number(1);
    table.total.begin();
    const auto wanted = static_cast<std::int64_t>(options_.max_bytes / 100 * refill_percent);
    if (table.bytes <= wanted) return {};
    HEDDLE_CHECK(table.database.run("BEGIN IMMEDIATE"));
    table.oldest.begin();
    result<void> outcome;
    while (table.bytes > wanted) {
        const auto next = table.oldest.step();
        if (!next) outcome = next.error();
        if (!next || !*next) break;
        const std::string key(table.oldest.bytes(0));
        table.bytes -= table.oldest.number(1);
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
    const std::lock_guard held(lock_);
    HEDDLE_TRY(open_table * table, opened());
    const auto counted = table->total.begin().bind(now() - options_.keep_for.count()).step();
    if (!counted) return in_file(counted.error());
    ports::response_store_stats made;
    made.entries = static_cast<std::uint64_t>(table->total.number(0));
    made.bytes = static_cast<std::uint64_t>(table->total.number(1));
    made.max_bytes = options_.max_bytes;
    if (!table->total.is_null(2)) {
        made.oldest = time_of(table->total.number(2));
        made.newest = time_of(table->total.number(3));
    }
    made.expired = static_cast<std::uint64_t>(table->total.number(4));
    table->total.begin();
    return made;
}

result<std::uint64_t> response_table::clear(std::optional<std::chrono::seconds> age) {
    const std::lock_guard held(lock_);
    HEDDLE_TRY(open_table * table, opened());
    const std::int64_t until = age ? now() - age->count() : INT64_MAX;
    const auto removed = table->expire.begin().bind(until).step();
    if (!removed) return in_file(removed.error());
    table->expire.begin();
    const auto count = static_cast<std::uint64_t>(table->database.changes());
    // Gives the room back to the file system, and leaves no answer in the log of changes.
    if (auto shrunk = table->database.run("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)"); !shrunk) {
        return in_file(std::move(shrunk).error());
    }
    table->bytes = 0;
    if (age) {
        const auto counted = table->total.begin().bind(std::int64_t{0}).step();
        if (!counted) return in_file(counted.error());
        table->bytes = table->total.number(1);
        table->total.begin();
    }
    return count;
}

} // namespace heddle::store
