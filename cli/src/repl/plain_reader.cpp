#include "repl/line_reader.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace heddle::cli {

namespace {

constexpr std::size_t max_line_bytes = std::size_t{64} << 20; // a longer one is cut in two

/// Reads in blocks, so that a program which is piped in does not cost a call of the system per
/// byte.
class plain_reader final : public line_reader {
public:
    plain_reader(signal_pipe& signals, console& output, bool prompts)
        : signals_(signals), output_(output), prompts_(prompts) {}

    line_read next(bool continues) override {
        if (prompts_) output_.out(continues ? "   ...> " : "heddle> ");
        for (;;) {
            const std::size_t end = held_.find('\n', begin_);
            if (end != std::string::npos) return take(end, end + 1);
            if (held_.size() - begin_ > max_line_bytes) return take(held_.size(), held_.size());
            if (ended_ && begin_ < held_.size()) return take(held_.size(), held_.size());
            if (ended_ && failure_.empty()) return {line_read::outcome::end, {}};
            if (ended_) return {line_read::outcome::failed, failure_};
            switch (signals_.wait(STDIN_FILENO)) {
            case signal_pipe::woken_by::input: read_more(); break;
            case signal_pipe::woken_by::interrupt: return interrupted();
            case signal_pipe::woken_by::leave: return {line_read::outcome::terminated, {}};
            case signal_pipe::woken_by::resize: break;
            }
        }
    }

private:
    line_read take(std::size_t end, std::size_t next_begin) {
        line_read read{line_read::outcome::line, held_.substr(begin_, end - begin_)};
        begin_ = next_begin;
        if (read.text.ends_with('\r')) read.text.pop_back();
        return read;
    }

    line_read interrupted() {
        if (!prompts_) return {line_read::outcome::terminated, {}};
        held_.clear();
        begin_ = 0;
        output_.out("\n");
        return {line_read::outcome::interrupted, {}};
    }

    void read_more() {
        held_.erase(0, std::exchange(begin_, 0));
        std::array<char, 65536> piece{};
        const ssize_t count = ::read(STDIN_FILENO, piece.data(), piece.size());
        if (count > 0) held_.append(piece.data(), static_cast<std::size_t>(count));
        else if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
        else {
            if (count < 0) failure_ = std::strerror(errno);
            ended_ = true;
        }
    }

    signal_pipe& signals_;
    console& output_;
    bool prompts_;
    std::string held_;
    std::size_t begin_ = 0; ///< of what was not given out yet
    bool ended_ = false;
    std::string failure_; ///< why the input has ended; empty: it was read to its end
};

} // namespace

std::unique_ptr<line_reader> make_plain_reader(signal_pipe& signals, console& output,
                                               bool prompts) {
    return std::make_unique<plain_reader>(signals, output, prompts);
}

} // namespace heddle::cli
