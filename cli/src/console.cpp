#include "console.hpp"

#include "display_text.hpp"

#include <heddle/base/utf8.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace heddle::cli {

namespace {

/// No-color.org: set and not empty.
bool is_set(const char* name) {
    const char* value = std::getenv(name);
    return value && *value != '\0';
}

/// 0: neither stream is a terminal that knows its width.
unsigned terminal_columns(int out, int err) noexcept {
    winsize size{};
    for (const int stream : {out, err}) {
        if (::ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    }
    return 0;
}

} // namespace

console_traits console_traits::of_process() {
    const char* term = std::getenv("TERM");
    const bool dumb = term && std::string_view(term) == "dumb";
    console_traits traits;
    traits.out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
    traits.err_is_terminal = ::isatty(STDERR_FILENO) == 1;
    traits.colour = !dumb && !is_set("NO_COLOR");
    traits.can_redraw = !dumb;
    traits.columns = terminal_columns(STDOUT_FILENO, STDERR_FILENO);
    return traits;
}

std::function<void()> console::note_loss(bool lost) {
    if (!lost || out_failed_) return nullptr;
    out_failed_ = true;
    return std::exchange(tell_loss_, nullptr);
}

void console::out(std::string_view text) { write_out(utf8::printable(text)); }

void console::err(std::string_view text) { write_err(utf8::printable(text)); }

void console::out_data(std::string_view text) {
    if (traits_.out_is_terminal) write_out(utf8::printable(text));
    else write_out(text);
}

void console::out_styled(std::string_view text) { write_out(text); }

void console::err_styled(std::string_view text) { write_err(text); }

void console::write_out(std::string_view text) {
    std::function<void()> tell;
    {
        const std::scoped_lock lock(mutex_);
        if (traits_.out_is_terminal) {
            wipe_status();
            end_line();
        }
        bool lost = std::fwrite(text.data(), 1, text.size(), out_) != text.size();
        // What stays in the buffer counts as written, also when the system took nothing of it.
        lost = lost || std::ferror(out_) != 0;
        if (traits_.out_is_terminal) {
            lost = std::fflush(out_) != 0 || lost;
            if (!text.empty()) out_line_open_ = text.back() != '\n';
            draw_status();
        }
        tell = note_loss(lost);
    }
    if (tell) tell();
}

void console::write_err(std::string_view text) {
    std::function<void()> tell;
    {
        const std::scoped_lock lock(mutex_);
        wipe_status();
        end_line();
        // What was written first is seen first when both streams go to one place.
        tell = note_loss(std::fflush(out_) != 0 || std::ferror(out_) != 0);
        put_err(text);
        if (text.ends_with('\n')) draw_status();
    }
    if (tell) tell();
}

void console::err_piece(std::string_view text) {
    std::function<void()> tell;
    {
        const std::scoped_lock lock(mutex_);
        wipe_status();
        tell = note_loss(std::fflush(out_) != 0 || std::ferror(out_) != 0);
        put_err(utf8::printable(text));
        if (!text.empty()) line_open_ = text.back() != '\n';
    }
    if (tell) tell();
}

bool console::line_is_open() const {
    const std::scoped_lock lock(mutex_);
    return line_open_;
}

void console::put_err(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), err_);
    std::fflush(err_);
}

void console::end_line() {
    if (std::exchange(line_open_, false)) put_err("\n");
}

bool console::flush() {
    const std::scoped_lock lock(mutex_);
    forget_status();
    end_line();
    if (std::fflush(out_) != 0 || std::ferror(out_) != 0) out_failed_ = true;
    std::fflush(err_);
    return !out_failed_;
}

void console::on_output_lost(std::function<void()> told) {
    const std::scoped_lock lock(mutex_);
    tell_loss_ = std::move(told);
}

bool console::output_lost() const {
    const std::scoped_lock lock(mutex_);
    return out_failed_;
}

void console::show_status(std::string_view line) {
    const std::scoped_lock lock(mutex_);
    status_ = utf8::printable_line(line);
    draw_status();
}

unsigned console::columns() const noexcept {
    const unsigned now = terminal_columns(::fileno(out_), ::fileno(err_));
    return now != 0 ? now : traits_.columns;
}

void console::draw_status() {
    const bool possible = traits_.err_is_terminal && traits_.can_redraw && !status_held_;
    if (!possible || status_.empty() || line_open_ || out_line_open_) return;
    const unsigned across = columns();
    const std::size_t width = across > 1 ? across - 1 : 79;
    const std::string text = "\r" + cut_to_width(status_, width) + "\x1b[K";
    std::fwrite(text.data(), 1, text.size(), err_);
    std::fflush(err_);
    status_shown_ = true;
}

void console::clear_status() {
    const std::scoped_lock lock(mutex_);
    forget_status();
}

void console::hold_status(bool held) {
    const std::scoped_lock lock(mutex_);
    wipe_status();
    status_held_ = held;
}

void console::wipe_status() {
    if (!status_shown_) return;
    std::fputs("\r\x1b[K", err_);
    std::fflush(err_);
    status_shown_ = false;
}

void console::forget_status() {
    wipe_status();
    status_.clear();
}

} // namespace heddle::cli
