// What a job shares with its call.
#pragma once

#include "pending_handler.hpp"
#include "piece_buffer.hpp"
#include "running_call.hpp"
#include "runtime_core.hpp"

#include <heddle/job.hpp>

#include <boost/asio/any_completion_executor.hpp>

#include <memory>
#include <mutex>
#include <optional>

namespace heddle::embed {

/// Receives the end of the call and keeps it for the reader. Threads: any.
class job_state final : public call_listener, public std::enable_shared_from_this<job_state> {
public:
    using handler = pending_handler<result<answer>>;

    /// Before the call is submitted. `core`, `call`: null without a program.
    void watch(const std::shared_ptr<runtime_core>& core, const std::shared_ptr<running_call>& call,
               std::shared_ptr<piece_buffer> pieces) {
        core_ = core;
        call_ = call;
        pieces_ = std::move(pieces);
    }
    [[nodiscard]] piece_buffer& pieces() noexcept { return *pieces_; }
    /// Where handlers without an executor run.
    [[nodiscard]] boost::asio::any_completion_executor handler_executor() const;

    void on_end(result<answer> ended) override;
    void take(handler waiting);
    void cancel();

private:
    std::weak_ptr<runtime_core> core_; // a job that is kept holds nothing of a runtime that is gone
    std::weak_ptr<running_call> call_;
    std::shared_ptr<piece_buffer> pieces_;
    std::mutex mutex_;
    bool has_ended_ = false;
    std::optional<result<answer>> ended_; ///< until it is taken
    handler waiting_;
};

} // namespace heddle::embed
