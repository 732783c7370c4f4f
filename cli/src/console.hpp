// Standard output and standard error, with one status line that never mixes with other text.
#pragma once

#include "stream_writer.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// What is known about the two streams; tests make their own.
struct console_traits {
    bool out_is_terminal = false;
    bool err_is_terminal = false;
    bool colour = true;     ///< false with NO_COLOR or TERM=dumb
    bool can_redraw = true; ///< false with TERM=dumb: no status line
    unsigned columns = 0;   ///< of the terminal when it was asked; 0: unknown

    /// Asks the system and the variables NO_COLOR, TERM and COLUMNS.
    [[nodiscard]] static console_traits of_process();
};

/// How long the end of a run that was interrupted or has timed out waits for a reader who takes
/// nothing.
inline constexpr std::chrono::seconds time_for_readers{3};

/// What goes to a pipe, a socket or a terminal, whose reader may stop to read, is written by
/// stream_writers: one for both streams where they lead to one place, so that the order stays.
/// Files are written through the C library's buffer.
/// Threads: any; a call at a time.
class console {
public:
    enum class stream : std::uint8_t { out, err };

    console(std::FILE* out, std::FILE* err, console_traits traits);
    /// Writes what waits.
    ~console();
    console(const console&) = delete;
    console& operator=(const console&) = delete;

    /// Text for people. Names, files and servers have a part in it, so it is made printable
    /// (utf8::printable), also for a file or a pipe, from which it may be shown later.
    void out(std::string_view text);
    void err(std::string_view text);
    /// What programs read: results, JSON, sources. As it is; on a terminal made printable.
    void out_data(std::string_view text);
    /// As it is: text with our own colours, in which all that comes from outside is printable.
    void out_styled(std::string_view text);
    void err_styled(std::string_view text);
    /// Lines of the log, as they are. While a loop runs and megabytes of them are not read, they
    /// are dropped; it is said how many.
    void err_log(std::string_view lines);
    /// A part of a line for people on standard error, which the next one continues; anything else
    /// is written on a line of its own. Dropped as lines of the log are.
    void err_piece(std::string_view text);
    /// Whether pieces have left a line without its end.
    [[nodiscard]] bool line_is_open() const;
    /// Both streams' texts are with the system. False when some of standard output was lost.
    [[nodiscard]] bool flush();
    /// The same for what somebody else is to write behind, such as a line editor; the status stays.
    void settle();
    /// Told once, on any thread, when standard output takes nothing more: whoever read it has gone,
    /// or the disk is full. Empty: nobody, from the return of this call on. Must not use the
    /// console.
    void on_output_lost(std::function<void()> told);
    [[nodiscard]] bool output_lost() const noexcept { return out_lost_; }

    /// While it lives the thread runs an event loop, and no call waits for a reader. Otherwise
    /// calls wait while the stream is full.
    class loop_time {
    public:
        explicit loop_time(console& output) : output_(output) { output_.wait_for_readers(false); }
        ~loop_time() { output_.wait_for_readers(true); }
        loop_time(const loop_time&) = delete;
        loop_time& operator=(const loop_time&) = delete;

    private:
        console& output_;
    };
    /// Whether so much waits for a reader (stream_writer::room) that more of it should wait.
    [[nodiscard]] bool is_full(stream which) const;
    /// Told on any thread when that may have changed. As on_output_lost.
    void on_room(stream which, std::function<void()> told);
    /// From now on a reader who takes nothing for so long is waited for no longer: what waits is
    /// lost.
    void wait_at_most(std::chrono::milliseconds patience);

    /// Shows `line` on standard error in place of the status line before it, cut to the terminal's
    /// width. Other lines appear above it. Does nothing unless standard error is a terminal, and
    /// while a line is open.
    void show_status(std::string_view line);
    void clear_status();
    /// While held nothing is shown: another program has the terminal.
    void hold_status(bool held);

    /// The width of the terminal as it is now; where it is not known, that of the traits.
    [[nodiscard]] unsigned columns() const noexcept;
    [[nodiscard]] const console_traits& traits() const noexcept { return traits_; }
    [[nodiscard]] bool err_in_colour() const noexcept {
        return traits_.err_is_terminal && traits_.colour;
    }

private:
    void write_out(std::string_view text);
    void write_err(std::string_view text, bool is_log);
    void wait_for_readers(bool waits);
    void lose_output();
    void tell_room();
    // With the mutex held.
    void wipe_status();
    void draw_status();
    void forget_status();
    void end_line();
    [[nodiscard]] bool put_out(std::string_view text); ///< false: some of it is lost
    [[nodiscard]] bool send_out();                     ///< what put_out gathered; as put_out
    void put_err(std::string_view text);
    void put(stream_writer& to, std::FILE* file, std::string_view text);
    [[nodiscard]] bool drops_log();
    void tell_dropped();

    mutable std::mutex mutex_;
    std::FILE* out_;
    std::FILE* err_;
    console_traits traits_;
    bool waits_ = true;         ///< for readers
    std::string gathered_;      ///< for the writer of standard output
    std::uint64_t dropped_ = 0; ///< texts of the log
    std::string status_;        ///< the line that is shown, or is shown again; empty: none
    bool status_shown_ = false;
    bool status_held_ = false;
    bool line_open_ = false;     ///< pieces have left a line without its end
    bool out_line_open_ = false; ///< the same of standard output, on a terminal

    std::atomic<bool> out_lost_{false};
    std::mutex telling_; ///< of what follows; asked for by the writers' threads
    std::function<void()> tell_loss_;
    std::array<std::function<void()>, 2> tell_room_; ///< by stream

    stream_writer* out_writer_ = nullptr; ///< null: written through the file
    stream_writer* err_writer_ = nullptr; ///< the same; may be that of standard output
    std::vector<std::unique_ptr<stream_writer>> writers_; ///< the first to go: they tell us
};

} // namespace heddle::cli
