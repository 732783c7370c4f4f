// The parts of the codec of the Gemini API.
#pragma once

#include <heddle/providers/common/json_text.hpp>
#include <heddle/providers/gemini/provider.hpp>

#include "common/piece_joiner.hpp"
#include "common/response_parts.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::providers::gemini {

/// What the codec needs of the settings.
struct codec_options {
    std::string name;
    std::string prefix; ///< of the base URL's path
    secret api_key;
    api_version version = api_version::v1;
};

/// The body of a request. `reader` looks into schemas that may be of the service's own kind.
/// `left_out` receives the settings that the service does not have.
/// Errors: llm_errc::invalid_request.
[[nodiscard]] result<std::string> encode_body(const ports::chat_request& request, json_memo& known,
                                              json_reader& reader,
                                              std::vector<left_out_setting>* left_out);

/// Puts a response together: a whole one at once, a streamed one chunk by chunk.
class collector {
public:
    explicit collector(json_reader& reader) : reader_(reader), pieces_(reader) {}

    /// Takes an object GenerateContentResponse. `text` is what it adds to the text.
    /// Errors: llm_errc::protocol.
    [[nodiscard]] result<void> take(const json::object& chunk, std::string& text);
    /// Errors: llm_errc::protocol when the model made a call that cannot be read.
    [[nodiscard]] result<ports::chat_response> finish();

    [[nodiscard]] bool is_whole() const noexcept { return finished_; }
    [[nodiscard]] bool started() const noexcept { return started_; }
    [[nodiscard]] const ports::chat_response& so_far() const noexcept { return response_; }

private:
    [[nodiscard]] result<void> take_part(const json::object& part, std::string& text);
    void take_thought(std::string_view text, std::string_view signature);
    void take_usage(const json::object& counts);
    void take_finish(std::string_view reason, std::string_view message);

    json_reader& reader_;
    piece_joiner pieces_;
    ports::chat_response response_ = begun_response();
    std::string bad_call_; // what the service reports about a call that it could not read
    bool finished_ = false;
    bool started_ = false;
    std::optional<std::int64_t> input_; // the figures of the usage, as far as they have come
    std::optional<std::int64_t> tool_input_;
    std::optional<std::int64_t> output_;
    std::optional<std::int64_t> thoughts_;
    std::optional<std::int64_t> total_;
    std::optional<std::int64_t> cached_;
    bool output_reported_ = false;
    bool thought_open_ = false; // the next piece of thought belongs to the last part
};

/// Reads {"error":{"code","message","status","details"}}.
[[nodiscard]] bool read_failure(const json::object& root, service_failure& failure);

/// `reader` outlives it.
[[nodiscard]] std::unique_ptr<chat_stream_reader> make_stream(json_reader& reader);

} // namespace heddle::providers::gemini
