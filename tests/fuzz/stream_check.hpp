// What must hold for the parsers of streams, whatever bytes come and however they are cut.
#pragma once

#include <heddle/providers/common/chat_codec.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::fuzzing {

/// The events of a stream are the same whole and in pieces; `cuts` is where the sizes of the pieces
/// come from. Returns what does not hold, or an empty text.
[[nodiscard]] std::string check_sse(std::string_view stream, std::uint32_t cuts);
/// The same for the lines of NDJSON.
[[nodiscard]] std::string check_ndjson(std::string_view stream, std::uint32_t cuts);

/// The stream readers of all codecs. Kept from one check to the next, as in a program.
class chat_stream_check {
public:
    chat_stream_check();

    /// Response or error are the same whole and in pieces, and the text handed out is the text so
    /// far. The first two bytes choose the codec and the cuts. Returns what does not hold.
    [[nodiscard]] std::string run(std::string_view bytes);
    [[nodiscard]] std::size_t codecs() const noexcept { return codecs_.size(); }

    std::size_t responses = 0; ///< streams that were whole
    std::size_t errors = 0;

private:
    std::vector<std::unique_ptr<providers::chat_codec>> codecs_;
};

} // namespace heddle::fuzzing
