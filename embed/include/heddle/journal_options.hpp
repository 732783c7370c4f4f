// The journal of a runtime: where recorded calls are stored.
#pragma once

#include <heddle/base/visibility.hpp>
#include <heddle/journal_store.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace HEDDLE_PUBLIC heddle {

/// When a record counts as stored. A response is used once its record is stored.
enum class journal_durability : std::uint8_t {
    fsync, ///< on disk; whatever waits is written at once
    group, ///< on disk; records that arrive within the time of a commit are written together
    off    ///< passed to the writing thread; what it has not written is lost with the process
};

/// The journal of calls that have a tag (call_options::tag): docs/embedding/journal.md.
struct journal_options {
    /// Created if it does not exist, readable by its owner only; its parent must exist. Only one
    /// process at a time can open it. Empty: nothing is recorded.
    std::string directory{};
    journal_durability durability = journal_durability::group;
    /// How long the records of a call are kept after it last began or ended. nanoseconds::max():
    /// until runtime::forget().
    std::chrono::nanoseconds keep = std::chrono::hours(7 * 24);
    /// Stores the records in place of a directory. `durability` and `keep` are then its own matter.
    std::shared_ptr<journal_store> store{};

    /// Whether calls that have a tag are recorded.
    [[nodiscard]] bool is_set() const noexcept { return store || !directory.empty(); }
};

} // namespace heddle
