// The shards of a runtime, and the calls that are allowed on them.
#pragma once

#include "call_journal.hpp"
#include "running_call.hpp"
#include "service_source.hpp"
#include "shard.hpp"

#include <heddle/function.hpp>
#include <heddle/runtime_options.hpp>
#include <heddle/runtime_stats.hpp>

#include <boost/asio/any_completion_executor.hpp>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
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
    void submit(const std::shared_ptr<running_call>& call) noexcept;
    [[nodiscard]] bool is_stopped() const noexcept { return state_ != state::open; }
    /// Where handlers of the host run that have no executor: on the thread of the first shard, also
    /// after shutdown; once ~runtime has begun, on a thread of the process.
    [[nodiscard]] boost::asio::any_completion_executor handler_executor() const;
    [[nodiscard]] runtime_stats stats() const;

    // For calls, on their shards.
    [[nodiscard]] bool is_admitted(const running_call& call) const;
    /// False when the call is admitted already.
    [[nodiscard]] bool leave_queue(running_call& call);
    /// The place of a call is free for the next one.
    void release(running_call& call);
    /// Loading a program counts as a call in progress while what is returned is held. Null: the
    /// runtime ends.
    [[nodiscard]] std::shared_ptr<const void> begin_load();
    /// Nothing of a call, or of a load, is left.
    void forget() noexcept;
    [[nodiscard]] bool is_cancelling() const noexcept { return is_cancelling_; }

    /// As runtime::shutdown.
    void shut_down(std::chrono::nanoseconds grace, pending_handler<> handler);
    /// As ~runtime.
    void end();

private:
    enum class state : std::uint8_t { open, ending, closed };

    [[nodiscard]] shard& least_loaded() noexcept;
    /// Assigns a shard and a place to the call. Result: why it is refused.
    [[nodiscard]] std::optional<error> admit(const std::shared_ptr<running_call>& call);
    [[nodiscard]] coro::task<void> wind_down(std::chrono::nanoseconds grace);
    [[nodiscard]] coro::task<bool> wait_until_idle(coro::deadline until);
    void cancel_all();
    [[nodiscard]] coro::task<void> close_shards();
    void close();
    /// Begins the end, unless it was begun. `then`: once all is closed.
    void begin_end(std::chrono::nanoseconds grace, std::function<void()> then);
    /// Lets the threads of all shards end, and waits for them.
    void join_all();
    /// In checked builds: ~runtime returns while calls are in progress.
    void warn_of_calls();

    const runtime_options options_;
    const std::unique_ptr<log_port> log_;
    std::vector<std::unique_ptr<shard>> shards_;
    std::unique_ptr<call_journal> journal_; ///< uses their loops
    std::atomic<state> state_{state::open};
    std::atomic<bool> is_cancelling_{false};
    std::atomic<bool> is_destroyed_{false}; ///< ~runtime has begun: a host's context may go

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
