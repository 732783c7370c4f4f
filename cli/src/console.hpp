// Standard output and standard error, with one status line that never mixes with other text.
#pragma once

#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

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

/// Threads: any; a call at a time.
class console {
public:
    console(std::FILE* out, std::FILE* err, console_traits traits) noexcept
        : out_(out), err_(err), traits_(traits) {}
    ~console() { clear_status(); }
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
    /// A part of a line for people on standard error, which the next one continues; anything else
    /// is written on a line of its own.
    void err_piece(std::string_view text);
    /// Whether pieces have left a line without its end.
    [[nodiscard]] bool line_is_open() const;
    /// Both streams' texts are with the system. False when some of standard output was lost.
    [[nodiscard]] bool flush();
    /// Told once, by the call that finds out, when standard output takes nothing more: whoever read
    /// it has gone, or the disk is full. Empty: nobody.
    void on_output_lost(std::function<void()> told);
    [[nodiscard]] bool output_lost() const;

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
    void write_err(std::string_view text);
    // With the mutex held.
    void wipe_status();
    void draw_status();
    void forget_status();
    void end_line();
    void put_err(std::string_view text);
    [[nodiscard]] std::function<void()> note_loss(bool lost);

    mutable std::mutex mutex_;
    std::FILE* out_;
    std::FILE* err_;
    console_traits traits_;
    std::string status_; ///< the line that is shown, or is shown again; empty: none
    bool status_shown_ = false;
    bool status_held_ = false;
    bool line_open_ = false;     ///< pieces have left a line without its end
    bool out_line_open_ = false; ///< the same of standard output, on a terminal
    bool out_failed_ = false;
    std::function<void()> tell_loss_;
};

} // namespace heddle::cli
