// The parts of the codec of Anthropic's Messages API.
#pragma once

#include <heddle/providers/anthropic/provider.hpp>
#include <heddle/providers/common/json_text.hpp>

#include "anthropic/schema_shaper.hpp"
#include "common/response_parts.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::providers::anthropic {

/// What the codec needs of the settings.
struct codec_options {
    std::string name;
    std::string prefix; ///< of the base URL's path
    secret api_key;
    api_version version = api_version::v2026_10_21;
    std::int64_t default_max_tokens = 8192;
};

/// The body of a request. `schemas` remembers shaped schemas, `left_out` receives the settings that
/// the service does not have. Errors: llm_errc::invalid_request.
[[nodiscard]] result<std::string> encode_body(const ports::chat_request& request,
                                              const codec_options& options, response_mode mode,
                                              json_memo& known, schema_shaper& schemas,
                                              std::vector<left_out_setting>* left_out);

/// The counts as the service reports them: a stream corrects them as it goes on.
struct raw_usage {
    std::optional<std::int64_t> input;
    std::optional<std::int64_t> cache_read;
    std::optional<std::int64_t> cache_written;
    std::optional<std::int64_t> output;
    bool begins = false; ///< the output is what a stream began with

    void take(const json::object& counts);
    /// At the beginning of a stream.
    void take_first(const json::object& counts);
    [[nodiscard]] std::optional<ports::token_usage> total() const;
};

/// Sets what the stop reason means, and the refusal if it is one.
void take_stop(ports::chat_response& response, std::string_view reason,
               const json::object* details);

/// Reads {"type":"error","error":{…},"request_id":…}. The views point into `root`. False when it
/// has no such shape.
[[nodiscard]] bool read_failure(const json::object& root, service_failure& failure);

[[nodiscard]] result<ports::chat_response> read_response(
    json_reader& reader, const ports::http_response& received,
    std::chrono::system_clock::time_point wall_now);

[[nodiscard]] result<std::vector<std::string>> read_models(
    json_reader& reader, const ports::http_response& received,
    std::chrono::system_clock::time_point wall_now);

/// `reader` outlives it.
[[nodiscard]] std::unique_ptr<chat_stream_reader> make_stream(json_reader& reader);

[[nodiscard]] rate_limit_headers read_limits(const ports::http_response& head,
                                             std::chrono::system_clock::time_point wall_now);

} // namespace heddle::providers::anthropic
