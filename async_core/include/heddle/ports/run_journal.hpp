// What a run has done, kept so that it can continue after its process has ended.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::ports {

/// A 128-bit digest that names a step, a row or a content.
struct digest128 {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    [[nodiscard]] friend auto operator<=>(const digest128&, const digest128&) = default;
    [[nodiscard]] bool is_zero() const noexcept { return high == 0 && low == 0; }
};

/// What was paid for. An unknown part of the cost is counted in `unpriced`, never as zero.
struct step_spending {
    std::uint32_t requests = 0;
    std::int64_t input_tokens = 0;
    std::int64_t output_tokens = 0;
    double cost_usd = 0;        ///< of the requests whose price is known
    std::uint32_t unpriced = 0; ///< requests of unknown cost
    bool estimated = false;     ///< a service did not report some of the tokens

    step_spending& operator+=(const step_spending& other) noexcept;
};

/// What a request costs whose response is lost, as far as it is known when it is sent.
struct cost_if_lost {
    step_spending least;                 ///< of its input
    std::int64_t output_tokens = 0;      ///< that the response has at most, or that are set aside
    std::optional<double> usd_per_token; ///< of the output; nothing: unknown
    bool is_bounded = false;             ///< the response cannot have more than `output_tokens`
};

enum class step_kind : std::uint8_t {
    answer = 1,   ///< an effect of the row ended, with a value or an error
    request = 2,  ///< one request of a task that was still under way
    cut = 3,      ///< a deadline ended a wait of a branch, or a function, which `content` names
    clock = 4,    ///< the clock of the row advanced while it computed
    nested = 5,   ///< a function of the program begins as a part of an effect under way, which
                  ///< `content` names; none: see recorded_functions::are_numbered()
    composed = 6, ///< as answer; functions of the program ran inside, and do so in a replay
    // Records of requests and attempts: kept for further executions, not replayed.
    sent = 7, ///< a request is about to be sent; `spent`: the least that it costs, which is not
              ///< counted yet; the body: what its response may cost (host::count_lost)
    lost = 8, ///< the response of a request that was sent did not arrive: it may have been paid for
    failed = 9,   ///< an attempt at the row ended with an error, whose message is the body
    spare = 10,   ///< a request of an earlier version of the program, whose response may be used
    past = 11,    ///< of an earlier version of the program: what a step cost, without its answer;
                  ///< with a content: a request that was lost
    reused = 12,  ///< as request: a spare that was used; its cost was counted then
    due = 13,     ///< as spare; the cost of the request has not been counted, by itself or its step
    tool = 14,    ///< what a tool returned that a model called in a task still under way
    refused = 15, ///< the error of a request that was parked; the step takes it by its content
    unpaid = 16,  ///< the request that was sent last with that path and content has cost nothing:
                  ///< it never left, or the service refused it
    unanswered = 17 ///< as request: the error with which it has ended, of a task that may go on
};

/// One record of a row. Records of a row are kept in the order in which they were appended, which
/// is the order in which the row saw them.
struct step_record {
    step_kind kind = step_kind::answer;
    digest128 path;    ///< names the step by the way that leads to it
    digest128 content; ///< of what was asked; zero: it has no such key
    double at = 0;     ///< seconds of the row's clock when the record was delivered
    std::string name;  ///< of the task, tool or builtin, for listings
    std::string body;  ///< an encoded value or error; nothing looks into it here
    digest128 part;    ///< of a step, if others run beside it (step_memory::open_part); else zero
    step_spending spent;
    /// For a `request` that is read for a further attempt: whether a record of its step has counted
    /// its cost. Not stored.
    bool is_counted = false;
    /// For a part that is read for a further attempt: its step has its turn at another time than it
    /// had. Not stored.
    bool takes_no_turn = false;
    /// Its place among the records of its row, of one that was read. The journal numbers those that
    /// are appended.
    std::uint64_t number = 0;
};

/// The body as journals store it, with `part`.
[[nodiscard]] std::string stored_body(const step_record& record);
/// Whether there is a part to be stored with the body, which else is stored as it is.
[[nodiscard]] inline bool has_stored_part(const step_record& record) noexcept {
    return !record.part.is_zero();
}
/// Takes the part out of a body that was stored.
void read_stored_body(step_record& record);

/// Of a model's response, or of what is kept in the same way: the record has its value.
[[nodiscard]] inline bool is_response(const step_record& record) noexcept {
    return record.kind == step_kind::request || record.kind == step_kind::reused;
}
[[nodiscard]] inline bool ends_a_step(const step_record& record) noexcept {
    return record.kind == step_kind::answer || record.kind == step_kind::composed;
}

/// Whether records of that kind belong to an earlier version of the program. They are not replayed.
[[nodiscard]] constexpr bool is_of_earlier_program(step_kind kind) noexcept {
    return kind == step_kind::spare || kind == step_kind::past || kind == step_kind::due;
}

/// The records that run_journal::revise_row() keeps of a row. Requests without a response must have
/// been noted as lost before; otherwise no trace of them remains.
/// `discarded`: the numbers of requests whose responses are not to be used again.
[[nodiscard]] std::vector<step_record> revised(std::vector<step_record> records,
                                               const std::vector<std::uint64_t>& discarded = {});

enum class row_status : std::uint8_t {
    begun = 1,   ///< not finished: it continues when the run does
    done = 2,    ///< it has a value
    failed = 3,  ///< it ended with an error
    rejected = 4 ///< the row could not be read; never run
};

/// What executions of a row took. An execution that goes on in another process, after a kill or
/// Ctrl-C, or because it has waited for an answer, is one attempt.
struct row_work {
    std::uint32_t attempts = 0; ///< that have ended, other than by the outage of a service
    /// In which an execution was under way, calls and waits for limits included; not while the row
    /// waits for its next attempt, a person or a batch, nor after the last record before a kill.
    std::int64_t duration_ms = 0;
};

/// How a row ended.
struct row_end {
    std::uint64_t row = 0; ///< its number in the run
    row_status status = row_status::done;
    std::string value_json;       ///< of `done`
    std::string error_json;       ///< of `failed` and `rejected`
    std::uint32_t attempts = 1;   ///< of all processes that worked on it, see row_work
    std::int64_t duration_ms = 0; ///< of all attempts, see row_work
    step_spending spent;          ///< over all attempts
    bool maybe_paid = false;      ///< a request may have been paid for whose response was lost
};

/// A row as the journal knows it.
struct known_row {
    std::uint64_t row = 0;
    digest128 id;      ///< of the row's id
    digest128 content; ///< of the row's text
    row_status status = row_status::begun;
    bool emitted = false; ///< its result is in the output file
    /// It began or ended under an earlier version of the program, and has not run under this one.
    bool outdated = false;
};

enum class outdated_rows : std::uint8_t {
    all,
    begun ///< those that have not ended
};

/// A spare response of a row that a step uses.
struct spare_use {
    std::uint64_t number = 0; ///< of the spare's record
    digest128 to;             ///< the step that uses it
    double at = 0;            ///< seconds of the row's clock
};

/// Sums over all processes that worked on the run.
struct run_totals {
    std::uint64_t begun = 0;
    std::uint64_t done = 0;
    std::uint64_t failed = 0;
    std::uint64_t rejected = 0;
    std::uint64_t maybe_paid = 0; ///< requests that may have been paid for without a response
    step_spending spent;          ///< of finished and unfinished rows
};

/// The journal of one run. One process has it open at a time; a second one is refused when it
/// opens. Writes are collected and committed in groups by a thread of the journal.
///
/// Errors of all calls: io_error that names the file and what to do (disk full, damaged, removed);
/// after a failed write all further writes fail with the same error, so that nothing is
/// acknowledged that was not kept. Threads: the loop's of the context.
class run_journal {
public:
    virtual ~run_journal() = default;

    /// All rows that have begun or ended, in the order of their numbers.
    [[nodiscard]] virtual coro::task<result<std::vector<known_row>>> known_rows(
        coro::call_context context) = 0;
    /// Notes that a row begins. Returns before it is durable. `id`: as the user named it.
    /// `text`: the row as JSON, for replays and dead letters.
    virtual result<void> begin_row(const known_row& row, std::string id, std::string text) = 0;
    /// Drops the records of a row, which starts over, and counts what they spent as spent.
    virtual result<void> restart_row(std::uint64_t row) = 0;
    /// Reopens a row that has ended, with its records, for a further attempt.
    virtual result<void> retry_row(std::uint64_t row) = 0;
    /// The program has changed. `all`: all rows are outdated, and so is the output; emitted_size()
    /// is 0 from now on. Rows that are outdated already stay so.
    [[nodiscard]] virtual coro::task<result<void>> outdate_rows(outdated_rows which,
                                                                coro::call_context context) = 0;
    /// Notes that a row begins anew because the program or its text has changed. The responses of
    /// its records are kept as spares; of the other records only the cost is kept. `discarded`: the
    /// numbers of requests whose responses a retry has dropped: they are not spares.
    virtual result<void> revise_row(std::uint64_t row, std::vector<std::uint64_t> discarded) = 0;
    /// Notes that a step uses a spare of its row, so that no other step does: its record becomes
    /// the last one of the row. As note().
    virtual void use_spare(std::uint64_t row, const spare_use& use) = 0;

    /// Appends a record; returns once it is as durable as the run asks. Cancellation: the record
    /// stays appended, only the wait ends.
    [[nodiscard]] virtual coro::task<result<void>> append(std::uint64_t row, step_record record,
                                                          coro::call_context context) = 0;
    /// As append, without waiting. A failure shows in the next call that waits.
    virtual void note(std::uint64_t row, step_record record) = 0;
    /// The records of a row, in order.
    [[nodiscard]] virtual coro::task<result<std::vector<step_record>>> records_of(
        std::uint64_t row, coro::call_context context) = 0;

    /// Notes what a row has taken in all processes so far, where it does not end yet. Returns
    /// before it is durable; a failure shows in the next call that waits.
    virtual void note_work(std::uint64_t row, const row_work& sum) = 0;
    /// What a row has taken so far: as noted, or as its last end said if it was reopened or begins
    /// anew; of a process that was killed, until its last record at least.
    [[nodiscard]] virtual coro::task<result<row_work>> work_of(std::uint64_t row,
                                                               coro::call_context context) = 0;

    /// Notes how a row ended; returns once that is durable.
    [[nodiscard]] virtual coro::task<result<void>> end_row(row_end end,
                                                           coro::call_context context) = 0;
    /// The ends of rows whose results are not in the output, by number from `first` on: at most
    /// `count`, and fewer where they are large, but one at least unless there is none.
    [[nodiscard]] virtual coro::task<result<std::vector<row_end>>> ends_to_emit(
        std::uint64_t first, std::size_t count, coro::call_context context) = 0;
    /// Notes that the results of those rows are in the output file, which is `size` bytes long now
    /// and was flushed to disk before. Returns before it is durable: on a restart the file is cut
    /// to the noted size and the results after it are written again.
    virtual result<void> note_emitted(std::vector<std::uint64_t> rows, std::uint64_t size) = 0;
    /// The size noted last; 0 for a new run.
    [[nodiscard]] virtual std::uint64_t emitted_size() const noexcept = 0;

    [[nodiscard]] virtual run_totals totals() const noexcept = 0;
    /// Waits until everything noted is durable.
    [[nodiscard]] virtual coro::task<result<void>> flush(coro::call_context context) = 0;
};

} // namespace heddle::ports
