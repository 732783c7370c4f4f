// Characters that a service has cut in two.
#pragma once

#include <heddle/ports/llm_port.hpp>

#include "common/json_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::providers {

/// The strings of a response that grow by pieces.
enum class grown_string : std::uint8_t { text, refusal, reasoning, arguments };

/// Appends the pieces of a stream to a response. Servers that count in UTF-16 cut between the two
/// halves of a character beyond U+FFFF: the first half waits here until the next piece of the same
/// string brings the other, or becomes U+FFFD. One for each stream.
class piece_joiner {
public:
    explicit piece_joiner(const json_reader& reader) : reader_(reader) {}

    /// Appends `piece`, a string of the tree that the reader parsed last. `index` is that of the
    /// reasoning part or tool call. Returns what was appended, as a view into the response.
    std::string_view append(ports::chat_response& response, grown_string which, std::size_t index,
                            std::string_view piece);
    std::string_view append_text(ports::chat_response& response, std::string_view piece) {
        return append(response, grown_string::text, 0, piece);
    }

    /// The text has ended: a half that waits becomes U+FFFD. Returns what was appended.
    std::string_view end_text(ports::chat_response& response);
    /// The same for all strings of the response.
    void end(ports::chat_response& response);

private:
    /// Takes the half that waits for this string; 0 for none.
    char32_t take_half(grown_string which, std::size_t index);

    const json_reader& reader_;
    std::map<std::pair<grown_string, std::size_t>, char32_t> waiting_; ///< nearly always empty
};

} // namespace heddle::providers
