// What a child writes.
#pragma once

#include <heddle/coro/event_loop.hpp>
#include <heddle/fs/descriptor.hpp>

#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace heddle::process {

/// Reads a pipe to its end, on the loop, and keeps the first `most` bytes. A child never waits for
/// us for longer than a turn of the loop. Held by shared_ptr: a wait under way outlives close().
class output_pipe : public std::enable_shared_from_this<output_pipe> {
public:
    /// `ended` is called on the loop when the pipe has come to its end; never after close().
    output_pipe(coro::event_loop& loop, fs::descriptor reading_end, std::size_t most,
                std::function<void()> ended);
    output_pipe(const output_pipe&) = delete;
    output_pipe& operator=(const output_pipe&) = delete;

    void start();
    /// True once everything was read, an error ended it, or it was closed.
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    /// Takes what is there without waiting (bounded), then reads no more.
    void close() noexcept;

    [[nodiscard]] std::string take_text() noexcept { return std::move(text_); }
    [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

private:
    void wait();
    /// False: nothing more is there now, or ever (ended_).
    [[nodiscard]] bool read_piece() noexcept;
    void read_some() noexcept;

    boost::asio::posix::basic_stream_descriptor<coro::executor> end_;
    std::size_t most_;
    std::function<void()> report_;
    std::string text_;
    std::uint64_t dropped_ = 0;
    bool ended_ = false;
};

} // namespace heddle::process
