#include "console.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/object.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace heddle::cli {

namespace {

/// Text for the writer of standard output is gathered up to this size: waking it costs time.
constexpr std::size_t gathered_out = 4096;
/// With more than that unread, lines of the log are dropped.
constexpr std::size_t max_log_bytes = 8 * stream_writer::room;

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

console::console(std::FILE* out, std::FILE* err, console_traits traits)
    : out_(out), err_(err), traits_(traits) {
    const int out_number = ::fileno(out);
    const int err_number = ::fileno(err);
    const auto make = [&] {
        stream_writer::listeners reported;
        reported.on_lost = [this, out_number](int descriptor) {
            if (descriptor == out_number) lose_output();
        };
        reported.on_room = [this] { report_room(); };
        writers_.push_back(std::make_unique<stream_writer>(std::move(reported)));
        return writers_.back().get();
    };
    if (may_wait_for_reader(out_number)) out_writer_ = make();
    if (!may_wait_for_reader(err_number)) return;
    const bool together = out_writer_ && lead_to_one_place(out_number, err_number);
    err_writer_ = together ? out_writer_ : make();
}

console::~console() {
    const std::scoped_lock lock(mutex_);
    forget_status();
    (void)send_out();
}

void console::lose_output() {
    const std::scoped_lock lock(reporting_);
    if (out_lost_.exchange(true)) return;
    if (const auto report = std::exchange(report_loss_, nullptr)) report();
}

void console::report_room() {
    const std::scoped_lock lock(reporting_);
    for (const auto& report : report_room_) {
        if (report) report();
    }
}

void console::out(std::string_view text) { write_out(utf8::printable(text)); }

void console::err(std::string_view text) { write_err(utf8::printable(text), false); }

void console::out_data(std::string_view text) {
    if (traits_.out_is_terminal) write_out(utf8::printable(text));
    else write_out(text);
}

void console::err_data(std::string_view lines, bool is_log) { put_line(lines, is_log); }

void console::write_notes_as_json() {
    const std::scoped_lock lock(mutex_);
    notes_as_json_ = true;
}

std::string console::note_of(std::string_view text) const {
    if (!notes_as_json_) return std::string(text);
    const std::size_t first = text.find_first_not_of("\n");
    if (first == std::string_view::npos) return {};
    const std::size_t last = text.find_last_not_of("\n");
    return setup::json_line(
        boost::json::object{{"event", "note"}, {"text", text.substr(first, last - first + 1)}});
}

void console::out_styled(std::string_view text) { write_out(text); }

void console::err_styled(std::string_view text) { write_err(text, false); }

void console::err_log(std::string_view lines) { write_err(lines, true); }

void console::put(stream_writer& to, std::FILE* file, std::string_view text) {
    if (waits_) to.write_in_turn(::fileno(file), text);
    else to.write(::fileno(file), text);
}

bool console::put_out(std::string_view text) {
    if (!out_writer_) {
        const bool whole = std::fwrite(text.data(), 1, text.size(), out_) == text.size();
        // What stays in the buffer counts as written, also when the system took nothing of it.
        return whole && std::ferror(out_) == 0;
    }
    // The writer is woken for blocks, and a large text is not copied once more.
    if (gathered_.size() + text.size() < gathered_out) {
        gathered_ += text;
        return true;
    }
    (void)send_out();
    put(*out_writer_, out_, text);
    return true;
}

bool console::send_out() {
    if (!out_writer_) return std::fflush(out_) == 0 && std::ferror(out_) == 0;
    if (!gathered_.empty()) put(*out_writer_, out_, std::exchange(gathered_, {}));
    return true;
}

void console::write_out(std::string_view text) {
    bool whole = true;
    {
        const std::scoped_lock lock(mutex_);
        if (traits_.out_is_terminal) {
            wipe_status();
            end_line();
        }
        whole = put_out(text);
        if (traits_.out_is_terminal) {
            whole = send_out() && whole;
            if (!text.empty()) out_line_open_ = text.back() != '\n';
            draw_status();
        }
    }
    if (!whole) lose_output();
}

bool console::drops_log() {
    if (waits_ || !err_writer_) return false;
    const std::size_t most = dropped_ != 0 ? max_log_bytes / 2 : max_log_bytes;
    if (err_writer_->waiting() <= most) return false;
    ++dropped_;
    return true;
}

void console::report_dropped() {
    if (dropped_ == 0) return;
    const std::string count = std::to_string(std::exchange(dropped_, 0));
    put_err(note_of("heddle: " + count + " lines of the log were dropped: nobody read them\n"));
}

void console::write_err(std::string_view text, bool is_log) {
    if (!notes_as_json_) return put_line(text, is_log);
    if (const std::string note = note_of(text); !note.empty()) put_line(note, is_log);
}

void console::put_line(std::string_view text, bool is_log) {
    bool whole = true;
    {
        const std::scoped_lock lock(mutex_);
        if (is_log && drops_log()) return;
        wipe_status();
        end_line();
        // What was written first is seen first when both streams go to one place.
        whole = send_out();
        report_dropped();
        put_err(text);
        if (text.ends_with('\n')) draw_status();
    }
    if (!whole) lose_output();
}

void console::err_piece(std::string_view text) {
    bool whole = true;
    {
        const std::scoped_lock lock(mutex_);
        if (drops_log()) return;
        wipe_status();
        whole = send_out();
        if (notes_as_json_) {
            put_err(setup::json_line(
                boost::json::object{{"event", "text"}, {"text", utf8::printable(text)}}));
        } else {
            put_err(utf8::printable(text));
            if (!text.empty()) line_open_ = text.back() != '\n';
        }
    }
    if (!whole) lose_output();
}

bool console::line_is_open() const {
    const std::scoped_lock lock(mutex_);
    return line_open_;
}

void console::put_err(std::string_view text) {
    if (err_writer_) return put(*err_writer_, err_, text);
    std::fwrite(text.data(), 1, text.size(), err_);
    std::fflush(err_);
}

void console::end_line() {
    if (std::exchange(line_open_, false)) put_err("\n");
}

bool console::flush() {
    {
        const std::scoped_lock lock(mutex_);
        forget_status();
        end_line();
        report_dropped();
    }
    settle();
    return !out_lost_;
}

void console::settle() {
    bool whole = true;
    {
        const std::scoped_lock lock(mutex_);
        whole = send_out();
        if (!err_writer_) std::fflush(err_);
    }
    if (!whole) lose_output();
    for (const auto& each : writers_) each->drain();
}

void console::on_output_lost(std::function<void()> reported) {
    const std::scoped_lock lock(reporting_);
    report_loss_ = std::move(reported);
}

void console::on_room(stream which, std::function<void()> reported) {
    const std::scoped_lock lock(reporting_);
    report_room_.at(static_cast<std::size_t>(which)) = std::move(reported);
}

bool console::is_full(stream which) const {
    const stream_writer* const writer = which == stream::out ? out_writer_ : err_writer_;
    return writer && writer->full();
}

void console::wait_for_readers(bool waits) {
    const std::scoped_lock lock(mutex_);
    waits_ = waits;
}

void console::wait_at_most(std::chrono::milliseconds patience) {
    const std::scoped_lock lock(mutex_);
    for (const auto& each : writers_) each->wait_at_most(patience);
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
    const bool possible =
        traits_.err_is_terminal && traits_.can_redraw && !status_held_ && !notes_as_json_;
    if (!possible || status_.empty() || line_open_ || out_line_open_) return;
    // A stopped terminal (Ctrl-S) is not to show all of them later.
    if (err_writer_ && err_writer_->waiting() > gathered_out) return;
    const unsigned across = columns();
    const std::size_t width = across > 1 ? across - 1 : 79;
    put_err("\r" + setup::cut_to_width(status_, width) + "\x1b[K");
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
    if (!held || !err_writer_) return;
    // What was written before is seen before what the program shows; but on a terminal that is
    // still, where the program will wait too, nobody else is kept waiting.
    err_writer_->drain_within(std::chrono::milliseconds(50));
}

void console::wipe_status() {
    if (!status_shown_) return;
    put_err("\r\x1b[K");
    status_shown_ = false;
}

void console::forget_status() {
    wipe_status();
    status_.clear();
}

} // namespace heddle::cli
