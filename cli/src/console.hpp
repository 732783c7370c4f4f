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

/// Properties of the two streams; tests create their own.
struct console_traits {
    bool out_is_terminal = false;
    bool err_is_terminal = false;
    bool colour = true;     ///< false with NO_COLOR or TERM=dumb
    bool can_redraw = true; ///< false with TERM=dumb: no status line
    unsigned columns = 0;   ///< of the terminal at the start; 0: unknown

    /// Reads the system and the variables NO_COLOR, TERM and COLUMNS.
    [[nodiscard]] static console_traits of_process();
};

/// The message when the reader of standard output has gone, or the disk is full.
inline constexpr std::string_view output_lost_message = "standard output cannot be written";

/// How long the end of a run that was interrupted or has timed out waits for a reader that reads
/// nothing.
inline constexpr std::chrono::seconds time_for_readers{3};

/// The output of the program. Text for a pipe, a socket or a terminal, whose reader may stop
/// reading, is written by stream_writers: one for both streams if they lead to one place, so that
/// the order is kept. Files are written through the buffer of the C library.
/// Threads: any; one call at a time.
class console {
public:
    enum class stream : std::uint8_t { out, err };

    console(std::FILE* out, std::FILE* err, console_traits traits);
    /// Writes what waits.
    ~console();
    console(const console&) = delete;
    console& operator=(const console&) = delete;

    /// Text for people. Parts of it come from names, files and servers, so it is made printable
    /// (utf8::printable), even for a file or a pipe, which may be displayed later.
    void out(std::string_view text);
    void err(std::string_view text);
    /// Data for programs: results, JSON, sources. Unchanged; on a terminal made printable.
    void out_data(std::string_view text);
    /// Lines of JSON on standard error (setup::json_line), unchanged. `is_log`: dropped like lines
    /// of the log.
    void err_data(std::string_view lines, bool is_log = false);
    /// From now on standard error has objects of JSON, one in a line: err_data() as it is, and
    /// other text as {"event": "note", "text": …}. No colours, no status line. Before other threads
    /// write.
    void write_notes_as_json();
    /// Unchanged: text with colours, whose parts from outside were made printable.
    void out_styled(std::string_view text);
    void err_styled(std::string_view text);
    /// Lines of the log, unchanged. While a loop runs and megabytes of them are unread, they are
    /// dropped, and their number is reported.
    void err_log(std::string_view lines);
    /// A part of a line for people on standard error, which the next part continues; other text
    /// starts a new line. Dropped like lines of the log.
    void err_piece(std::string_view text);
    /// Whether a line of pieces is not ended yet.
    [[nodiscard]] bool line_is_open() const;
    /// Flushes both streams. Result: false if a part of standard output was lost.
    [[nodiscard]] bool flush();
    /// The same for text that another writer, such as a line editor, continues; the status stays.
    void settle();
    /// Called once, on any thread, when standard output fails: its reader has gone, or the disk is
    /// full. May be empty: after this call returns, no earlier function is called. Must not use the
    /// console.
    void on_output_lost(std::function<void()> reported);
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
    /// Called on any thread when that may have changed. As on_output_lost.
    void on_room(stream which, std::function<void()> reported);
    /// Bounds the time for which a reader that reads nothing is waited for from now on. After it,
    /// pending text is lost.
    void wait_at_most(std::chrono::milliseconds patience);

    /// Shows `line` on standard error in place of the previous status line, cut to the width of the
    /// terminal. Other lines appear above it. Has no effect unless standard error is a terminal,
    /// and while a line is open.
    void show_status(std::string_view line);
    void clear_status();
    /// While held, no status line is shown: another program has the terminal.
    void hold_status(bool held);

    /// The current width of the terminal; if unknown, that of the traits.
    [[nodiscard]] unsigned columns() const noexcept;
    [[nodiscard]] const console_traits& traits() const noexcept { return traits_; }
    [[nodiscard]] bool err_in_colour() const noexcept {
        return traits_.err_is_terminal && traits_.colour && !notes_as_json_;
    }

private:
    void write_out(std::string_view text);
    void write_err(std::string_view text, bool is_log);
    void put_line(std::string_view text, bool is_log); ///< on standard error, as it is
    void wait_for_readers(bool waits);
    void lose_output();
    void report_room();
    // With the mutex held.
    void wipe_status();
    void draw_status();
    void forget_status();
    void end_line();
    [[nodiscard]] bool put_out(std::string_view text); ///< false: some of it is lost
    [[nodiscard]] bool send_out();                     ///< what put_out gathered; as put_out
    void put_err(std::string_view text);
    void put(stream_writer& to, std::FILE* file, std::string_view text);
    [[nodiscard]] std::string note_of(std::string_view text) const;
    [[nodiscard]] bool drops_log();
    void report_dropped();

    mutable std::mutex mutex_;
    std::FILE* out_;
    std::FILE* err_;
    console_traits traits_;
    bool waits_ = true;         ///< for readers
    std::string gathered_;      ///< for the writer of standard output
    std::uint64_t dropped_ = 0; ///< texts of the log
    std::string status_;        ///< the current line, shown again after other text; empty: none
    bool status_shown_ = false;
    bool status_held_ = false;
    bool line_open_ = false;     ///< a line of pieces is not ended yet
    bool notes_as_json_ = false; ///< on standard error
    bool out_line_open_ = false; ///< the same for standard output, on a terminal

    std::atomic<bool> out_lost_{false};
    std::mutex reporting_; ///< of the members below; locked by the threads of the writers
    std::function<void()> report_loss_;
    std::array<std::function<void()>, 2> report_room_; ///< by stream

    stream_writer* out_writer_ = nullptr; ///< null: written through the file
    stream_writer* err_writer_ = nullptr; ///< the same; may be that of standard output
    std::vector<std::unique_ptr<stream_writer>> writers_; ///< the first to go: they notify us
};

} // namespace heddle::cli
