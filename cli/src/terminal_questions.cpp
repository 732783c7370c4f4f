#include "terminal_questions.hpp"

#include "parking/parked_questions.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/ports/step_memory.hpp>

#include <boost/asio/posix/stream_descriptor.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace heddle::cli {

namespace {

constexpr std::size_t max_answer = 64 * 1024;

/// The controlling terminal, opened anew: standard input stays as it is.
class terminal_input {
public:
    explicit terminal_input(boost::asio::io_context& context) : input_(context) {
        const int opened = ::open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
        boost::system::error_code failed;
        if (opened >= 0) input_.assign(opened, failed);
        if (opened >= 0 && failed) ::close(opened);
    }
    [[nodiscard]] bool good() const noexcept { return input_.is_open(); }

    /// One line, without its end.
    coro::task<result<std::string>> line(coro::call_context context);

private:
    boost::asio::posix::stream_descriptor input_;
    std::string read_;
};

coro::task<result<std::string>> terminal_input::line(coro::call_context context) {
    for (;;) {
        if (const std::size_t end = read_.find('\n'); end != std::string::npos) {
            std::string text = read_.substr(0, end);
            read_.erase(0, end + 1);
            co_return text;
        }
        std::array<char, 4096> piece{};
        const ssize_t got = ::read(input_.native_handle(), piece.data(), piece.size());
        if (got > 0) {
            read_.append(piece.data(), static_cast<std::size_t>(got));
            if (read_.size() > max_answer) {
                co_return error(errc::limit_exceeded, "the answer is longer than 64 KiB");
            }
            continue;
        }
        if (got < 0 && errno == EINTR) continue;
        if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) {
            co_return error(errc::io_error,
                            "the question was not answered: the terminal's input "
                            "has ended");
        }
        // The handler may run after the wait was given up: it shares what it wakes.
        const auto ready = std::make_shared<coro::wait_point>();
        input_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                          [ready](boost::system::error_code) { ready->notify(); });
        co_await ready->wait(context);
        if (auto stop = context.stop_error()) {
            boost::system::error_code ignored;
            input_.cancel(ignored);
            co_return *std::move(stop);
        }
    }
}

[[nodiscard]] std::string shown(const tasks::user_question& question) {
    std::string text = "[question] " + question.text + "\n";
    for (std::size_t i = 0; i < question.choices.size(); ++i) {
        text += "  " + std::to_string(i + 1) + ". " + question.choices[i] + "\n";
    }
    if (question.fallback) text += "[" + *question.fallback + "] ";
    return text + "> ";
}

/// The status line stays away while somebody types.
class held_status {
public:
    explicit held_status(console& output) : output_(output) { output_.hold_status(true); }
    ~held_status() { output_.hold_status(false); }
    held_status(const held_status&) = delete;
    held_status& operator=(const held_status&) = delete;

private:
    console& output_;
};

} // namespace

bool terminal_questions::can_ask(const console_traits& traits) noexcept {
    return traits.err_is_terminal && ::isatty(STDIN_FILENO) == 1;
}

coro::task<result<std::string>> terminal_questions::ask(tasks::user_question question,
                                                        coro::call_context context) {
    // The step has been cut by a deadline: nobody uses the answer any more.
    if (context.step && !context.step->may_ask()) {
        error stop = co_await context.step->refused(context);
        co_return stop;
    }
    result<void> turn = co_await turn_.acquire(context);
    if (!turn) co_return std::move(turn).error();
    const coro::held_permit held(turn_);
    result<std::string> answer = co_await read_answer(std::move(question), context);
    co_return answer;
}

coro::task<result<std::string>> terminal_questions::read_answer(tasks::user_question question,
                                                                coro::call_context context) {
    terminal_input input(loop_.context());
    if (!input.good()) {
        co_return error(errc::io_error, "the question cannot be asked: there is no terminal");
    }
    const held_status held(console_);
    console_.err(shown(question));
    for (;;) {
        result<std::string> line = co_await input.line(context);
        if (!line) {
            console_.err("\n");
            co_return line;
        }
        const std::string answer = utf8::replace_invalid(std::string(ascii::trim(*line)));
        if (const auto named = answer_in(question, answer)) co_return *named;
        console_.err("one of the choices, by its text or number\n> ");
    }
}

} // namespace heddle::cli
