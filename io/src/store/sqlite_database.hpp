// SQLite with errors as results.
#pragma once

#include <heddle/base/error.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

struct sqlite3;
struct sqlite3_stmt;

namespace heddle::store {

/// A prepared statement, reset when it is used again. The views it returns hold until then.
class sqlite_statement {
public:
    sqlite_statement() = default;
    explicit sqlite_statement(sqlite3_stmt* raw) : raw_(raw) {}

    /// Begins a new use: forgets bindings and rows.
    sqlite_statement& begin();
    sqlite_statement& bind(std::string_view bytes); ///< as a blob; it must stay until the last step
    sqlite_statement& bind(std::int64_t number);
    sqlite_statement& bind_text(std::string_view text);
    sqlite_statement& bind_real(double number);
    sqlite_statement& bind_null();

    /// True: a row is there. False: done. Errors: io_error in the words of SQLite.
    [[nodiscard]] result<bool> step();
    [[nodiscard]] std::int64_t number(int column) const;
    [[nodiscard]] double real(int column) const;
    [[nodiscard]] std::string_view bytes(int column) const;
    [[nodiscard]] bool is_null(int column) const;

private:
    struct finalizer {
        void operator()(sqlite3_stmt* raw) const noexcept;
    };
    std::unique_ptr<sqlite3_stmt, finalizer> raw_;
    int next_ = 1;
};

/// SQLite has signed integers only: row and other numbers of ours are stored with the same bits.
[[nodiscard]] constexpr std::int64_t key_of(std::uint64_t number) noexcept {
    return static_cast<std::int64_t>(number);
}

/// Executes a statement without rows and forgets what is bound to it. Errors: as step.
[[nodiscard]] result<void> done(sqlite_statement& statement);

/// One connection. Threads: one at a time.
class sqlite_database {
public:
    enum class if_absent : std::uint8_t { make, fail };
    /// Opens or makes the file, with permissions for its owner only. Errors: io_error.
    [[nodiscard]] static result<sqlite_database> open(const std::string& file,
                                                      if_absent wanted = if_absent::make);
    /// Opens a file that no process changes meanwhile, and whose log is empty, to read it where
    /// nothing can be written. Errors: io_error.
    [[nodiscard]] static result<sqlite_database> open_unchanging(const std::string& file);
    sqlite_database(sqlite_database&&) noexcept = default;
    sqlite_database& operator=(sqlite_database&&) = delete;
    /// Leaves the log of changes where it is when the file has got lost: it is that of the file
    /// which now has its name.
    ~sqlite_database();

    /// Whether the file that was opened still has its name: false once it was deleted or replaced.
    [[nodiscard]] bool has_its_name() const noexcept;

    /// How long a statement waits for other connections: `limit`, which is 10 s to begin with, and
    /// not once `abandoned` is true. `abandoned` may be null; it stays until the next call of this.
    void wait_when_busy(std::chrono::milliseconds limit,
                        const std::atomic<bool>* abandoned = nullptr) noexcept;
    [[nodiscard]] result<void> run(const char* statements);
    [[nodiscard]] result<sqlite_statement> prepare(std::string_view statement);
    /// A statement and its text.
    using statement_text = std::pair<sqlite_statement*, const char*>;
    /// The same for each of them. Stops at the first error.
    [[nodiscard]] result<void> prepare(std::span<const statement_text> all);
    /// The first column of the first row that `question` has; 0 where it has none.
    [[nodiscard]] result<std::int64_t> number_of(std::string_view question);
    /// Rows that the last statement changed.
    [[nodiscard]] std::int64_t changes() const noexcept;

    /// The hint of failures that come from the content of the file.
    static constexpr std::string_view damaged_hint =
        "the file is damaged or no store; delete it, and a new one is created";
    /// The hint of failures that come from a place where nothing can be written.
    static constexpr std::string_view not_writable_hint =
        "the file and its folder must be writable";
    /// What SQLite reports of the last call of `raw`, with what can be done about it. Retryable
    /// when another connection was in the way.
    [[nodiscard]] static error failure_of(sqlite3* raw);

private:
    struct closer {
        void operator()(sqlite3* raw) const noexcept;
    };
    /// What the library asks while it waits: at one address, also when this is moved.
    struct busy_wait {
        std::chrono::milliseconds limit{
            10'000}; ///< another process writes for a moment, not longer
        const std::atomic<bool>* abandoned = nullptr;
        std::chrono::steady_clock::time_point began;
    };
    static int go_on_waiting(void* wait, int times) noexcept;
    /// Which file it is, whatever its name.
    struct identity {
        std::uint64_t device = 0;
        std::uint64_t number = 0;
        [[nodiscard]] friend bool operator==(const identity&, const identity&) = default;
    };
    [[nodiscard]] static std::optional<identity> named(const std::string& file) noexcept;
    sqlite_database(sqlite3* raw, std::unique_ptr<busy_wait> wait, std::string file)
        : file_(std::move(file)), opened_(named(file_)), wait_(std::move(wait)), raw_(raw) {}

    std::string file_;
    std::optional<identity> opened_;
    std::unique_ptr<busy_wait> wait_;
    std::unique_ptr<sqlite3, closer> raw_;
};

} // namespace heddle::store
