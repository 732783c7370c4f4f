// The shards of a runtime, and the calls that are allowed on them.
#pragma once

#include "call_journal.hpp"
#include "running_call.hpp"
#include "service_source.hpp"
#include "shard.hpp"

#include <heddle/function.hpp>
#include <heddle/runtime_options.hpp>
#include <heddle/runtime_stats.hpp>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace heddle::embed {

/// What runtime, program and job share. Once it is closed it is an empty shell, which a handle may
/// keep. Threads: any.
class runtime_core : public std::enable_shared_from_this<runtime_core> {
public:
    explicit runtime_core(runtime_options options);
    runtime_core(const runtime_core&) = delete;
    runtime_core& operator=(const runtime_core&) = delete;

    /// Makes the shards. `host`: null for threads of its own. Errors: as service_source::make and
    /// call_journal::open. Exceptions: of a system without threads, descriptors or memory; no
    /// thread is left then.
    [[nodiscard]] result<void> open(boost::asio::io_context* host);

    [[nodiscard]] const runtime_options& options() const noexcept { return options_; }
    [[nodiscard]] log_port& log() noexcept { return *log_; }
    /// Null: calls are not recorded.
    [[nodiscard]] call_journal* journal() noexcept { return journal_.get(); }
    [[nodiscard]] shard& first() noexcept { return *shards_.front(); }
    [[nodiscard]] const std::vector<std::unique_ptr<shard>>& shards() const noexcept {
        return shards_;
    }

    [[nodiscard]] result<void> add_function(function_definition definition);
    [[nodiscard]] std::shared_ptr<const std::vector<function_definition>> functions() const;

    /// Lets a call run, wait or fail.
    void submit(const std::shared_ptr<running_call>& call);
    [[nodiscard]] bool is_stopped() const noexcept { return state_ != state::open; }
    [[nodiscard]] runtime_stats stats() const;

    // For calls, on their shards.
    [[nodiscard]] bool is_admitted(const running_call& call) const;
    /// False when the call is admitted already.
    [[nodiscard]] bool leave_queue(running_call& call);
    /// The place of a call is free for the next one.
    void release(running_call& call);
    /// Loading a program counts as a call in progress until forget(). False: the runtime ends.
    [[nodiscard]] bool begin_load();
    /// Nothing of a call, or of a load, is left.
    void forget();
    [[nodiscard]] bool is_cancelling() const noexcept { return is_cancelling_; }

    /// As runtime::shutdown.
    void shut_down(std::chrono::nanoseconds grace, pending_handler<> handler);
    /// As ~runtime.
    void end();

private:
    enum class state : std::uint8_t { open, ending, closed };

    [[nodiscard]] shard& least_loaded() noexcept;
    [[nodiscard]] coro::task<void> wind_down(std::chrono::nanoseconds grace);
    [[nodiscard]] coro::task<bool> wait_until_idle(coro::deadline until);
    void cancel_all();
    [[nodiscard]] coro::task<void> close_shards();
    void close();
    /// Begins the end, unless it was begun. `then`: once all is closed.
    void begin_end(std::chrono::nanoseconds grace, std::function<void()> then);

    const runtime_options options_;
    const std::unique_ptr<log_port> log_;
    std::vector<std::unique_ptr<shard>> shards_;
    std::unique_ptr<call_journal> journal_; ///< uses their loops
    std::atomic<state> state_{state::open};
    std::atomic<bool> is_cancelling_{false};

    mutable std::mutex mutex_;
    std::shared_ptr<const std::vector<function_definition>> functions_;
    std::size_t running_ = 0;
    std::deque<std::shared_ptr<running_call>> queue_;
    std::size_t living_ = 0; ///< calls, running and queued, and loads
    std::size_t next_shard_ = 0;
    std::uint64_t refused_ = 0;
    std::function<void()> on_idle_; ///< called once when no call lives
    std::vector<std::function<void()>> on_closed_;
};

} // namespace heddle::embed
