// The requests of a run that are sent in batches.
#pragma once

#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/ports/price_port.hpp>
#include <heddle/providers/batch/batch_endpoint.hpp>
#include <heddle/setup/services/service_request.hpp>
#include <heddle/store/run_parking.hpp>
#include <heddle/store/run_store.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// What a look at the services has found.
struct parking_look {
    std::uint64_t answered = 0;        ///< calls that have a response now
    std::uint64_t failed = 0;          ///< calls that have failed for good
    std::uint64_t returned = 0;        ///< calls that are submitted again
    std::uint64_t waiting = 0;         ///< batches that have not ended
    std::vector<std::string> problems; ///< one line each; what they are about is tried again later

    [[nodiscard]] bool frees_rows() const noexcept { return answered + failed != 0; }
};

/// Collects the requests of a run, submits them in batches, and takes their responses, in as many
/// processes as it takes (docs/adr/0019-calls-are-parked-in-batches.md). What is about to be
/// submitted is durable before, and what has become of it after; a response is appended to the
/// records of its row as if the row had waited for it. Errors of all calls: io_error, of the
/// journal. Threads: the loop's.
class parking_lot {
public:
    /// All of it outlives the lot.
    struct parts {
        store::run_store& journal;
        store::parking_reader& kept;
        const setup::batch_services& services;
        const ports::price_port& prices;
        /// New requests are parked; otherwise only those of tasks that have it so.
        bool parks = true;
        /// For how long a batch whose submission was not acknowledged is looked for, from the first
        /// look on.
        std::chrono::seconds settling{30};
        /// The time of day; that of the loop if it is empty.
        std::function<std::chrono::system_clock::time_point(const coro::call_context&)> time{};
        /// Called before the first call of the process is parked. Errors: of park(). May be empty.
        std::function<result<void>()> on_first{};
    };
    explicit parking_lot(parts of);

    /// Reads what earlier processes have left. Call it first.
    [[nodiscard]] coro::task<result<void>> begin(coro::call_context context);

    /// Whether requests are parked whose tasks leave it open.
    [[nodiscard]] bool parks() const noexcept { return of_.parks; }
    /// Whether calls were parked in this process.
    [[nodiscard]] bool has_parked() const noexcept { return has_parked_; }
    /// Whether the row waits for calls: it is not executed before they have ended.
    [[nodiscard]] bool waits(std::uint64_t row) const noexcept;
    /// Whether a call of the row, which was executed just now, was parked. Asked once.
    [[nodiscard]] bool take_parked(std::uint64_t row) { return parked_now_.erase(row) != 0; }
    /// How many rows did when the process began.
    [[nodiscard]] std::uint64_t waiting_rows() const noexcept { return rows_.size(); }
    /// Parks a call of a row that is being executed. `least`, `number`, `tries` and `batch` are
    /// set here.
    [[nodiscard]] result<void> park(store::parked_call call);
    /// A call of the row, which is being executed, is not parked: `on_call` is called, and park()
    /// fails as cancelled. Empty: its calls are parked.
    void hold(std::uint64_t row, std::function<void()> on_call);
    /// The row has ended, or begins anew: calls of it that are in no batch are forgotten.
    [[nodiscard]] result<void> forget(std::uint64_t row);

    /// Asks the services what has become of the batches, and takes what they have.
    [[nodiscard]] coro::task<result<parking_look>> look(coro::call_context context);
    /// Submits what is collected; only what fills a batch unless `all`. A failed submission is a
    /// problem, and the calls wait for the next one.
    [[nodiscard]] coro::task<result<std::vector<std::string>>> submit(bool all,
                                                                      coro::call_context context);
    /// Asks the services to cancel the batches that they have. What they have performed by then is
    /// taken by a later look, and the other calls are submitted again. Result: problems, as of
    /// submit().
    [[nodiscard]] coro::task<result<std::vector<std::string>>> cancel(coro::call_context context);
    /// Whether so much is collected that a batch may be full.
    [[nodiscard]] bool is_full() const noexcept { return full_; }

    /// Batches that have not ended.
    [[nodiscard]] std::uint64_t open_batches() const noexcept;
    /// Calls without a response, and what they cost at least.
    [[nodiscard]] std::uint64_t open_calls() const noexcept { return open_calls_; }
    [[nodiscard]] const ports::step_spending& open_spending() const noexcept { return open_; }

    /// The most bytes of one batch, whatever its service takes: it is held in memory.
    static constexpr std::size_t max_batch_bytes = 48 * 1024 * 1024;
    /// After so many batches a call that they did not perform has failed.
    static constexpr std::uint32_t max_tries = 4;

private:
    struct taking;
    static const store::calls_returned not_performed;
    static const store::calls_returned maybe_performed;
    struct group_size {
        std::size_t calls = 0;
        std::size_t bytes = 0;
    };
    /// Batches of a service that may be one whose submission was not acknowledged.
    struct candidates {
        std::vector<std::string> fitting; ///< ids
        bool unsized = false;             ///< one that runs has neither a mark nor a known size
    };
    [[nodiscard]] coro::task<result<candidates>> find_candidates(
        const store::parked_batch& batch, std::vector<providers::batch_status> listed,
        coro::call_context context);
    [[nodiscard]] coro::task<result<void>> find_intended(store::parked_batch batch,
                                                         parking_look& seen,
                                                         coro::call_context context);
    [[nodiscard]] coro::task<result<void>> look_at(store::parked_batch batch, parking_look& seen,
                                                   coro::call_context context);
    [[nodiscard]] coro::task<result<void>> take(store::parked_batch batch,
                                                providers::batch_status status, parking_look& seen,
                                                coro::call_context context);
    [[nodiscard]] coro::task<result<void>> take_refusal(store::parked_batch batch,
                                                        providers::batch_status status,
                                                        parking_look& seen,
                                                        coro::call_context context);
    /// The calls of the batch go into another one.
    [[nodiscard]] result<void> give_back(store::parked_batch batch, std::string state,
                                         store::calls_returned how);
    [[nodiscard]] result<void> note(store::parked_batch batch);
    [[nodiscard]] result<void> refuse(const store::parked_call& call, const error& failure);
    [[nodiscard]] coro::task<result<bool>> submit_one(const store::call_group& group, bool all,
                                                      std::vector<std::string>& problems,
                                                      coro::call_context context);
    [[nodiscard]] std::size_t call_bound(const store::call_group& group,
                                         const providers::batch_endpoint& service) const;
    [[nodiscard]] bool holds_back(const store::call_group& group) const;
    [[nodiscard]] providers::batch_endpoint* service(std::string_view name) const;
    [[nodiscard]] ports::step_spending half_price(const store::parked_batch& batch,
                                                  const ports::chat_response& response) const;
    [[nodiscard]] coro::task<result<void>> recount(coro::call_context context);
    /// Since 1970.
    [[nodiscard]] std::int64_t seconds_now(const coro::call_context& context) const;

    parts of_;
    std::vector<std::uint64_t> rows_;    ///< that wait, ascending
    std::set<std::uint64_t> parked_now_; ///< rows in progress of which a call was parked
    std::map<std::uint64_t, std::function<void()>> held_; ///< rows, and what a call of them does
    std::vector<store::parked_batch> batches_;
    std::map<std::string, group_size, std::less<>> groups_; ///< collected in this process
    /// A call that was parked after recount(), and is in no batch.
    struct collected_call {
        ports::digest128 path;
        ports::digest128 content;
        ports::step_spending least;
    };
    std::map<std::uint64_t, std::vector<collected_call>> since_counted_; ///< by rows
    std::uint64_t open_calls_ = 0;
    ports::step_spending open_;
    bool full_ = false;
    bool has_parked_ = false;
};

} // namespace heddle::cli
