// A question of a workflow to the person who runs it.
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
    std::string text;                    ///< may come from a model: not to be trusted
    std::vector<std::string> choices;    ///< empty: any answer
    std::optional<std::string> fallback; ///< the answer when nothing is entered
};

/// Asks a person, who may take any time. Called on the session's thread; several calls may be under
/// way at a time. Errors are raised in the workflow. Cancellation: ends the question.
using user_port = std::function<coro::task<result<std::string>>(user_question, coro::call_context)>;

} // namespace heddle::tasks
