// The requests of one execution: what the model was asked and what it responded.
#pragma once

#include "tasks/run/conversation.hpp"

#include <heddle/ports/llm_port.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace heddle::tasks {

/// The request of an execution, whose messages grow from turn to turn: the system prompt, earlier
/// turns of the conversation, the prompt, then tool calls and their results. A response of a wrong
/// form is the end of it only until the next one.
class model_dialog {
public:
    [[nodiscard]] ports::chat_request& request() noexcept { return request_; }
    [[nodiscard]] const ports::chat_request& request() const noexcept { return request_; }

    void begin(std::string system);
    /// Newest first.
    void add_earlier(std::span<const conversation_turn* const> turns);
    void ask(std::string prompt);
    /// The text of ask(), after that. To be moved from only when nothing is asked any more.
    [[nodiscard]] std::string& prompt() noexcept { return request_.messages[prompt_at_].text; }

    /// A response of a wrong form, and what is wrong with it. `note`: which form is wanted.
    void ask_again(std::string response, const std::string& violation, const std::string& note);

    /// A response that calls tools. `provider`: who wrote it, unless the response names it.
    void add_calls(ports::chat_response response, std::string_view provider);
    void add_result(ports::chat_message of_tool) {
        request_.messages.push_back(std::move(of_tool));
    }
    /// All tools of a turn have their results: they stay.
    void end_turn();

    /// The last text of the model, or nothing. Valid until a message is added or removed.
    [[nodiscard]] std::string_view last_said() const noexcept;

private:
    ports::chat_request request_;
    std::size_t prompt_at_ = 0; ///< among the messages
    std::size_t settled_ = 0;   ///< messages that stay; a wrong response behind them is dropped
};

} // namespace heddle::tasks
