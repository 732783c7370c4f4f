// A thread that executes rows.
#pragma once

#include "application.hpp"
#include "batch/rows/row_attempt.hpp"
#include "batch/rows/row_sessions.hpp"
#include "batch/threads/import_link.hpp"
#include "batch/threads/row_log_link.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace heddle::cli {

/// A loop on a thread, with an engine and with sessions that share the program. Requests to models,
/// programs, imports and records of the journal go to the loop of the run.
class row_worker {
public:
    /// All of it outlives the worker.
    struct parts {
        application& home; ///< its loop is that of the run
        const workflow_options& options;
        const setup::environment& variables;
        const batch_program& program;
        const row_binding& binding;
        const row_sessions& loaded; ///< has loaded the program on the loop of the run
        tasks::task_observer& counter;
    };
    /// Starts the thread. Errors: as setup::service_set::create; the system has no more threads.
    [[nodiscard]] static result<std::unique_ptr<row_worker>> start(const parts& of);
    /// Ends the thread where it is.
    ~row_worker();
    row_worker(const row_worker&) = delete;
    row_worker& operator=(const row_worker&) = delete;

    // Threads: that of the run. They await the end of the work on the thread of the worker, which
    // cancellation and deadline of the context reach.

    /// Loads the program. Errors: those of the program.
    [[nodiscard]] coro::task<result<void>> load(coro::call_context context);
    /// The error of the program that load() returned, with its place, as people read it.
    [[nodiscard]] const std::string& load_failure() const noexcept { return load_failure_; }
    /// One attempt at a row. `seed`: of its random numbers. `steps`: its journal; null: nothing is
    /// kept. `until`: the deadline of the row. Errors: of the program, where a session cannot be
    /// made.
    [[nodiscard]] coro::task<result<row_outcome>> attempt(rows::row row, std::uint64_t seed,
                                                          std::shared_ptr<setup::row_log> steps,
                                                          coro::deadline until,
                                                          coro::call_context context);
    /// Closes files and connections. No row is in progress.
    [[nodiscard]] coro::task<result<void>> close();
    /// Rows in progress.
    [[nodiscard]] std::size_t rows() const noexcept { return rows_; }

private:
    explicit row_worker(const parts& of);
    [[nodiscard]] result<void> open();

    // Threads: its own.
    [[nodiscard]] coro::task<result<void>> load_here(coro::call_context context);
    [[nodiscard]] coro::task<result<row_outcome>> attempt_here(const rows::row* row,
                                                               std::uint64_t seed,
                                                               row_log_link* steps,
                                                               coro::deadline until,
                                                               coro::call_context context);
    [[nodiscard]] coro::task<result<void>> close_here();

    parts of_;
    coro::loop_address home_;
    std::size_t rows_ = 0; ///< of the thread of the run
    boost::asio::io_context context_{1};
    coro::event_loop loop_;
    tasks::task_observer* observer_; ///< of the next session
    std::unique_ptr<setup::service_set> services_;
    import_link imports_;
    std::unique_ptr<host::engine> engine_;
    std::optional<row_sessions> sessions_;
    std::string load_failure_;
    std::optional<boost::asio::executor_work_guard<coro::executor>> busy_;
    std::thread thread_;
};

} // namespace heddle::cli
