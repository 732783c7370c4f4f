// A row on its way through a batch.
#pragma once

#include "batch/rows/service_contact.hpp"

#include <heddle/coro/deadline.hpp>
#include <heddle/host/row_history.hpp>
#include <heddle/ports/run_journal.hpp>
#include <heddle/rows/row.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::cli {

struct row_job {
    rows::row row;
    std::uint64_t number = 0;       ///< in the run
    std::uint64_t position = 0;     ///< in the input of this process
    std::uint64_t seed = 0;         ///< of its random numbers; of the run and `number`
    bool has_records = false;       ///< an earlier process or attempt has begun it
    bool has_ended = false;         ///< it failed in an earlier process
    bool was_begun = false;         ///< and not ended under that program or text: an attempt at it
    bool is_revised = false;        ///< it has records of another program or text
    bool has_misfit = false;        ///< it has started over, since its records did not fit
    bool asks_anew = false;         ///< of those, what made it fail is discarded
    bool has_begun = false;         ///< the journal knows of this process's beginning
    bool has_run = false;           ///< this process has made an attempt
    bool is_probe = false;          ///< whether a service is back
    bool waits_for_service = false; ///< one that is down has failed it
    bool sends_nothing = false;     ///< a bound is used up: it runs if its responses are known
    bool is_continued = false;      ///< it began in an earlier process, and not in this one yet
    std::uint32_t attempts = 0;     ///< of this process, without those that an outage has ended
    std::uint64_t outages = 0;      ///< in how many separate outages it has failed
    unsigned failed_probes = 0;     ///< how often it was the probe while a service was down
    std::uint64_t last_outage = 0;  ///< number of the outage in which it failed last
    coro::clock::time_point not_before{};
    ports::row_work before;          ///< in earlier processes
    coro::clock::duration worked{0}; ///< in this process
    std::uint32_t lost = 0;          ///< requests that may have been paid for without a response
    ports::step_spending spent;      ///< over all attempts and processes
};

/// What the row has taken in all processes.
[[nodiscard]] inline ports::row_work work_of(const row_job& job) noexcept {
    ports::row_work sum = job.before;
    sum.attempts += job.attempts;
    sum.duration_ms += std::chrono::duration_cast<std::chrono::milliseconds>(job.worked).count();
    return sum;
}

/// How one attempt at a row ended.
struct row_outcome {
    enum class kind : std::uint8_t {
        done,
        failed,
        rejected,
        cancelled,
        waiting ///< for an answer of a person, or for requests that are parked
    };
    kind what = kind::done;
    std::string value_json;
    std::string error_json;
    std::string reason; ///< of a failure, for the table: "TaskError llm_error"
    std::string message;
    std::string step_message;              ///< setup::message_of_step
    bool outage = false;                   ///< a service was down
    bool held = false;                     ///< cancelled: it needs a request that no bound allows
    bool misfit = false;                   ///< failed: its records do not fit its program
    std::vector<service_contact> contacts; ///< the services that it has asked
    bool of_value = false; ///< failed: what main returned is not data, so nothing is to be repeated
    host::attempt_end attempt; ///< failed
    ports::step_spending spent;
};

} // namespace heddle::cli
