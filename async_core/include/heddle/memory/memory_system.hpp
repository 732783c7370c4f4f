// The memory: an index of files that workflows ask for context.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/coro/semaphore.hpp>
#include <heddle/ports/memory_port.hpp>
#include <heddle/ports/tree_port.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle::memory {

/// How far an indexing has come.
struct index_progress {
    std::size_t files_done = 0;
    std::size_t files_total = 0; ///< that are new or have changed
};

/// What of a directory is indexed. Patterns are those of a .gitignore file, relative to `root`.
struct index_options {
    std::string root;                 ///< absolute
    std::vector<std::string> include; ///< empty: every file
    std::vector<std::string> exclude;
    bool honour_gitignore = true; ///< .gitignore files in `root` and below
    std::size_t max_file_bytes = 1024 * 1024;
    std::size_t max_files = 200'000;          ///< and folders; the report says when there are more
    std::size_t max_folder_entries = 200'000; ///< a folder with more is left out
    std::size_t max_depth = 64;               ///< of folders below `root`
    /// Called on the loop between batches; may be empty.
    std::function<void(const index_progress&)> on_progress;
};

/// What an indexing did.
struct index_report {
    std::string root; ///< without links
    std::size_t added = 0;
    std::size_t updated = 0;
    std::size_t unchanged = 0;
    std::size_t removed = 0;
    std::size_t skipped_binary = 0;
    std::size_t skipped_large = 0;
    bool complete = true;              ///< false: a bound was met; `warnings` says which
    std::vector<std::string> warnings; ///< at most 20
    [[nodiscard]] bool changed() const noexcept { return added + updated + removed != 0; }
};

/// A file and its description.
struct described_file {
    std::string path; ///< absolute
    std::string metadata;
};

struct memory_options {
    /// Indexed on the first look-up, and again (what has changed) when the last time is older than
    /// `refresh_after`.
    std::vector<index_options> roots;
    std::chrono::milliseconds refresh_after{10'000};
    /// Where the index of `roots` is kept between runs; empty: nowhere. A file that is damaged is
    /// told to the log and made anew.
    std::string index_file;
    std::size_t default_limit = 20; ///< matches, when a request names no limit
    log_port* log = nullptr;        ///< null: nothing is logged
};

/// Index from absolute path to metadata and content, with its indexers.
///
/// Reading, tokenising, merging and queries run on `workers`, never on the loop; a look-up during
/// an indexing sees what has been merged so far. What is indexed of a file: its path, its metadata
/// (set by update_index, else its kind and first line), its text. Binary files (a zero byte or no
/// UTF-8 in the first 8 KiB), links, devices and names that are not UTF-8 are left out.
/// Lifetime: ports and log outlive it; work begun keeps what it needs.
/// Cancellation: every call ends at once; what was merged stays, and a later call goes on from
/// there.
/// Threads: the shard's only.
class memory_system final : public ports::memory_port {
public:
    memory_system(ports::worker_port& workers, std::shared_ptr<const ports::tree_port> tree,
                  memory_options options = {});
    ~memory_system() override;
    memory_system(const memory_system&) = delete;
    memory_system& operator=(const memory_system&) = delete;

    /// Sets descriptions; a file that is not known is added without content. All or nothing.
    /// Errors: invalid_argument for a path that is not absolute, and for what is no UTF-8.
    [[nodiscard]] coro::task<result<void>> update_index(std::vector<described_file> files,
                                                        coro::call_context context);
    /// Makes the index hold of this directory what the options choose: reads files that are new or
    /// whose time or size has changed, drops those that are gone. Errors: not_found;
    /// invalid_argument for a root that is not absolute; cancelled. A file that cannot be read is a
    /// warning.
    [[nodiscard]] coro::task<result<index_report>> index_directory(index_options options,
                                                                   coro::call_context context);
    /// As index_directory for the whole repository that `root` is in, with .git/info/exclude too;
    /// repositories inside it are left out. Errors: not_found when `root` is in none.
    [[nodiscard]] coro::task<result<index_report>> index_git_repository(index_options options,
                                                                        coro::call_context context);
    /// Errors: see memory_port; not_found for a root of the options.
    [[nodiscard]] coro::task<result<ports::memory_answer>> relevant_files(
        ports::memory_request request, coro::call_context context) override;

    /// Writes the index in one step. Errors: io_error; invalid_argument when the file is there and
    /// is no index: it is left as it is.
    [[nodiscard]] coro::task<result<void>> save(std::string file, coro::call_context context);
    /// Takes the place of what is known. Errors: not_found; invalid_argument for a file that is no
    /// index, is of another version, or is damaged: nothing has changed then.
    [[nodiscard]] coro::task<result<void>> load(std::string file, coro::call_context context);

    /// Files that are known. Errors: cancelled.
    [[nodiscard]] coro::task<result<std::size_t>> size(coro::call_context context);

private:
    struct shared;
    struct plan;

    [[nodiscard]] coro::task<result<index_report>> index(index_options options, bool repository,
                                                         coro::call_context context);
    [[nodiscard]] coro::task<result<std::shared_ptr<plan>>> make_plan(index_options options,
                                                                      bool repository,
                                                                      coro::call_context context);
    [[nodiscard]] coro::task<result<index_report>> index_locked(index_options options,
                                                                bool repository,
                                                                coro::call_context context);
    [[nodiscard]] bool is_fresh(const coro::call_context& context) const;
    [[nodiscard]] coro::task<result<void>> refresh_roots(coro::call_context context);
    [[nodiscard]] coro::task<result<void>> refresh_locked(coro::call_context context);
    void say(log_level level, const std::string& line) const;

    ports::worker_port& workers_;
    memory_options options_;
    std::shared_ptr<shared> shared_;
    coro::semaphore indexing_{1};
    bool opened_ = false; ///< the index file was looked at
    std::optional<coro::clock::time_point> refreshed_;
};

/// True when load() found an index that cannot be used (another version, damaged, empty): it may be
/// made anew in its place. False for files that are none.
[[nodiscard]] bool is_unusable_index(const error& failure) noexcept;

} // namespace heddle::memory
