// Chat Completions on the wire: requests to bytes, bytes to responses. No I/O.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/secret.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/providers/common/chat_codec.hpp>
#include <heddle/providers/common/json_text.hpp>
#include <heddle/providers/common/sse_parser.hpp>
#include <heddle/providers/openai/provider.hpp>

#include "common/json_reader.hpp"
#include "common/piece_joiner.hpp"
#include "common/response_parts.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::providers::openai {

inline constexpr std::string_view chat_path = "/chat/completions"; ///< below the base URL

struct encode_options {
    response_mode mode = response_mode::whole;
    wire_dialect dialect = wire_dialect::openai;
    bool stream_usage = true; ///< ask for the usage at the end of a stream
};

/// The body of a request. JSON texts in `request` (schemas, extra fields) are checked and spliced
/// in as they are; `known_json` remembers those that were found good. Bytes that are not UTF-8
/// become U+FFFD. `left_out` receives the settings that the service does not have. Errors:
/// llm_errc::invalid_request, which names the part. Pure.
[[nodiscard]] result<std::string> encode_request(const ports::chat_request& request,
                                                 const encode_options& options,
                                                 json_memo* known_json = nullptr,
                                                 std::vector<left_out_setting>* left_out = nullptr);

/// Reads a whole response of any status: as chat_codec::decode.
[[nodiscard]] result<ports::chat_response> decode_response(
    json_reader& reader, const ports::http_response& received,
    std::chrono::system_clock::time_point wall_now);

/// Reads one streamed response (status 200, text/event-stream) in any pieces.
class chat_stream final : public chat_stream_reader {
public:
    /// `reader` outlives this. Several streams may share one.
    explicit chat_stream(json_reader& reader) : reader_(reader), pieces_(reader) {}

    [[nodiscard]] result<void> feed(std::string_view piece,
                                    const ports::chat_delta_sink& on_delta) override;
    [[nodiscard]] result<ports::chat_response> finish() override;
    [[nodiscard]] bool is_whole() const noexcept override { return done_ || finished_; }
    [[nodiscard]] bool has_ended() const noexcept override { return done_; }
    [[nodiscard]] bool started() const noexcept override;
    [[nodiscard]] const ports::chat_response& so_far() const noexcept override { return response_; }

private:
    [[nodiscard]] result<void> take_event(const sse_event& event,
                                          const ports::chat_delta_sink& on_delta);
    [[nodiscard]] result<void> take_choice(const json::object& choice,
                                           const ports::chat_delta_sink& on_delta);
    [[nodiscard]] result<void> take_call(const json::object& piece);
    [[nodiscard]] ports::tool_call* call_of(std::int64_t index, std::string_view id);
    [[nodiscard]] result<void> end_text(const ports::chat_delta_sink& on_delta);
    [[nodiscard]] error protocol_error(std::string_view what, std::string_view seen = {}) const {
        return with_so_far(reader_.protocol_error(what, seen), response_);
    }

    json_reader& reader_;
    piece_joiner pieces_;
    sse_parser parser_;
    ports::chat_response response_ = begun_response();
    std::vector<std::int64_t> call_places_; // beside response.tool_calls; -1: no index was given
    growing_usage usage_;
    bool finished_ = false; // a finish reason came
    bool done_ = false;     // [DONE] came
};

} // namespace heddle::providers::openai
