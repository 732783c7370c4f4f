// Questions of a workflow to its user.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heddle::tasks {

struct user_question {
    std::string text;                    ///< may come from a model; untrusted
    std::vector<std::string> choices;    ///< empty: any answer
    std::optional<std::string> fallback; ///< the answer if nothing is entered
};

/// Asks the user a question, which may take any time. Result: the answer. Called on the session's
/// thread; several calls may be in progress at once. In a row that is planned or replayed
/// (ports::step_memory::may_ask() of `context.step` is false), no question is asked, and it ends
/// with a cancelled error. Errors: raised in the workflow. Cancellation: ends the question.
using user_port = std::function<coro::task<result<std::string>>(user_question, coro::call_context)>;

} // namespace heddle::tasks
