// What a batch would ask again after an edit, without asking.
#pragma once

#include "batch/plan/plan_log.hpp"
#include "batch/plan/plan_records.hpp"
#include "batch/plan/row_changes.hpp"
#include "batch/progress/start_gate.hpp"
#include "batch/rows/batch_parts.hpp"
#include "batch/rows/known_table.hpp"
#include "batch/rows/row_job.hpp"
#include "batch/run_folder/program_edition.hpp"

#include <heddle/rows/row_reader.hpp>
#include <heddle/store/run_store.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

/// Executes each outdated row with the answers that are recorded, calls nothing and keeps nothing.
/// A step whose request is not recorded runs again; its earlier answer is used for what it will
/// be answered, so that the row goes on. In two further executions the answers that stand in are
/// altered: by a mark at the end of their strings, which leaves what they contain, and into others
/// that contain nothing of it. A step that asks something else then depends on them.
class batch_plan {
public:
    /// All of it outlives the object.
    struct parts : batch_parts {
        rows::row_reader& reader;
        known_table& known;
        ports::run_journal* journal = nullptr; ///< null: there is no run yet
        std::uint64_t seed = 0;                ///< of the run
        program_edition edition;
        earlier_rows earlier; ///< of the run
    };
    explicit batch_plan(const parts& of) : of_(of) {}

    /// Errors: of the input, the program and the journal. Cancellation: by `context`.
    [[nodiscard]] coro::task<result<void>> run(coro::call_context context);
    /// What was found, for people.
    [[nodiscard]] std::string text(unsigned columns) const;
    /// The same as one JSON object in a line.
    [[nodiscard]] std::string json() const;

private:
    struct task_plan {
        std::uint64_t rows = 0;    ///< with a call of any kind
        std::uint64_t again = 0;   ///< its request has changed
        std::uint64_t depends = 0; ///< it is sent if what is answered again differs
        std::uint64_t kept = 0;
        std::uint64_t priced = 0;        ///< calls before whose cost is known
        double cost_usd = 0;             ///< of those
        std::uint64_t priced_before = 0; ///< as `priced`, of earlier versions of the program
        double cost_before_usd = 0;
    };
    /// Lowest and highest cost in US dollars.
    struct cost_range {
        double least = 0;
        double most = 0;
        bool has_most = true; ///< false: calls whose number or price is not known may follow
    };

    [[nodiscard]] coro::task<result<void>> look_at(const rows::row& row,
                                                   const ports::known_row& known, row_session* with,
                                                   coro::call_context context);
    /// A row goes on: counts what it has to ask yet.
    [[nodiscard]] coro::task<result<void>> look_at_begun(const rows::row& row,
                                                         const ports::known_row& known,
                                                         row_session* with,
                                                         coro::call_context context);
    /// A row that was rejected runs: mended in its file, or because it is to be retried.
    [[nodiscard]] coro::task<result<void>> look_at_rejected(const rows::row& row,
                                                            const ports::known_row& known,
                                                            row_session* with,
                                                            coro::call_context context);
    [[nodiscard]] coro::task<row_outcome> execute(const rows::row& row, row_session* with,
                                                  plan_log* log, coro::call_context context);
    [[nodiscard]] plan_records records_for(const rows::row& row, const ports::known_row& known,
                                           std::vector<ports::step_record> records,
                                           row_session& with) const;
    [[nodiscard]] coro::clock::duration longest() const;
    void count_calls(const plan_log& first, const row_changes& changes);
    void count_costs(const std::vector<ports::step_record>& records);
    /// Finds the costs that rows which run again do not show in others.
    [[nodiscard]] coro::task<result<void>> find_costs(coro::call_context context);
    [[nodiscard]] bool lacks_costs() const;
    /// Nothing: the cost of a call of the task is unknown.
    [[nodiscard]] static std::optional<cost_range> cost_of(const task_plan& task);
    [[nodiscard]] std::optional<cost_range> cost_of_tasks() const;
    /// Of a row that has not run; nothing: unknown.
    [[nodiscard]] std::optional<double> mean_cost() const;
    /// Of the rows that have not run, and of what is left of those that have begun.
    [[nodiscard]] std::optional<double> new_cost() const;
    /// What the bounds leave, where all of it would not fit.
    [[nodiscard]] std::string bounds_text() const;

    parts of_;
    std::map<std::string, task_plan> tasks_;
    std::uint64_t total_ = 0;
    std::uint64_t again_ = 0;     ///< rows that call something again
    std::uint64_t unchanged_ = 0; ///< rows that run again without a call
    std::uint64_t finished_ = 0;
    std::uint64_t begun_ = 0;           ///< rows that go on
    std::uint64_t asking_ = 0;          ///< of those, with a call that is not known
    double begun_usd_ = 0;              ///< what these would cost, if the mean cost is known
    std::vector<std::uint64_t> others_; ///< some rows that are done and do not run again
    std::uint64_t fresh_ = 0;           ///< rows that have not run yet
    std::uint64_t waiting_ = 0;
    std::uint64_t rejected_ = 0;
    std::uint64_t open_ended_ = 0;  ///< rows of which not everything is known
    std::uint64_t other_calls_ = 0; ///< rows that make others if responses differ
};

} // namespace heddle::cli
