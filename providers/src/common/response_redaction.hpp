// Takes the keys of a service out of its responses.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/redaction.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/ports/llm_port.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::providers {

/// The keys in the sensitive headers of a request, without the word before them ("Bearer").
[[nodiscard]] redactor secrets_in(const ports::http_headers& headers);

/// Hides `secrets` in every string of `response` that the service chose. Arguments of tool calls
/// stay valid JSON if they were. Complexity: linear in the size of the response.
void hide_secrets(ports::chat_response& response, const redactor& secrets);
/// Hides `secrets` in the partial response that `failure` carries. Its message needs no such care:
/// errors of codecs never show the key.
[[nodiscard]] error hide_secrets(error failure, const redactor& secrets);

/// Hides secrets in a text that arrives in pieces. The end of a piece that might be the beginning
/// of a secret waits for the next one. One for each text.
class text_redactor {
public:
    /// `secrets` outlives this.
    explicit text_redactor(const redactor& secrets) : secrets_(secrets) {}

    /// Returns what can be handed out now, possibly nothing; valid until the next call.
    [[nodiscard]] std::string_view take(std::string_view piece);
    /// The text has ended. Returns what waited.
    [[nodiscard]] std::string_view finish();
    /// Makes `text`, whose pieces were all taken, equal to what was handed out.
    void apply_to(std::string& text) const;

private:
    [[nodiscard]] std::string_view hand_out();

    const redactor& secrets_;
    std::string waiting_;
    std::string out_;
    std::string since_hidden_;  ///< what was handed out from the first hidden secret on
    std::size_t unchanged_ = 0; ///< bytes handed out before it
    bool hidden_ = false;
};

} // namespace heddle::providers
