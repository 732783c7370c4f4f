// What cannot be interrupted, in a thread beside the loop.
#pragma once

#include <heddle/lang/work.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

namespace heddle::lang {

/// A computation that touches nothing of its owner's: it may outlive it.
class side_job {
public:
    side_job() = default;
    virtual ~side_job() = default;
    side_job(const side_job&) = delete;
    side_job& operator=(const side_job&) = delete;

    /// On the thread. What it throws goes on in run_beside().
    virtual void run() = 0;
    /// Bytes that it holds, about.
    [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;

    /// On the thread: nobody waits for the result any more.
    [[nodiscard]] bool abandoned() const noexcept {
        return abandoned_.load(std::memory_order_relaxed);
    }
    void abandon() noexcept { abandoned_.store(true, std::memory_order_relaxed); }

private:
    std::atomic<bool> abandoned_{false};
};

enum class side_end : std::uint8_t {
    done,
    stopped, ///< by the work; the job is abandoned
    refused  ///< there was no thread for it: others, that nobody waits for any more, do not end
};

/// Runs a job in a thread of its own, while the work goes on to be counted: 500 µs at a time. The
/// threads of the process that do this are few, and so is what their jobs hold, abandoned ones
/// included.
[[nodiscard]] side_end run_beside(const std::shared_ptr<side_job>& job, work_meter& work);

} // namespace heddle::lang
