#include "tasks/run/model_dialog.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/text.hpp>

#include <utility>

namespace heddle::tasks {

namespace {

constexpr std::size_t max_quoted_bytes = 64 * 1024; ///< of a wrong response that is sent back

} // namespace

void model_dialog::begin(std::string system) {
    request_.messages.reserve(2);
    if (system.empty()) return;
    ports::chat_message& first = request_.messages.emplace_back();
    first.role = ports::chat_role::system;
    first.text = std::move(system);
}

void model_dialog::add_earlier(std::span<const conversation_turn* const> turns) {
    request_.messages.reserve(2 + 2 * turns.size());
    for (auto each = turns.rbegin(); each != turns.rend(); ++each) {
        request_.messages.emplace_back().text = (*each)->prompt;
        ports::chat_message& response = request_.messages.emplace_back();
        response.role = ports::chat_role::assistant;
        response.text = lang::string_bytes((*each)->response);
    }
}

void model_dialog::ask(std::string prompt) {
    prompt_at_ = request_.messages.size();
    request_.messages.emplace_back().text = std::move(prompt);
    settled_ = request_.messages.size();
}

void model_dialog::ask_again(std::string response, const std::string& violation,
                             const std::string& note) {
    utf8::shorten(response, max_quoted_bytes);
    // The last wrong response is enough: the dialog does not grow with each attempt.
    request_.messages.resize(settled_);
    ports::chat_message& said = request_.messages.emplace_back();
    said.role = ports::chat_role::assistant;
    said.text = std::move(response);
    ports::chat_message& asked = request_.messages.emplace_back();
    asked.text = "Your response cannot be used: " + violation + ".\n" + note;
}

void model_dialog::add_calls(ports::chat_response response, std::string_view provider) {
    request_.messages.resize(settled_);
    ports::chat_message& said = request_.messages.emplace_back();
    said.role = ports::chat_role::assistant;
    said.text = std::move(response.text);
    said.tool_calls = std::move(response.tool_calls);
    said.reasoning = std::move(response.reasoning);
    said.written_by = response.provider.empty() ? std::string(provider) : response.provider;
}

void model_dialog::end_turn() {
    settled_ = request_.messages.size();
    // A choice that forces a call is for the first turn: the model would never come to a response.
    if (request_.tool_choice != "none") request_.tool_choice.clear();
}

std::string_view model_dialog::last_said() const noexcept {
    for (std::size_t i = request_.messages.size(); i-- > prompt_at_;) {
        const ports::chat_message& each = request_.messages[i];
        if (each.role == ports::chat_role::assistant && !each.text.empty()) return each.text;
    }
    return {};
}

} // namespace heddle::tasks
