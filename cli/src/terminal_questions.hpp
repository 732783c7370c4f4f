// Questions of a workflow on the terminal.
#pragma once

#include "console.hpp"

#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/semaphore.hpp>
#include <heddle/tasks/tools/user_question.hpp>

namespace heddle::cli {

/// Shows questions on standard error and reads the answers from the controlling terminal, one
/// question at a time. Threads: the loop's.
class terminal_questions {
public:
    /// Its arguments outlive it.
    terminal_questions(coro::event_loop& loop, console& output) : loop_(loop), console_(output) {}

    /// Whether questions can be shown and answered: standard input and error are terminals.
    [[nodiscard]] static bool can_ask(const console_traits& traits) noexcept;

    /// Asks until the answer is one of the choices, by its text or its number. Errors: io_error if
    /// the terminal is gone or its input has ended; cancelled.
    [[nodiscard]] coro::task<result<std::string>> ask(tasks::user_question question,
                                                      coro::call_context context);

private:
    [[nodiscard]] coro::task<result<std::string>> read_answer(tasks::user_question question,
                                                              coro::call_context context);

    coro::event_loop& loop_;
    console& console_;
    coro::semaphore turn_{1};
};

} // namespace heddle::cli
