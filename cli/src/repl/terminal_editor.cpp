// Line editing with libedit, where that was found.
#include "repl/line_reader.hpp"

#include <heddle/base/display_width.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/setup/display_text.hpp>

#if HEDDLE_HAVE_LIBEDIT

#include <histedit.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <utility>

namespace heddle::cli {

namespace {

constexpr int history_lines = 2000;

class terminal_editor final : public line_reader {
public:
    explicit terminal_editor(editor_parts parts) : parts_(std::move(parts)) {
        history_ = ::history_init();
        HistEvent event{};
        ::history(history_, &event, H_SETSIZE, history_lines);
        ::history(history_, &event, H_SETUNIQUE, 1);
        for (const std::string& line : parts_.history)
            ::history(history_, &event, H_ENTER, line.c_str());
        editor_ = ::el_init("heddle", stdin, stdout, stderr);
        if (!editor_) return;
        ::el_set(editor_, EL_CLIENTDATA, this);
        ::el_set(editor_, EL_PROMPT_ESC, &terminal_editor::prompt, '\1');
        ::el_set(editor_, EL_EDITOR, "emacs");
        ::el_set(editor_, EL_SIGNAL, 0);
        ::el_set(editor_, EL_HIST, &::history, history_);
        ::el_set(editor_, EL_GETCFN, &terminal_editor::next_character);
        // Wide: of narrow names libedit makes copies that it never frees.
        ::el_wset(editor_, EL_ADDFN, L"heddle-complete", L"Complete a name",
                  &terminal_editor::complete);
        ::el_set(editor_, EL_BIND, "^I", "heddle-complete", nullptr);
        ::el_set(editor_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
        ::el_source(editor_, nullptr); // the user's ~/.editrc
    }
    ~terminal_editor() override {
        if (editor_) ::el_end(editor_);
        ::history_end(history_);
    }

    [[nodiscard]] bool usable() const noexcept { return editor_ != nullptr; }

    line_read next(bool continues) override {
        continues_ = continues;
        woken_ = signal_pipe::woken_by::input;
        parts_.output->settle(); // the editor writes to the terminal itself
        // el_gets would do so only after the prompt, and who types at once would be shown twice.
        ::el_set(editor_, EL_PREP_TERM, 1);
        int count = 0;
        const char* text = ::el_gets(editor_, &count);
        if (woken_ == signal_pipe::woken_by::interrupt) {
            parts_.output->out("^C\n");
            return {line_read::outcome::interrupted, {}};
        }
        if (woken_ == signal_pipe::woken_by::leave) return {line_read::outcome::terminated, {}};
        if (!text || count <= 0) {
            parts_.output->out("\n");
            return {line_read::outcome::end, {}};
        }
        line_read read{line_read::outcome::line,
                       std::string(text, static_cast<std::size_t>(count))};
        while (read.text.ends_with('\n') || read.text.ends_with('\r')) read.text.pop_back();
        entry_ += read.text + "\n";
        return read;
    }

    void end_entry() override {
        std::string entry = std::exchange(entry_, {});
        while (entry.ends_with('\n')) entry.pop_back();
        if (entry.find_first_not_of(" \t\n") == std::string::npos) return;
        HistEvent event{};
        ::history(history_, &event, H_ENTER, entry.c_str());
        parts_.on_entry(entry);
    }

private:
    static terminal_editor& self(EditLine* editor) {
        void* held = nullptr;
        ::el_get(editor, EL_CLIENTDATA, &held);
        return *static_cast<terminal_editor*>(held);
    }

    static char* prompt(EditLine* editor) {
        // What is between the marks of EL_PROMPT_ESC takes no room.
        static char plain[] = "heddle> ";
        static char plain_more[] = "   ...> ";
        static char coloured[] = "\1\x1b[1;36m\1heddle>\1\x1b[0m\1 ";
        static char coloured_more[] = "\1\x1b[2m\1   ...>\1\x1b[0m\1 ";
        const terminal_editor& own = self(editor);
        if (own.parts_.output->traits().colour) return own.continues_ ? coloured_more : coloured;
        return own.continues_ ? plain_more : plain;
    }

    /// EL_GETCFN: a character, or less than 1 to end the line.
    static int next_character(EditLine* editor, wchar_t* out) {
        terminal_editor& own = self(editor);
        for (;;) {
            own.woken_ = own.parts_.signals->wait(STDIN_FILENO);
            if (own.woken_ == signal_pipe::woken_by::input) return read_character(out);
            if (own.woken_ != signal_pipe::woken_by::resize) return -1;
            ::el_resize(editor);
        }
    }

    static int read_byte(unsigned char& byte) {
        ssize_t count = 0;
        do {
            count = ::read(STDIN_FILENO, &byte, 1);
        } while (count < 0 && errno == EINTR);
        return count == 1 ? 1 : 0; // a terminal that is gone returns EIO: the end
    }

    /// UTF-8; bytes that are none become U+FFFD.
    static int read_character(wchar_t* out) {
        std::string bytes;
        do {
            unsigned char byte = 0;
            if (read_byte(byte) != 1) return 0;
            bytes += static_cast<char>(byte);
        } while (utf8::incomplete_end(bytes) == bytes.size());
        *out = static_cast<wchar_t>(utf8::decode(bytes, 0).value);
        return 1;
    }

    static unsigned char complete(EditLine* editor, int) {
        terminal_editor& own = self(editor);
        const LineInfo* line = ::el_line(editor);
        const std::string before(line->buffer, line->cursor);
        completion found = own.parts_.complete(before);
        // What is put into the line is shown as it is.
        std::erase_if(found.candidates,
                      [](const std::string& name) { return utf8::printable_line(name) != name; });
        if (found.word_bytes == 0) return ::el_insertstr(editor, "  ") == 0 ? CC_REFRESH : CC_ERROR;
        if (found.candidates.empty()) return CC_REFRESH_BEEP;
        std::string common = found.candidates.front();
        for (const std::string& each : found.candidates) {
            const auto differ =
                std::mismatch(common.begin(), common.end(), each.begin(), each.end()).first;
            common.erase(differ, common.end());
        }
        common.resize(common.size() - utf8::incomplete_end(common)); // é and è begin alike
        std::string more = common.substr(std::min(found.word_bytes, common.size()));
        const bool only = found.candidates.size() == 1;
        if (only && !common.ends_with('/')) more += ' ';
        if (!more.empty()) return ::el_insertstr(editor, more.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
        own.list(found.candidates);
        return CC_REDISPLAY;
    }

    void list(const std::vector<std::string>& names) {
        constexpr std::size_t most = 120;
        const std::size_t width = std::max(parts_.output->columns(), 20U);
        std::size_t column = 0;
        for (const std::string& name : names) column = std::max(column, display_width(name) + 2);
        const std::size_t across = std::max<std::size_t>(1, width / column);
        std::string text = "\n";
        for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
            text += names[i];
            const bool last = (i + 1) % across == 0 || i + 1 == std::min(names.size(), most);
            text += last ? "\n" : std::string(column - display_width(names[i]), ' ');
        }
        if (names.size() > most) text += "… " + std::to_string(names.size() - most) + " more\n";
        parts_.output->out(text);
        parts_.output->settle();
    }

    editor_parts parts_;
    History* history_ = nullptr;
    EditLine* editor_ = nullptr;
    std::string entry_; ///< lines that are not in the history yet, each with its end
    bool continues_ = false;
    signal_pipe::woken_by woken_ = signal_pipe::woken_by::input;
};

} // namespace

std::unique_ptr<line_reader> make_terminal_editor(editor_parts parts) {
    if (!parts.output->traits().can_redraw) return nullptr;
    // libedit counts characters as the locale has them; without one, UTF-8 as everywhere in heddle.
    if (!std::setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
    auto object = std::make_unique<terminal_editor>(std::move(parts));
    if (!object->usable()) return nullptr;
    return object;
}

} // namespace heddle::cli

#else

namespace heddle::cli {

std::unique_ptr<line_reader> make_terminal_editor(editor_parts) { return nullptr; }

} // namespace heddle::cli

#endif
