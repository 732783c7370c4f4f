// Reading the JSON of model services, with memory that is kept.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/secret.hpp>
#include <heddle/ports/llm_port.hpp>

#include "common/json_tree.hpp"
#include "common/json_tree_parser.hpp"
#include "common/service_error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::providers {

namespace json = json_tree;

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

/// The title of an HTML page that came in place of a response, from a proxy or a login; "an
/// HTML page" if it has none. Empty if `body` is not HTML.
[[nodiscard]] std::string_view html_title(std::string_view body) noexcept;

struct decode_options {
    std::string_view provider_name;            ///< what error messages begin with; outlives
    const secret* hidden = nullptr;            ///< never shown, should the service repeat it
    std::size_t max_depth = max_json_depth;    ///< of the JSON
    std::size_t max_tool_calls = 256;          ///< of one response
    std::string_view subject = "the response"; ///< what errors call the text that is read; outlives
};

/// Mends the arguments of the calls, which models write, and not always well: none at all become
/// "{}". What is not an object all the same stays, for whoever runs the call to tell the model.
/// `response.finish` must be set: a last call without whole arguments that the length limit cut off
/// becomes `response.cut_tool_call`.
void mend_calls(ports::chat_response& response, const decode_options& options);

/// A string of a tree that began with the second half of a character, or ended with the first:
/// U+FFFD is there.
struct split_string {
    const char* begin; ///< the address of its bytes
    char32_t low = 0;  ///< the half that it began with; 0: none
    char32_t high = 0; ///< the half that it ended with; 0: none
};

/// Reads one text at a time, with memory that it keeps (json_tree_parser).
class json_reader {
public:
    explicit json_reader(decode_options options);
    json_reader(const json_reader&) = delete;
    json_reader& operator=(const json_reader&) = delete;

    /// The tree of `text`: valid until the next call, and for as long as `text` is. What parsers of
    /// other languages read is read too: a byte order mark is skipped; invalid UTF-8 and halves of
    /// characters (`\ud83e` alone) become U+FFFD.
    /// Errors: llm_errc::protocol when it is not JSON, nested too deeply, or takes far more memory
    /// than it has bytes.
    [[nodiscard]] result<json::value> parse(std::string_view text);
    /// What is known of a string of the tree that was parsed last; null: it was whole.
    [[nodiscard]] const split_string* find_split(std::string_view piece) const noexcept;

    [[nodiscard]] const decode_options& options() const noexcept { return options_; }
    [[nodiscard]] error protocol_error(std::string_view what, std::string_view seen = {}) const {
        return make_protocol_error(options_.provider_name, what, seen, options_.hidden);
    }
    [[nodiscard]] error service_error(const service_failure& failure) const {
        return make_service_error(options_.provider_name, failure, options_.hidden);
    }

private:
    [[nodiscard]] json::value read_mended(boost::system::error_code& ec);
    void note_splits(const json::value& tree);

    decode_options options_;
    json_tree_parser parser_;
    std::string mended_;               // the text parsed last, if it had to be mended
    std::vector<split_string> splits_; // of the tree parsed last, by address
};

/// The error of a stream that ended before its response was whole: llm_errc::connection, retryable,
/// with what came as a ports::partial_response.
[[nodiscard]] error ended_early(std::string_view provider_name, const ports::chat_response& so_far);

using ports::begun_response;

/// `failure` with what came as a ports::partial_response.
[[nodiscard]] error with_so_far(error failure, const ports::chat_response& so_far);

/// The response that a stream has put together in `collected`, at its end. Errors: ended_early() if
/// the end mark is missing, and those of `collected`, with what came.
template <class Collected>
[[nodiscard]] result<ports::chat_response> finish_stream(Collected& collected,
                                                         std::string_view provider_name) {
    if (!collected.is_whole()) return ended_early(provider_name, collected.so_far());
    auto outcome = collected.finish();
    if (!outcome) return with_so_far(std::move(outcome).error(), collected.so_far());
    return outcome;
}

} // namespace heddle::providers
