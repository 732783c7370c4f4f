// One call of a workflow.
#pragma once

#include "call_session.hpp"
#include "pending_handler.hpp"
#include "piece_buffer.hpp"
#include "program_version.hpp"
#include "shard.hpp"

#include <heddle/answer.hpp>
#include <heddle/call_options.hpp>
#include <heddle/coro/cancel.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/json.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace heddle::embed {

class recorded_call;
class runtime_core;

/// What is asked for.
struct call_request {
    std::shared_ptr<const program_version> program;
    std::string function;
    json input;
    call_options options;
    std::string tag; ///< of the options, which only refer to it
};

/// Receives the end of a call, on the thread of its shard or on that of its beginning.
class call_listener {
public:
    virtual ~call_listener() = default;
    virtual void on_end(result<answer> ended) = 0;
};

/// A call from its beginning, on any thread, to its end on a shard.
class running_call : public std::enable_shared_from_this<running_call> {
public:
    running_call(std::shared_ptr<runtime_core> core, call_request wanted,
                 std::shared_ptr<call_listener> listener, std::shared_ptr<piece_buffer> pieces);

    // Any thread.
    [[nodiscard]] const call_options& options() const noexcept { return wanted_.options; }
    /// Requests the end, on the shard.
    void cancel(cancel_reason reason) noexcept;
    /// The reader of the pieces has room again.
    void reopen() noexcept;
    /// The queue lets it run.
    void admit() noexcept;
    /// Ends a call that does not begin.
    void fail(const error& failure) noexcept;

    // The runtime, under its lock.
    shard* home = nullptr;
    bool admitted = false; ///< counts as running, and not as queued

    // The shard's thread.
    void begin() noexcept;
    void request_cancel(cancel_reason reason) noexcept { cancel_.request(reason); }

private:
    [[nodiscard]] coro::task<void> run();
    [[nodiscard]] coro::task<result<void>> wait_for_a_place();
    [[nodiscard]] coro::task<result<answer>> perform_recorded(
        std::shared_ptr<shard_program> program);
    /// `record`: null for a call that is not recorded; else it outlives the evaluation.
    [[nodiscard]] coro::task<result<answer>> evaluate_in_session(
        std::shared_ptr<shard_program> program, json input, recorded_call* record);
    [[nodiscard]] coro::task<result<answer>> evaluate(call_session& session, json data,
                                                      recorded_call* record);
    [[nodiscard]] coro::call_context context();
    [[nodiscard]] error out_of_time(std::string_view when = {}) const;
    class end_at_last;
    void count(const result<answer>& ended);
    [[nodiscard]] error plain(const error& failure) const noexcept;
    void end(result<answer> ended) noexcept;

    std::shared_ptr<runtime_core> core_;
    call_request wanted_;
    std::shared_ptr<call_listener> listener_;
    std::shared_ptr<piece_buffer> pieces_; ///< null: nobody reads them
    const coro::clock::time_point begun_ = coro::clock::now();
    coro::deadline until_;
    coro::cancel_source cancel_;
    coro::wait_point place_;
    call_session* session_ = nullptr; ///< while it runs
    bool has_begun_ = false;          ///< its shard knows it
};

} // namespace heddle::embed
