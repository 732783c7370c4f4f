// Google's Gemini API (generateContent) on the wire: requests to bytes, bytes to answers. No I/O.
#pragma once

#include <heddle/base/secret.hpp>
#include <heddle/providers/common/chat_codec.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace heddle::providers::gemini {

enum class api_version : std::uint8_t { v1, v1beta };

struct codec_options {
    std::string name = "gemini";
    std::string prefix; ///< of the base URL's path: goes before /v1/models
    secret api_key;     ///< none is sent if empty
    api_version version = api_version::v1;
    std::size_t max_depth = 64; ///< of the JSON of answers
    std::size_t max_tool_calls = 256;
};

/// System messages, wherever they stand, become the systemInstruction; messages of one side in a row
/// become one turn. Schemas are sent as JSON Schema, or as the service's own kind of schema where
/// the type at their top is in capitals. Extra parameters of the generation (topK, mediaResolution…)
/// go into generationConfig, others (safetySettings, cachedContent…) beside it. What the service
/// cannot take is an error: parallel_tool_calls switched off, effort and budget together.
/// Source: ai.google.dev/api/generate-content.
[[nodiscard]] std::unique_ptr<chat_codec> make_codec(codec_options options);

} // namespace heddle::providers::gemini
