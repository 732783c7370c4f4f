// What the loop and the workers share.
#pragma once

#include "memory/index/inverted_index.hpp"
#include "memory/walk/tree_walk.hpp"

#include <heddle/memory/memory_system.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

namespace heddle::memory {

/// The index behind its lock, and the pieces of work that are done on a worker. Nothing here is
/// called on the loop: the lock may be held for long.
class shared_index {
public:
    explicit shared_index(std::shared_ptr<const ports::tree_port> tree) : tree_(std::move(tree)) {}

    /// The directory to index and what of it has to be read.
    struct plan {
        index_options options; ///< root resolved
        index_report report;
        std::vector<found_file> to_read;
        std::vector<std::string> gone;
    };
    [[nodiscard]] result<plan> make_plan(index_options options, bool repository,
                                         const std::atomic<bool>& abandoned) const;

    /// Reads and merges files [from, to) of the plan; counts in `report` what became of them.
    /// Nothing is merged once it is abandoned.
    void read_files(const plan& from_plan, std::size_t from, std::size_t to, index_report& report,
                    const std::atomic<bool>& abandoned);
    void remove(const std::vector<std::string>& paths);
    /// Drops what is below none of the directories; returns how many files that were.
    [[nodiscard]] result<std::size_t> keep_below(const std::vector<std::string>& roots);
    void describe(std::vector<described_file> files);

    [[nodiscard]] ports::memory_response answer(const ports::memory_request& request,
                                                std::size_t default_limit) const;

    [[nodiscard]] result<void> save(const std::string& file);
    [[nodiscard]] result<void> load(const std::string& file);
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] std::size_t memory_bytes() const;

private:
    enum class outcome : std::uint8_t { read, binary, large, gone, unreadable };

    outcome prepare(const found_file& file, const index_options& options, prepared_file& prepared,
                    std::vector<std::string>& warnings) const;

    std::shared_ptr<const ports::tree_port> tree_;
    mutable std::shared_mutex lock_;
    inverted_index index_;
};

} // namespace heddle::memory
