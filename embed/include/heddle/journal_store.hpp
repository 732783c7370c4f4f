// A journal of the host: where recorded calls are stored in place of a directory.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/visibility.hpp>

#include <string>
#include <vector>

namespace HEDDLE_PUBLIC heddle {

/// A record of a recorded call. Its bytes are those of heddle: store them unchanged.
struct journal_record {
    std::string tag; ///< of the call (call_options::tag)
    std::string bytes;
};

/// Stores the records of calls that have a tag, for example in a database that several machines
/// use. Set as journal_options::store.
///
/// Calls wait until their records are appended, so an append that takes long delays each step of a
/// recorded call; other calls of the thread go on. A call waits for its load and its appends to
/// their end, also past its deadline. The functions must not call the runtime. A tag must not be in
/// use by two runtimes at a time: the host sees to that, where they share a store.
/// Errors: any, also exceptions; a call that needs the records fails with an io_error. After an
/// append has failed, so do all recorded calls in progress; after those the next one tries again.
/// Threads: append() is called on a thread of the journal, one at a time. The other functions are
/// called on other threads, possibly at the same time, but for a tag whose records are not being
/// appended.
class journal_store {
public:
    virtual ~journal_store() = default;

    /// All records of a call, in the order in which they were appended; none if the tag is unknown.
    /// May block.
    [[nodiscard]] virtual result<std::vector<std::string>> load(const std::string& tag) = 0;
    /// Appends records, possibly of several calls, in this order. On return they are as durable as
    /// the host wants. When the process ends meanwhile, a record is there as a whole or not at all,
    /// and with it all earlier ones of its tag. May block.
    [[nodiscard]] virtual result<void> append(const std::vector<journal_record>& records) = 0;
    /// Deletes the records of a call. Result: whether there were any. Called by runtime::forget(),
    /// on its thread, which it may block.
    [[nodiscard]] virtual result<bool> forget(const std::string& tag) = 0;
};

} // namespace heddle
