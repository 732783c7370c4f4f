// What a batch would do, without doing it.
#pragma once

#include "batch/progress/failure_table.hpp"
#include "batch/progress/start_gate.hpp"
#include "batch/rows/batch_parts.hpp"
#include "batch/rows/known_table.hpp"
#include "batch/run_folder/program_edition.hpp"

#include <heddle/rows/row_reader.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace heddle::cli {

/// Reads all rows, binds them, and runs a sample of them where --sample-rows asks for one.
class dry_run {
public:
    /// All of it outlives the object.
    struct parts : batch_parts {
        rows::row_reader& reader;
        known_table& known;
        earlier_rows earlier; ///< of the run
        program_edition edition;
    };
    explicit dry_run(const parts& of) : of_(of) {}

    /// Errors: of the input and of the program. Cancellation: by `context`.
    [[nodiscard]] coro::task<result<void>> run(coro::call_context context);
    /// What was found, for people.
    [[nodiscard]] std::string text(unsigned columns) const;
    /// The same as one JSON object in a line.
    [[nodiscard]] std::string json() const;

private:
    [[nodiscard]] coro::task<result<void>> sample(coro::call_context context);
    /// Mean cost of a row in US dollars, and how many rows it is taken from.
    [[nodiscard]] std::optional<std::pair<double, std::uint64_t>> mean_cost() const;
    /// Requests of the rows that would run; nothing: unknown.
    [[nodiscard]] std::optional<std::uint64_t> requests() const;
    /// How many of them the bounds allow; nothing: no bound, or it is not known what a row uses.
    [[nodiscard]] std::optional<std::uint64_t> rows_in_budget() const;
    [[nodiscard]] std::optional<std::uint64_t> rows_in_calls() const;
    [[nodiscard]] std::string bounds_text() const;

    parts of_;
    std::uint64_t total_ = 0;
    std::uint64_t finished_ = 0;
    std::uint64_t begun_ = 0;
    std::uint64_t to_run_ = 0;
    std::uint64_t waiting_ = 0;
    failure_table wrong_; ///< rows that would be rejected
    std::vector<rows::row> sampled_;
    std::uint64_t sample_ran_ = 0;
    std::uint64_t sample_failed_ = 0;
    stop_cause sample_stop_ = stop_cause::none; ///< why the sample is smaller than asked for
    ports::step_spending sample_spent_;
};

} // namespace heddle::cli
