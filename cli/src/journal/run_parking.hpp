// Requests of `heddle run --run` that wait for batches of their services.
#pragma once

#include "application.hpp"
#include "journal/kept_run.hpp"
#include "parking/parked_run.hpp"

#include <heddle/coro/call_context.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

/// The batches of a single run, in one process of it. Threads: the loop's.
class run_parking {
public:
    /// Requests are parked once the run is open. All of it outlives the object. `say`: a line for
    /// people. Call it before kept_run::open(), which fails with the errors of the journal.
    void attach(kept_run& run, application& tools, std::function<void(std::string)> say,
                coro::cancel_source& cancel);
    /// The services cancel the batches, and nothing is evaluated.
    void cancel_batches() noexcept { cancels_ = true; }

    /// Whether nothing can be evaluated now. After kept_run::open().
    [[nodiscard]] bool holds_run() const noexcept;
    /// The evaluation is over, and what it has left is in the journal. Submits what it has asked
    /// for, unless it was stopped. Errors: io_error of the journal, cancelled.
    [[nodiscard]] coro::task<result<void>> end(bool stopped, coro::call_context context);
    /// Before the loop ends.
    void close() noexcept { batches_.reset(); }

    /// After end(): the run goes on when batches have ended.
    [[nodiscard]] bool waits() const noexcept { return waits_; }
    [[nodiscard]] bool cancels() const noexcept { return cancels_; }
    [[nodiscard]] std::uint64_t open_calls() const noexcept { return open_calls_; }
    [[nodiscard]] std::uint64_t open_batches() const noexcept { return open_batches_; }
    /// Why batches could not be submitted.
    [[nodiscard]] const std::vector<std::string>& problems() const noexcept { return problems_; }

private:
    [[nodiscard]] coro::task<result<void>> begin(store::run_store& journal,
                                                 ports::worker_port& workers);

    kept_run* run_ = nullptr;
    application* tools_ = nullptr;
    coro::cancel_source* cancel_ = nullptr;
    std::function<void(std::string)> say_;
    std::optional<parked_run> batches_; ///< nothing: the run is not open, or only replayed
    bool cancels_ = false;
    bool waits_ = false;
    std::uint64_t open_calls_ = 0;
    std::uint64_t open_batches_ = 0;
    std::vector<std::string> problems_;
};

} // namespace heddle::cli
