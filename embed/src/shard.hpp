// One thread that runs workflows.
#pragma once

#include "service_source.hpp"
#include "shard_counters.hpp"
#include "shard_program.hpp"

#include <heddle/coro/cancel.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/runtime_options.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <unordered_set>
#include <utility>

namespace heddle::embed {

class running_call;

/// A loop with its services, programs and calls: nothing of it is shared with other shards. It has
/// a thread of its own, or runs on an io_context of the host.
class shard {
public:
    /// `host`: null for a thread of its own; else it outlives close(). `options` outlive it.
    shard(const runtime_options& options, log_port& log, boost::asio::io_context* host);
    shard(const shard&) = delete;
    shard& operator=(const shard&) = delete;
    ~shard();

    /// Before the loop runs. `first`: whose services this one shares; null: it is the first.
    /// Errors: as service_source::make.
    [[nodiscard]] result<void> open(const service_source& services, shard* first);
    [[nodiscard]] shard_services* services() noexcept { return services_.get(); }
    /// Starts the thread. `keep_alive` is held until it ends.
    void start(std::shared_ptr<void> keep_alive);

    // From any thread.
    template <class Work>
    void post(Work work) {
        boost::asio::post(context_, std::move(work));
    }
    /// The same for what must not get lost: asks again for memory that is missing.
    template <class Work>
    void post_surely(Work work) noexcept {
        for (;;) {
            try {
                return post(work);
            } catch (const std::bad_alloc&) {
                std::this_thread::yield(); // other threads may release some
            }
        }
    }
    [[nodiscard]] boost::asio::io_context::executor_type get_executor() const noexcept {
        return context_.get_executor();
    }
    [[nodiscard]] shard_counters& counters() noexcept { return counters_; }
    /// Whether this thread runs the loop now.
    [[nodiscard]] bool is_here() const noexcept {
        return context_.get_executor().running_in_this_thread();
    }
    [[nodiscard]] bool is_on_host() const noexcept { return !own_; }
    /// Whether the loop has last run in this thread, or never.
    [[nodiscard]] bool was_here() const noexcept;
    /// After close_services(): lets the thread end. What is left of completed calls, such as their
    /// handlers, still runs; what never ends is dropped with the loop.
    void let_end() noexcept;
    /// Waits for the thread, after let_end(): a second one would cut its time short.
    void join();
    /// As join, from the thread itself: without waiting.
    void leave();
    /// Whether the host has stopped its context, or that is out of work: no thread runs it.
    [[nodiscard]] bool is_stopped() const noexcept { return context_.stopped(); }
    /// Runs the loop of the host until `done`, also when the host stops it. What its handlers throw
    /// is logged.
    void drive(const bool& done);

    // From the loop's thread only.
    [[nodiscard]] coro::event_loop& loop() noexcept { return *loop_; }
    [[nodiscard]] const runtime_options& options() const noexcept { return options_; }
    [[nodiscard]] log_port& log() const noexcept { return log_; }
    /// Ends the program, with the reason, if another thread ran the loop before.
    void check_thread();
    /// From any thread: ends the program, with the reason, if `function` of the host's API must not
    /// be called on this thread.
    void check_entry(const char* function) const;
    [[nodiscard]] std::shared_ptr<shard_program> program(
        const std::shared_ptr<const program_version>& version);
    void begin(running_call& call) {
        calls_.insert(&call);
        has_calls_ = true;
    }
    void end(running_call& call) noexcept {
        calls_.erase(&call);
        has_calls_ = !calls_.empty();
    }
    /// Cancels programs that are being loaded for nobody in particular.
    [[nodiscard]] coro::cancel_source& loads() noexcept { return loads_; }
    void cancel_all(cancel_reason reason) noexcept;
    /// Closes the services; there are no calls.
    [[nodiscard]] coro::task<void> close_services();
    /// Destroys what the loop's thread owns. After close_services(), from a plain handler or once
    /// the thread has ended.
    void clear() noexcept;

private:
    void run() noexcept;
    template <class Run>
    void run_with(Run run_loop) noexcept;

    const runtime_options& options_;
    log_port& log_;
    std::unique_ptr<boost::asio::io_context> own_; ///< null: that of the host
    boost::asio::io_context& context_;
    std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work_;
    std::optional<coro::event_loop> loop_;
    std::unique_ptr<shard_services> services_;
    shard_counters counters_;
    struct known_program {
        std::weak_ptr<const program_version> version;
        std::shared_ptr<shard_program> program;
    };
    std::map<const program_version*, known_program> programs_;
    std::unordered_set<running_call*> calls_;
    std::atomic<bool> has_calls_{false}; ///< for other threads
    coro::cancel_source loads_;
    std::atomic<std::thread::id> last_thread_{};
    std::thread thread_;
};

} // namespace heddle::embed
