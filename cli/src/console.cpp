#include "console.hpp"

#include "display_text.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace heddle::cli {

namespace {

/// No-color.org: set and not empty.
bool is_set(const char* name) {
    const char* value = std::getenv(name);
    return value && *value != '\0';
}

unsigned terminal_columns() {
    winsize size{};
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
        if (::ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    }
    return 0;
}

} // namespace

console_traits console_traits::of_process() {
    const char* term = std::getenv("TERM");
    const bool dumb = term && std::string_view(term) == "dumb";
    console_traits made;
    made.out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
    made.err_is_terminal = ::isatty(STDERR_FILENO) == 1;
    made.colour = !dumb && !is_set("NO_COLOR");
    made.can_redraw = !dumb;
    made.columns = terminal_columns();
    return made;
}

void console::out(std::string_view text) {
    const std::scoped_lock lock(mutex_);
    wipe_status();
    if (std::fwrite(text.data(), 1, text.size(), out_) != text.size()) out_failed_ = true;
    if (traits_.out_is_terminal) std::fflush(out_);
}

void console::err(std::string_view text) {
    const std::scoped_lock lock(mutex_);
    wipe_status();
    // What was written first is seen first when both streams go to one place.
    if (std::fflush(out_) != 0) out_failed_ = true;
    std::fwrite(text.data(), 1, text.size(), err_);
    std::fflush(err_);
}

bool console::flush() {
    const std::scoped_lock lock(mutex_);
    wipe_status();
    if (std::fflush(out_) != 0 || std::ferror(out_) != 0) out_failed_ = true;
    std::fflush(err_);
    return !out_failed_;
}

void console::show_status(std::string_view line) {
    const std::scoped_lock lock(mutex_);
    if (!traits_.err_is_terminal || !traits_.can_redraw || status_held_) return;
    const std::size_t width = traits_.columns > 1 ? traits_.columns - 1 : 79;
    const std::string text = "\r" + cut_to_width(line, width) + "\x1b[K";
    std::fwrite(text.data(), 1, text.size(), err_);
    std::fflush(err_);
    status_shown_ = true;
}

void console::clear_status() {
    const std::scoped_lock lock(mutex_);
    wipe_status();
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

} // namespace heddle::cli
