// Batches of the services in one process of a run.
#pragma once

#include "parking/parking_lot.hpp"
#include "parking/parking_port.hpp"
#include "parking/parking_request.hpp"

#include <heddle/coro/cancel.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/ports/tree_port.hpp>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace heddle::cli {

/// Takes what the batches of earlier processes have, submits what the rows ask for, and stays until
/// batches have ended where that is wanted. Errors of all calls: io_error, of the journal;
/// cancelled.
/// Threads: the loop's.
class parked_run {
public:
    /// All of it outlives the object. `workers` read the journal.
    struct parts {
        parking_slot& slot; ///< whose ports park in the lot of this
        const setup::batch_services& batches;
        const ports::price_port& prices;
        parking_request asked;
        store::run_store& journal;
        ports::worker_port& workers;
        std::function<void(std::string)> say; ///< a line for people
        /// As of parking_lot: later processes must know that calls were parked.
        std::function<result<void>()> on_first;
    };
    explicit parked_run(parts of);
    ~parked_run();
    parked_run(const parked_run&) = delete;
    parked_run& operator=(const parked_run&) = delete;

    /// Before the first row: requests are parked from then on.
    [[nodiscard]] coro::task<result<void>> begin(coro::call_context context);
    /// Submits batches that are full while rows are executed, until stop(). Cancellation: returns.
    [[nodiscard]] coro::task<result<void>> work(coro::call_context context);
    void stop() noexcept { working_.request(cancel_reason::shutdown); }
    /// After the last row: submits the rest, and waits where that is wanted.
    [[nodiscard]] coro::task<result<void>> end(coro::call_context context);

    /// From now on, also while it waits, end() submits nothing: it has the services cancel the
    /// batches, and takes what they have performed.
    void cancel_batches() noexcept;

    [[nodiscard]] parking_lot& lot() noexcept { return lot_; }
    [[nodiscard]] const parking_lot& lot() const noexcept { return lot_; }
    /// Batches that have not ended.
    [[nodiscard]] std::uint64_t batches() const noexcept { return lot_.open_batches(); }
    /// Rows that have waited can be executed now: the batch is to begin again.
    [[nodiscard]] bool frees_rows() const noexcept { return frees_rows_; }
    /// Why batches could not be submitted the last time; empty: they were.
    [[nodiscard]] const std::vector<std::string>& problems() const noexcept { return problems_; }

private:
    void report(const std::vector<std::string>& problems);
    void report(const parking_look& seen);
    [[nodiscard]] coro::task<result<void>> submit(bool all, coro::call_context context);
    [[nodiscard]] coro::task<result<void>> cancel(coro::call_context context);
    /// Submits the rest, and waits where that is wanted. Returns once the batches are to be
    /// cancelled.
    [[nodiscard]] coro::task<result<void>> submit_and_wait(coro::call_context context);
    /// Waits for an interval, or until the batches are to be cancelled.
    [[nodiscard]] coro::task<result<void>> wait(coro::clock::duration interval,
                                                coro::call_context context);

    parts of_;
    store::parking_reader kept_;
    parking_lot lot_;
    coro::cancel_source working_;
    coro::wait_point changed_; ///< while end() waits
    bool cancels_ = false;
    std::set<std::string> reported_;
    bool frees_rows_ = false;
    std::vector<std::string> problems_;
};

} // namespace heddle::cli
