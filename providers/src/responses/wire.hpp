// Responses on the wire: requests to bytes, bytes to responses. No I/O.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/providers/common/chat_codec.hpp>
#include <heddle/providers/common/json_text.hpp>
#include <heddle/providers/common/sse_parser.hpp>

#include "common/json_reader.hpp"
#include "common/piece_joiner.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::providers::responses {

inline constexpr std::string_view responses_path = "/responses"; ///< below the base URL

struct encode_options {
    response_mode mode = response_mode::whole;
    bool short_input = true;
    bool encrypted_reasoning = false;
};

/// The body of a request. JSON texts in `request` are checked and spliced in as they are; `known`
/// remembers those that were found good, `left_out` receives the settings that the service does not
/// have. Errors: llm_errc::invalid_request, which names the part.
[[nodiscard]] result<std::string> encode_request(const ports::chat_request& request,
                                                 const encode_options& options, json_memo& known,
                                                 std::vector<left_out_setting>* left_out = nullptr);

/// Reads a whole response of any status: as chat_codec::decode.
[[nodiscard]] result<ports::chat_response> decode_response(
    json_reader& reader, const ports::http_response& received,
    std::chrono::system_clock::time_point wall_now);

/// Reads the object that is a whole response, and in a stream the `response` of the last event.
/// Errors: a response that failed or is not finished; llm_errc::protocol. Arguments of calls are
/// not checked yet.
[[nodiscard]] result<ports::chat_response> read_response(json_reader& reader,
                                                         const json::object& root,
                                                         response_mode mode);

/// Reads one streamed response in any pieces. Its events say their name in their data, so that the
/// names of the event stream are not needed, and neither is sequence_number: order is order.
class response_stream final : public chat_stream_reader {
public:
    /// `reader` outlives this. Several streams may share one.
    explicit response_stream(json_reader& reader) : reader_(reader), pieces_(reader) {}

    [[nodiscard]] result<void> feed(std::string_view piece,
                                    const ports::chat_delta_sink& on_delta) override;
    [[nodiscard]] result<ports::chat_response> finish() override;
    [[nodiscard]] bool is_whole() const noexcept override { return done_; }
    [[nodiscard]] bool has_ended() const noexcept override { return done_; }
    [[nodiscard]] bool started() const noexcept override;
    [[nodiscard]] const ports::chat_response& so_far() const noexcept override { return response_; }

private:
    [[nodiscard]] result<void> take_event(const sse_event& read,
                                          const ports::chat_delta_sink& on_delta);
    [[nodiscard]] result<void> take_text(std::string_view piece,
                                         const ports::chat_delta_sink& on_delta);
    [[nodiscard]] static result<void> hand_over(std::string_view text,
                                                const ports::chat_delta_sink& on_delta);
    [[nodiscard]] result<void> begin_item(const json::object& event);
    void take_arguments(const json::object& event);
    [[nodiscard]] result<void> take_end(const json::object& event,
                                        const ports::chat_delta_sink& on_delta);
    [[nodiscard]] error reported_error(const json::object& event);

    json_reader& reader_;
    piece_joiner pieces_;
    sse_parser parser_;
    ports::chat_response response_ = begun_response();
    std::vector<std::int64_t> call_places_; // beside response.tool_calls: output_index
    bool done_ = false;
};

} // namespace heddle::providers::responses
