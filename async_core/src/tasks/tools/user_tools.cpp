#include "tasks/tools/user_tools.hpp"

#include <heddle/host/session.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/ports/step_memory.hpp>

#include <algorithm>

namespace heddle::tasks {

namespace {

using lang::value;

constexpr std::string_view input_schema = R"({
  "type": "object",
  "properties": {
    "question": {"type": "string", "minLength": 1, "description": "What to ask, for a person"},
    "choices": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 100,
      "description": "The answers to choose from; any answer when it is left out"},
    "default": {"type": "string", "description": "The answer when the person enters nothing"}
  },
  "required": ["question"], "additionalProperties": false
})";

[[nodiscard]] user_question question_of(const value& inputs) {
    user_question question;
    question.text = lang::string_bytes(*lang::map_find(inputs, "question"));
    if (const value* given = lang::map_find(inputs, "choices")) {
        for (const value& each : lang::list_items(*given))
            question.choices.emplace_back(lang::string_bytes(each));
    }
    if (const value* given = lang::map_find(inputs, "default"))
        question.fallback = lang::string_bytes(*given);
    return question;
}

[[nodiscard]] bool is_choice(const user_question& asked, const std::string& answer) {
    return asked.choices.empty() ||
           std::find(asked.choices.begin(), asked.choices.end(), answer) != asked.choices.end();
}

/// `ask` is the tool's, which outlives the call.
coro::task<result<value>> ask_user(const user_port* ask, tool_call call) {
    user_question asked = question_of(call.inputs);
    if (asked.fallback && !is_choice(asked, *asked.fallback)) {
        co_return error(lang::errc::evaluation, "system:ask_user: the default \"" +
                                                    *asked.fallback +
                                                    "\" is not one of the "
                                                    "choices");
    }
    if (!*ask && call.context.step && !call.context.step->may_ask()) {
        error stop = co_await call.context.step->refused(call.context);
        co_return stop;
    }
    if (!*ask) {
        co_return error(lang::errc::permission, "system:ask_user: nobody can answer here")
            .with_hint("run the workflow on a terminal, or give what it asks for as an input");
    }
    coro::task<result<std::string>> asking = (*ask)(asked, call.context);
    result<std::string> answer = co_await std::move(asking);
    if (!answer) co_return std::move(answer).error();
    if (answer->empty() && asked.fallback) *answer = *asked.fallback;
    if (!is_choice(asked, *answer)) {
        co_return error(lang::errc::evaluation,
                        "system:ask_user: \"" + *answer + "\" is not one of the choices");
    }
    co_return lang::make_string(call.session.memory(), *answer);
}

} // namespace

tool user_tool(user_port ask) {
    tool result;
    result.name = "system:ask_user";
    result.aliases = {"ask-user"};
    result.description = "Asks the person who runs the workflow, and returns the answer";
    result.input_schema = input_schema;
    result.heeds_memory = true;
    const auto kept = std::make_shared<const user_port>(std::move(ask));
    result.run = [kept](tool_call call) { return ask_user(kept.get(), std::move(call)); };
    return result;
}

} // namespace heddle::tasks
