#include "store/sqlite_database.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

namespace heddle::store {

namespace {

std::string hint_for(int code) {
    switch (code & 0xFF) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT: return std::string(sqlite_database::damaged_hint);
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "another process keeps the file locked";
    case SQLITE_FULL: return "the disk is full";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN: return std::string(sqlite_database::not_writable_hint);
    default: return {};
    }
}

} // namespace

void sqlite_statement::finalizer::operator()(sqlite3_stmt* raw) const noexcept {
    sqlite3_finalize(raw);
}
void sqlite_database::closer::operator()(sqlite3* raw) const noexcept { sqlite3_close(raw); }
std::int64_t sqlite_database::changes() const noexcept { return sqlite3_changes64(raw_.get()); }

error sqlite_database::failure_of(sqlite3* raw) {
    const int code = raw ? sqlite3_extended_errcode(raw) : SQLITE_NOMEM;
    const char* text = raw ? sqlite3_errmsg(raw) : "out of memory";
    error failure = error(errc::io_error, text).with_hint(hint_for(code));
    const int kind = code & 0xFF;
    if (kind == SQLITE_BUSY || kind == SQLITE_LOCKED)
        failure = std::move(failure).with_retryable(true);
    return failure;
}

namespace {

error unusable(int why) {
    return error(errc::io_error, std::strerror(why))
        .with_hint(std::string(sqlite_database::not_writable_hint));
}

/// An empty file, made by us: SQLite would follow the umask, and responses are nobody else's
/// business. One that is there is not even opened: to close it would end the locks that this
/// process has on it.
result<void> make_if_absent(const std::string& file) {
    struct stat about {};
    if (::stat(file.c_str(), &about) == 0) {
        if (S_ISDIR(about.st_mode)) return unusable(EISDIR);
        return {};
    }
    if (errno != ENOENT) return unusable(errno);
    const int created = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (created < 0) return unusable(errno);
    ::close(created);
    return {};
}

} // namespace

result<sqlite_database> sqlite_database::open(const std::string& file, if_absent wanted) {
    if (wanted == if_absent::make) HEDDLE_CHECK(make_if_absent(file));
    sqlite3* raw = nullptr;
    auto wait = std::make_unique<busy_wait>();
    const int opened =
        sqlite3_open_v2(file.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    sqlite_database made_one(raw, std::move(wait), file);
    if (opened != SQLITE_OK) return failure_of(raw);
    sqlite3_busy_handler(raw, go_on_waiting, made_one.wait_.get());
    return made_one;
}

result<sqlite_database> sqlite_database::open_unchanging(const std::string& file) {
    std::string address = "file:";
    for (const char c : file) {
        if (c == '%') address += "%25";
        else if (c == '?') address += "%3f";
        else if (c == '#') address += "%23";
        else address += c;
    }
    address += "?immutable=1";
    sqlite3* raw = nullptr;
    auto wait = std::make_unique<busy_wait>();
    const int opened =
        sqlite3_open_v2(address.c_str(), &raw,
                        SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
    sqlite_database made_one(raw, std::move(wait), file);
    if (opened != SQLITE_OK) return failure_of(raw);
    return made_one;
}

std::optional<sqlite_database::identity> sqlite_database::named(const std::string& file) noexcept {
    struct stat about {};
    if (::stat(file.c_str(), &about) != 0) return std::nullopt;
    return identity{static_cast<std::uint64_t>(about.st_dev),
                    static_cast<std::uint64_t>(about.st_ino)};
}

bool sqlite_database::has_its_name() const noexcept { return opened_ && named(file_) == opened_; }

sqlite_database::~sqlite_database() {
    if (!raw_ || has_its_name()) return;
    int persists = 1; // SQLite deletes its log by name
    sqlite3_file_control(raw_.get(), "main", SQLITE_FCNTL_PERSIST_WAL, &persists);
}

int sqlite_database::go_on_waiting(void* wait, int times) noexcept {
    auto& mine = *static_cast<busy_wait*>(wait);
    const auto now = std::chrono::steady_clock::now();
    if (times == 0) mine.began = now;
    if (mine.abandoned && mine.abandoned->load(std::memory_order_relaxed)) return 0;
    if (now - mine.began >= mine.limit) return 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(times < 5 ? 1 : 10));
    return 1;
}

void sqlite_database::wait_when_busy(std::chrono::milliseconds limit,
                                     const std::atomic<bool>* abandoned) noexcept {
    wait_->limit = limit;
    wait_->abandoned = abandoned;
}

result<void> sqlite_database::run(const char* statements) {
    if (sqlite3_exec(raw_.get(), statements, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
    return failure_of(raw_.get());
}

result<sqlite_statement> sqlite_database::prepare(std::string_view statement) {
    sqlite3_stmt* raw = nullptr;
    const int created =
        sqlite3_prepare_v3(raw_.get(), statement.data(), static_cast<int>(statement.size()),
                           SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
    if (created != SQLITE_OK) return failure_of(raw_.get());
    return sqlite_statement(raw);
}

result<void> sqlite_database::prepare(std::span<const statement_text> all) {
    for (const auto& [statement, text] : all) {
        HEDDLE_TRY(*statement, prepare(text));
    }
    return {};
}

result<std::int64_t> sqlite_database::number_of(std::string_view question) {
    HEDDLE_TRY(sqlite_statement asked, prepare(question));
    HEDDLE_TRY(const bool there, asked.step());
    return there ? asked.number(0) : 0;
}

result<void> done(sqlite_statement& statement) {
    HEDDLE_TRY([[maybe_unused]] const bool there, statement.step());
    statement.begin(); // what is bound is not needed any more
    return {};
}

sqlite_statement& sqlite_statement::begin() {
    sqlite3_reset(raw_.get());
    sqlite3_clear_bindings(raw_.get());
    next_ = 1;
    return *this;
}

sqlite_statement& sqlite_statement::bind(std::string_view bytes) {
    sqlite3_bind_blob64(raw_.get(), next_++, bytes.data(), bytes.size(), SQLITE_STATIC);
    return *this;
}

sqlite_statement& sqlite_statement::bind(std::int64_t number) {
    sqlite3_bind_int64(raw_.get(), next_++, number);
    return *this;
}

sqlite_statement& sqlite_statement::bind_text(std::string_view text) {
    sqlite3_bind_text64(raw_.get(), next_++, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    return *this;
}

sqlite_statement& sqlite_statement::bind_real(double number) {
    sqlite3_bind_double(raw_.get(), next_++, number);
    return *this;
}

sqlite_statement& sqlite_statement::bind_null() {
    sqlite3_bind_null(raw_.get(), next_++);
    return *this;
}

result<bool> sqlite_statement::step() {
    const int code = sqlite3_step(raw_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return sqlite_database::failure_of(sqlite3_db_handle(raw_.get()));
}

std::int64_t sqlite_statement::number(int column) const {
    return sqlite3_column_int64(raw_.get(), column);
}

double sqlite_statement::real(int column) const {
    return sqlite3_column_double(raw_.get(), column);
}

std::string_view sqlite_statement::bytes(int column) const {
    const void* data = sqlite3_column_blob(raw_.get(), column);
    return {static_cast<const char*>(data),
            static_cast<std::size_t>(sqlite3_column_bytes(raw_.get(), column))};
}

bool sqlite_statement::is_null(int column) const {
    return sqlite3_column_type(raw_.get(), column) == SQLITE_NULL;
}

} // namespace heddle::store
