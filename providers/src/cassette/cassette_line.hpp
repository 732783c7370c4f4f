// One line of a recording.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/redaction.hpp>
#include <heddle/ports/llm_port.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::providers {

inline constexpr int cassette_version = 1;

/// The line that names what a file is, with its line end.
[[nodiscard]] std::string cassette_header(std::string_view default_model);

/// A call that has ended. `pieces`: the sizes in bytes of the pieces in which the text came.
[[nodiscard]] std::string cassette_call(std::string_view provider,
                                        const ports::chat_request& request,
                                        const result<ports::chat_response>& outcome,
                                        const std::vector<std::size_t>& pieces);

/// The default model of a header line. Errors: invalid_argument for a line that is none.
[[nodiscard]] result<std::string> read_cassette_header(std::string_view line);

/// What was recorded of one call.
struct recorded_call {
    std::string provider;
    std::string request; ///< its JSON, the same text for the same request
    std::optional<result<ports::chat_response>> outcome;
    std::vector<std::size_t> pieces;
};

/// Errors: invalid_argument.
[[nodiscard]] result<recorded_call> read_cassette_call(std::string_view line);

/// False for the beginning of a line whose rest was not written.
[[nodiscard]] bool is_whole_line(std::string_view line);

/// The JSON of a request as recorded_call::request has it.
[[nodiscard]] std::string cassette_key(const ports::chat_request& request);
/// What lenient matching compares: messages, tools and form, white space made equal.
[[nodiscard]] std::string lenient_cassette_key(std::string_view request_json);
/// The members in which two requests differ, each with where it differs or with both values.
[[nodiscard]] std::vector<std::string> differing_members(std::string_view recorded,
                                                         std::string_view asked);
/// A line with a mark in place of each secret inside of a value; names of members stay.
[[nodiscard]] std::string without_secrets(std::string line, const redactor& secrets);

} // namespace heddle::providers
