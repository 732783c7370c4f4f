// The requests of a run that wait for batches of their services.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/ports/run_journal.hpp>
#include <heddle/ports/tree_port.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace heddle::store {

/// A request of a row that is, or will be, a part of a batch.
struct parked_call {
    std::uint64_t number = 0; ///< in the run, never used again; 0: not kept yet
    std::uint64_t row = 0;
    ports::digest128 path;    ///< of the step that asks
    ports::digest128 content; ///< of the request
    std::string service;      ///< who is asked
    std::string model;
    std::string body;           ///< the request as its service takes it
    std::uint32_t tries = 0;    ///< batches that it was a part of before
    std::uint64_t batch = 0;    ///< number of its batch; 0: it is in none yet
    ports::step_spending least; ///< what it costs at least, by an estimate
};

enum class batch_phase : std::uint8_t {
    intended = 1,  ///< about to be submitted: the service may have it, or not
    submitted = 2, ///< the service has it
    settled = 3    ///< its results are taken; kept for listings
};

/// A batch of the run.
struct parked_batch {
    std::uint64_t number = 0; ///< in the run, from 1
    batch_phase phase = batch_phase::intended;
    std::string service;
    std::string model;
    std::string mark;    ///< by which it is found at the service
    std::string id;      ///< as the service names it; empty: not known yet
    std::int64_t at = 0; ///< when it was intended: seconds since 1970
    std::uint64_t calls = 0;
    std::uint64_t answered = 0; ///< of them, with a response
    std::uint64_t failed = 0;   ///< of them, refused for good
    std::string state;          ///< as last seen, for listings
    bool was_too_large = false; ///< the account could not hold it
};

/// Calls of one model that are in no batch yet.
struct call_group {
    std::string service;
    std::string model;
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0; ///< of their bodies
};

struct parking_sums {
    std::uint64_t collected = 0; ///< calls that are in no batch
    std::uint64_t submitted = 0; ///< calls that are in one
    ports::step_spending least;  ///< of all of them
};

/// A call, unless an equal one of the same step waits already.
struct call_parked {
    parked_call call;
};
/// A batch is about to be submitted with these calls.
struct batch_intended {
    parked_batch batch;
    std::vector<std::uint64_t> calls;
};
/// What has become of a batch: everything but its calls.
struct batch_noted {
    parked_batch batch;
};
/// A call has its response, or an error: `record` is appended to the records of its row, once.
struct call_settled {
    std::uint64_t call = 0;
    std::uint64_t row = 0;
    ports::step_record record;
};
/// What is left of the calls of a batch waits for another one.
struct calls_returned {
    std::uint64_t batch = 0;
    bool counts = true;      ///< as a try of each call
    bool maybe_paid = false; ///< each may have been paid for: its estimate is counted
    /// But for these, ascending: the service reports that it did not perform them.
    std::vector<std::uint64_t> unperformed{};
};
/// Calls that are in no batch are forgotten.
struct calls_dropped {
    std::optional<std::uint64_t> row; ///< of that row; absent: of all
};
using parking_change = std::variant<call_parked, batch_intended, batch_noted, call_settled,
                                    calls_returned, calls_dropped>;

/// Reads what is parked in the run of a folder, as of the last commit. Errors of all calls:
/// io_error that names the file. Threads: the loop's of the context.
class parking_reader {
public:
    /// `workers` outlives it.
    parking_reader(ports::worker_port& workers, std::string folder);
    ~parking_reader();
    parking_reader(const parking_reader&) = delete;
    parking_reader& operator=(const parking_reader&) = delete;

    /// The rows that wait, ascending.
    [[nodiscard]] coro::task<result<std::vector<std::uint64_t>>> rows(coro::call_context context);
    [[nodiscard]] coro::task<result<parking_sums>> sums(coro::call_context context);
    [[nodiscard]] coro::task<result<std::vector<call_group>>> groups(coro::call_context context);
    /// The first calls of a group: at most `max_calls`, whose bodies and `overhead` for each do not
    /// exceed `max_bytes`; a first one that is larger is returned all the same.
    [[nodiscard]] coro::task<result<std::vector<parked_call>>> calls_of_group(
        call_group group, std::size_t max_calls, std::size_t max_bytes, std::size_t overhead,
        coro::call_context context);
    /// The calls of a batch in the order of their numbers, without their bodies.
    [[nodiscard]] coro::task<result<std::vector<parked_call>>> calls_of_batch(
        std::uint64_t batch, coro::call_context context);
    [[nodiscard]] coro::task<result<std::vector<parked_batch>>> batches(coro::call_context context);

private:
    class tables;
    template <class Answer>
    [[nodiscard]] coro::task<result<Answer>> read(std::function<result<Answer>(tables&)> question,
                                                  coro::call_context context);

    ports::worker_port& workers_;
    std::shared_ptr<tables> tables_;
};

} // namespace heddle::store
