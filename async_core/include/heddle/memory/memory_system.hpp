// The memory: an index of files from which contexts are made.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/coro/semaphore.hpp>
#include <heddle/memory/index_options.hpp>
#include <heddle/ports/memory_port.hpp>
#include <heddle/ports/tree_port.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle::memory {

/// The result of an indexing.
struct index_report {
    std::string root; ///< without links
    std::size_t added = 0;
    std::size_t updated = 0;
    std::size_t unchanged = 0;
    std::size_t removed = 0;
    std::size_t skipped_binary = 0;
    std::size_t skipped_large = 0;
    bool complete = true;              ///< false: a bound was reached; see `warnings`
    std::vector<std::string> warnings; ///< at most 20 of them
    [[nodiscard]] bool changed() const noexcept { return added + updated + removed != 0; }
};

/// A file and its description.
struct described_file {
    std::string path; ///< absolute
    std::string metadata;
};

struct memory_options {
    /// Indexed on the first lookup; changes are indexed on a later one, once `refresh_after` has
    /// passed.
    std::vector<index_options> roots;
    std::chrono::milliseconds refresh_after{10'000};
    /// Where the index of `roots` is kept between runs; empty: nowhere. A damaged file is logged
    /// and replaced. Files below none of the roots are dropped from it.
    std::string index_file;
    std::size_t default_limit = 20; ///< number of matches if a request has no limit
    log_port* log = nullptr;        ///< null: nothing is logged
};

/// Index from absolute path to metadata and content, with its indexers.
///
/// Reading, tokenising, merging and queries run on `workers`, never on the loop; a lookup during an
/// indexing sees what has been merged so far. Indexed are the path of a file, its metadata (set by
/// update_index, else its kind and first line) and its text. Binary files (a zero byte or invalid
/// UTF-8 in the first 8 KiB), links, devices and names that are not UTF-8 are excluded.
/// Lifetime: ports and log outlive it; work in progress keeps what it needs.
/// Cancellation: every call ends at once; what was merged stays, and a later call continues from
/// there.
/// Threads: the shard's only.
class memory_system final : public ports::memory_port {
public:
    memory_system(ports::worker_port& workers, std::shared_ptr<const ports::tree_port> tree,
                  memory_options options = {});
    ~memory_system() override;
    memory_system(const memory_system&) = delete;
    memory_system& operator=(const memory_system&) = delete;

    /// Sets descriptions; an unknown file is added without content. Sets all or none.
    /// Errors: invalid_argument for a path that is not absolute, and for text that is not UTF-8.
    [[nodiscard]] coro::task<result<void>> update_index(std::vector<described_file> files,
                                                        coro::call_context context);
    /// Updates the index to the files of a directory that the options choose: reads files that are
    /// new or whose time or size has changed, and drops those that no longer exist. Errors:
    /// not_found; invalid_argument for a root that is not absolute; cancelled. A file that cannot
    /// be read is a warning.
    [[nodiscard]] coro::task<result<index_report>> index_directory(index_options options,
                                                                   coro::call_context context);
    /// As index_directory for the whole repository that `root` is in, with .git/info/exclude too;
    /// repositories inside it are excluded. Errors: not_found if `root` is in no repository.
    [[nodiscard]] coro::task<result<index_report>> index_git_repository(index_options options,
                                                                        coro::call_context context);
    /// Errors: see memory_port; not_found for a root of the options.
    [[nodiscard]] coro::task<result<ports::memory_response>> relevant_files(
        ports::memory_request request, coro::call_context context) override;

    /// Writes the index in one step. Errors: io_error; invalid_argument if the file exists and is
    /// not an index: it is not changed.
    [[nodiscard]] coro::task<result<void>> save(std::string file, coro::call_context context);
    /// Replaces the index. Errors: not_found; invalid_argument for a file that is not an index, has
    /// another version, or is damaged: then nothing changes.
    [[nodiscard]] coro::task<result<void>> load(std::string file, coro::call_context context);

    /// Drops the files that are below none of these directories, such as those that load() brought
    /// of other ones; returns how many. Errors: not_found for a directory; cancelled.
    [[nodiscard]] coro::task<result<std::size_t>> keep_below(std::vector<std::string> roots,
                                                             coro::call_context context);

    /// Number of files in the index. Errors: cancelled.
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
    [[nodiscard]] coro::task<result<std::size_t>> open_index_file(coro::call_context context);
    void say(log_level level, const std::string& line) const;

    ports::worker_port& workers_;
    memory_options options_;
    std::shared_ptr<shared> shared_;
    coro::semaphore indexing_{1};
    bool opened_ = false; ///< whether the index file was read
    std::optional<coro::clock::time_point> refreshed_;
};

/// True when load() found an index that cannot be used (another version, damaged, empty): a new one
/// may replace it. False for files that are not an index.
[[nodiscard]] bool is_unusable_index(const error& failure) noexcept;

} // namespace heddle::memory
