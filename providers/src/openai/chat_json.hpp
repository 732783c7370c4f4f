// What whole answers and stream chunks of Chat Completions have in common, on Boost.JSON.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/providers/openai/chat_wire.hpp>

#include "common/service_error.hpp"

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parser.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::providers::openai {

namespace json = boost::json;

/// Null when `object` has no such member.
[[nodiscard]] inline const json::value* member(const json::object& object, std::string_view name) {
    return object.if_contains(name);
}
/// Empty when the member is missing or not a string.
[[nodiscard]] std::string_view text_member(const json::object& object, std::string_view name);
/// Zero when the member is missing or not a number that is whole.
[[nodiscard]] std::int64_t count_member(const json::object& object, std::string_view name);
/// Null when the member is missing or not an object.
[[nodiscard]] const json::object* object_member(const json::object& object, std::string_view name);
[[nodiscard]] const json::array* array_member(const json::object& object, std::string_view name);

/// Appends the text of a `content`: a string, or parts of which those of type text count.
void append_content(std::string& out, const json::value& content);

[[nodiscard]] ports::finish_reason read_finish(std::string_view text) noexcept;

/// Nothing when `usage` is not an object with counts.
[[nodiscard]] std::optional<ports::token_usage> read_usage(const json::value* usage);

/// Reads the shapes in which servers of this format say what went wrong: {"error": {…}},
/// {"error": "text"}, {"message": …}, {"detail": …}. The views point into `body`.
/// False when it has none of them.
[[nodiscard]] bool read_failure(const json::value& body, service_failure& failure);

/// Checks the arguments, which models write, and not always well; none at all become "{}".
[[nodiscard]] result<void> check_calls(std::vector<ports::tool_call>& calls,
                                       const decode_options& options);

/// Parses with memory that it keeps. Each text is read into the same block; only a tree that does
/// not fit takes more, which the next call gives back.
class chat_reader {
public:
    explicit chat_reader(decode_options options);
    chat_reader(const chat_reader&) = delete;
    chat_reader& operator=(const chat_reader&) = delete;

    /// The tree of `text`. It must be gone before the next call.
    /// Errors: llm_errc::protocol when it is not JSON or nested too deeply.
    [[nodiscard]] result<json::value> parse(std::string_view text);

    [[nodiscard]] const decode_options& options() const noexcept { return options_; }
    [[nodiscard]] error protocol_error(std::string_view what, std::string_view seen = {}) const {
        return make_protocol_error(options_.provider_name, what, seen, options_.hidden);
    }

private:
    decode_options options_;
    alignas(16) std::array<unsigned char, 4096> parser_block_;
    alignas(16) std::array<unsigned char, 16 * 1024> tree_block_;
    json::monotonic_resource tree_memory_;
    json::parser parser_;
};

struct chat_decoder::state {
    explicit state(decode_options options) : reader(options) {}
    chat_reader reader;
};

} // namespace heddle::providers::openai
