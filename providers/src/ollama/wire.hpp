// The parts of the codec of Ollama's API.
#pragma once

#include <heddle/providers/common/json_text.hpp>
#include <heddle/providers/ollama/provider.hpp>

#include "common/piece_joiner.hpp"
#include "common/response_parts.hpp"

#include <memory>
#include <string>

namespace heddle::providers::ollama {

/// What the codec needs of the settings.
struct codec_options {
    std::string name;
    std::string prefix; ///< of the base URL's path
    secret api_key;
    std::size_t max_line = 4 * 1024 * 1024; ///< of a streamed response
};

/// The body of a request. `left_out` receives the settings that the service does not have.
/// Errors: llm_errc::invalid_request. Pure.
[[nodiscard]] result<std::string> encode_body(const ports::chat_request& request,
                                              response_mode mode, json_memo& known,
                                              std::vector<left_out_setting>* left_out);

/// Puts a response together: a whole one at once, a streamed one line by line.
class collector {
public:
    explicit collector(json_reader& reader) : reader_(reader), pieces_(reader) {}

    /// Takes one object of the response. `text` is what it adds to the text.
    /// Errors: llm_errc::protocol.
    [[nodiscard]] result<void> take(const json::object& piece, std::string& text);
    /// Errors: llm_errc::protocol for a call that cannot be read.
    [[nodiscard]] result<ports::chat_response> finish();

    [[nodiscard]] bool is_whole() const noexcept { return done_; }
    [[nodiscard]] bool started() const noexcept {
        return !response_.text.empty() || !response_.tool_calls.empty();
    }
    [[nodiscard]] const ports::chat_response& so_far() const noexcept { return response_; }

private:
    [[nodiscard]] result<void> take_message(const json::object& message, std::string& text);
    void take_end(const json::object& piece);

    json_reader& reader_;
    piece_joiner pieces_;
    ports::chat_response response_ = begun_response();
    std::string made_at_;
    bool done_ = false;
};

/// Reads {"error": "text"}, and the shape {"error": {"message": …}} of servers alike.
[[nodiscard]] bool read_failure(const json::object& root, service_failure& failure);

/// `reader` outlives it.
[[nodiscard]] std::unique_ptr<chat_stream_reader> make_stream(json_reader& reader,
                                                              std::size_t max_line);

} // namespace heddle::providers::ollama
