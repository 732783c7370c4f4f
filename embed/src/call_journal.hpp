// The recorded calls of a runtime.
#pragma once

#include "host_run_store.hpp"
#include "loop_workers.hpp"

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/journal_options.hpp>
#include <heddle/store/run_store.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace heddle::embed {

class call_journal;

/// The right of one call to a tag: no other call has it meanwhile. Keeps the store open.
class tag_claim {
public:
    tag_claim() = default;
    tag_claim(call_journal& journal, std::string tag, const ports::known_row& row, bool is_stored,
              std::shared_ptr<store::run_store> store)
        : journal_(&journal), tag_(std::move(tag)), row_(row), is_stored_(is_stored),
          store_(std::move(store)) {}
    tag_claim(tag_claim&& other) noexcept { *this = std::move(other); }
    tag_claim& operator=(tag_claim&& other) noexcept;
    ~tag_claim() { release(); }

    [[nodiscard]] const std::string& tag() const noexcept { return tag_; }
    /// Its number, and the digest of its tag; the content of an earlier call.
    [[nodiscard]] const ports::known_row& row() const noexcept { return row_; }
    /// Whether the journal has an earlier call with the tag.
    [[nodiscard]] bool is_stored() const noexcept { return is_stored_; }
    [[nodiscard]] store::run_store& store() const noexcept { return *store_; }
    /// The call has begun: from now on the tag is that of a call with this content.
    void note_begun(const ports::digest128& content) noexcept;
    /// An error of the store, which is noted if it has failed: it is opened again then.
    [[nodiscard]] error noted(error failure) const;

private:
    void release() noexcept;

    call_journal* journal_ = nullptr;
    std::string tag_;
    ports::known_row row_;
    bool is_stored_ = false;
    std::shared_ptr<store::run_store> store_;
};

/// Knows the tags of all recorded calls, and has the store with their records. Threads: any, except
/// where noted.
class call_journal {
public:
    /// Opens or makes the directory; blocks. `loops`: of all threads with calls; they outlive it
    /// and do not run yet. Errors: as store::open_run_store; invalid_argument for the directory of
    /// another kind of run.
    [[nodiscard]] static result<std::unique_ptr<call_journal>> open(
        const journal_options& options, const std::vector<coro::event_loop*>& loops);

    /// Takes a tag for a call. Errors: runtime_errc::tag_in_use; stopped; the io_error of a store
    /// that has failed.
    [[nodiscard]] result<tag_claim> claim(const std::string& tag);
    /// A store that has failed, as on a full disk, is opened again when no call uses it any more:
    /// once a second at most. Threads: that of the loop of the context.
    [[nodiscard]] coro::task<void> recover(coro::call_context context);
    /// As runtime::forget.
    [[nodiscard]] result<bool> forget(const std::string& tag);
    /// Deletes calls that are older than the options allow, some at a time, now and then.
    /// Threads: that of the loop of the context.
    [[nodiscard]] coro::task<void> sweep(coro::call_context context);
    /// Waits until all is kept, and closes the store. There are no calls. Threads: as sweep().
    [[nodiscard]] coro::task<void> close(coro::call_context context);

private:
    friend class tag_claim;

    struct known_call {
        std::uint64_t row = 0;
        ports::digest128 content;
        bool is_stored = false;
        bool is_claimed = false;
    };

    /// A store, and what it has.
    struct contents {
        std::shared_ptr<store::run_store> store;
        std::map<ports::digest128, known_call> calls;
        std::uint64_t next_row = 0;
        std::shared_ptr<host_run_store> host; ///< the store, if it is that of a host
    };

    /// Of each loop: a store of a host may wait for a network.
    static constexpr unsigned threads_of_host = 8;

    call_journal(const journal_options& options, const std::vector<coro::event_loop*>& loops)
        : options_(options),
          workers_(std::make_unique<loop_workers>(loops, options.store ? threads_of_host : 1)) {}
    [[nodiscard]] result<contents> open_store();
    [[nodiscard]] result<bool> forget_in_host(const std::string& tag);
    [[nodiscard]] coro::task<result<void>> read(contents* into, coro::call_context context);
    void take(contents opened);
    void note_failed(const error& failure);
    [[nodiscard]] bool begin_sweep();
    [[nodiscard]] std::size_t forget_rows(const std::vector<ports::known_row>& rows);
    void note_begun(const ports::known_row& row) noexcept;
    void release(const ports::digest128& tag, bool is_stored) noexcept;

    const journal_options options_;
    std::unique_ptr<loop_workers> workers_;
    std::mutex mutex_;
    std::shared_ptr<store::run_store> store_; ///< null: closed, or being opened again
    /// The same, if it is that of a host, which knows more calls than `calls_`; else null.
    std::shared_ptr<host_run_store> host_;
    bool is_closed_ = false;
    std::optional<error> failure_; ///< of the store
    std::map<ports::digest128, known_call> calls_;
    std::uint64_t next_row_ = 0;
    std::chrono::steady_clock::time_point next_sweep_{};
    std::chrono::steady_clock::time_point next_opening_{};
};

} // namespace heddle::embed
