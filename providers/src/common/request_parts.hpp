// What the encoders of requests have in common.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/providers/common/chat_codec.hpp>
#include <heddle/providers/common/json_text.hpp>

#include "common/json_writer.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::providers {

/// llm_errc::invalid_request, not retryable.
[[nodiscard]] error invalid_request(std::string message);

/// True for a message that holds no content: blank text of any role, an assistant turn without text
/// and calls. Services refuse such messages, so codecs skip them. A tool's result always counts.
[[nodiscard]] bool is_empty(const ports::chat_message& message) noexcept;
/// True for text of nothing but white space.
[[nodiscard]] bool is_blank(std::string_view text) noexcept;
/// Errors: invalid_request when the request has no message with content, or ends in a blank prompt:
/// without it the model would be asked something else.
[[nodiscard]] result<void> check_messages(const ports::chat_request& request);

/// True if `name` is one of `names`.
[[nodiscard]] bool is_among(std::string_view name,
                            std::initializer_list<std::string_view> names) noexcept;

/// Writes the member unless it is absent. Errors: invalid_request when it is not finite.
[[nodiscard]] result<void> write_finite(json_writer& out, std::string_view key,
                                        std::string_view shown, std::optional<double> value);

/// Errors: invalid_request when the parameter is not JSON, or names a member of the request that
/// has a setting of its own (`own`).
[[nodiscard]] result<void> check_extra(const ports::extra_parameter& parameter, bool own);

/// The arguments of a call that is returned to the model, as an object; "{}" if there are none. If
/// the model wrote something else, its text is wrapped in an object, which is stored in `own`.
[[nodiscard]] std::string_view arguments_of(const ports::tool_call& call, std::string& own);

/// The name of the tool whose result message `index` is; if the message has none, of the call
/// before it with its id. Empty: neither has one.
[[nodiscard]] std::string_view tool_of_result(const ports::chat_request& request,
                                              std::size_t index) noexcept;

/// Why a service with an effort leaves out a budget for reasoning.
inline constexpr std::string_view takes_effort =
    "the service takes a reasoning effort, not a number of tokens";

/// Settings that an encoder does not send. `list` may be null and outlives the call.
class left_out_list {
public:
    explicit left_out_list(std::vector<left_out_setting>* list) noexcept : list_(list) {}
    void add(std::string name, std::string reason) {
        if (list_) list_->push_back({std::move(name), std::move(reason)});
    }

private:
    std::vector<left_out_setting>* list_;
};

/// Errors: invalid_request when the parameters of a tool are not a JSON object.
[[nodiscard]] result<void> check_parameters(const ports::tool_spec& tool, json_memo& known);

/// True for the id of an item of OpenAI Responses, which is where others have a signature: it
/// means nothing to them, and they refuse what they have not signed.
[[nodiscard]] bool is_item_id(std::string_view signature) noexcept;

/// A little too much rather than one reallocation of a long prompt.
[[nodiscard]] std::size_t expected_size(const ports::chat_request& request) noexcept;

/// Appends one segment of a path; everything but letters, digits and -._~ is percent-encoded.
void append_path_segment(std::string& out, std::string_view segment);

} // namespace heddle::providers
