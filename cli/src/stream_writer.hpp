// Writing to a stream whose reader may stop to read.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>

namespace heddle::cli {

/// Writes strings in order, on a separate thread that starts with the first one. Passing a string
/// never waits for the reader of the stream.
///
/// A thread, because nothing else works for all that a standard stream may be. Waiting on the event
/// loop until the descriptor takes something, and then writing little, may block nonetheless: a
/// terminal that takes a single byte counts as ready, and another process that has the same pipe
/// may fill it in between. O_NONBLOCK belongs to the open file, which is the shell's and our
/// neighbours' as well, and a stream cannot always be opened anew. What is more, commands without a
/// loop print too.
///
/// Threads: any; write, write_in_turn and wait_at_most one at a time, the last not while others
/// wait.
class stream_writer {
public:
    /// So much may wait; a text that begins below it is taken whole.
    static constexpr std::size_t room = std::size_t{1} << 20;

    /// Called on the writer's thread, or by the call that finds out.
    struct listeners {
        std::function<void(int descriptor)> on_lost; ///< some of what it was given is lost
        std::function<void()> on_room;               ///< it was full, and half of it is free again
    };

    explicit stream_writer(listeners reported);
    /// As drain().
    ~stream_writer();
    stream_writer(const stream_writer&) = delete;
    stream_writer& operator=(const stream_writer&) = delete;

    /// Never waits for a reader.
    void write(int descriptor, std::string_view text);
    /// Waits while it is full, as often as it takes.
    void write_in_turn(int descriptor, std::string_view text);

    /// Bytes that the system has not taken yet.
    [[nodiscard]] std::size_t waiting() const;
    /// More than `room` waits, or has waited and the half of it still does.
    [[nodiscard]] bool full() const;

    /// From now on a wait for a reader who takes nothing for so long gives up: what waits then, and
    /// all that is written later, is lost.
    void wait_at_most(std::chrono::milliseconds patience) noexcept { patience_ = patience; }
    /// Waits until everything is with the system, or lost.
    void drain();
    /// The same, for `limit` at most; nothing is given up.
    void drain_within(std::chrono::milliseconds limit);

private:
    struct state;
    template <class Done>
    void wait_until(Done done);
    void begin();

    std::shared_ptr<state> state_; ///< the thread's too, which may never come back from a write
    std::thread thread_;
    std::optional<std::chrono::milliseconds> patience_;
};

/// Whether a write to the descriptor may wait for a reader: a pipe, a socket or a terminal.
[[nodiscard]] bool may_wait_for_reader(int descriptor) noexcept;
/// Whether both lead to one place, where the order of what is written to them is seen.
[[nodiscard]] bool lead_to_one_place(int one, int other) noexcept;
/// Writes what standard error takes without waiting for a reader. May be called by a signal
/// handler.
void write_error_at_once(std::string_view text) noexcept;

} // namespace heddle::cli
