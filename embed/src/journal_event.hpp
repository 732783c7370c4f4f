// What is recorded of a call, as bytes for the journal of a host.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/run_journal.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heddle::embed {

struct call_begun {
    ports::digest128 content;
    std::string text; ///< as recorded_call writes it
};
struct call_retried {};
struct call_revised {
    std::vector<std::uint64_t> discarded;
};

/// One change of a recorded call.
using journal_event = std::variant<call_begun, call_retried, call_revised, ports::step_record,
                                   ports::spare_use, ports::row_end, ports::row_work>;

[[nodiscard]] std::string bytes_of(const journal_event& event);
/// Errors: io_error for bytes that bytes_of() of this version has not made.
[[nodiscard]] result<journal_event> event_of(std::string_view bytes);

/// A recorded call as its events leave it.
struct recorded_row {
    bool is_known = false;
    ports::row_status status = ports::row_status::begun;
    ports::digest128 content;
    std::string text;
    std::vector<ports::step_record> records;
    std::optional<ports::row_end> ended;
    ports::row_work noted;         ///< or of its last end
    std::int64_t before_ms = 0;    ///< when the clock of the records began anew, with an edit
    std::uint64_t next_number = 0; ///< of a record

    void apply(journal_event event);
    /// As run_journal::work_of() promises.
    [[nodiscard]] ports::row_work work() const noexcept;
};

} // namespace heddle::embed
