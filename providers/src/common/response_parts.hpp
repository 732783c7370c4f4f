// What the decoders of responses have in common, whatever the service.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/ports/llm_port.hpp>

#include "common/json_reader.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::providers {

/// Fills `failure` from an object that describes an error; the views point into it. False if the
/// object does not have the service's format of an error.
using failure_reader = bool (*)(const json::object& root, service_failure& failure);

/// The error that a response represents whose status is not 2xx. `request_id` is of its headers.
[[nodiscard]] error read_error(json_reader& reader, const ports::http_response& received,
                               std::chrono::system_clock::time_point wall_now, failure_reader read,
                               std::string_view request_id = {});

/// Whether an object has an error as a member. Some servers send an empty one, or false, with each
/// response.
[[nodiscard]] bool holds_error(const json::object& root) noexcept;

/// The tree of a response, an object. Errors: read_error for another status than 2xx; what is not
/// JSON or not an object; an error sent with a status of success.
[[nodiscard]] result<json::value> read_object(json_reader& reader,
                                              const ports::http_response& received,
                                              std::chrono::system_clock::time_point wall_now,
                                              failure_reader read,
                                              std::string_view request_id = {});

using usage_reader = std::optional<ports::token_usage> (*)(const json::object& root);

/// Adds the reported usage to a failure that read_object found in a response with a status of
/// success.
[[nodiscard]] error with_reported_usage(json_reader& reader, error failure,
                                        const ports::http_response& received, usage_reader read);

/// Whether an event of a stream is an error: it has one as a member, or it is named one, with the
/// message beside the name. `event_type` is what the stream calls it, or empty.
[[nodiscard]] bool is_failure_event(const json::object& event, std::string_view event_type);

/// Whether an event is `[DONE]`, the mark that ends the streams of Chat Completions and of servers
/// alike. Blanks around it do not count.
[[nodiscard]] bool is_end_mark(std::string_view data) noexcept;

/// The tree of one event of a stream, an object.
[[nodiscard]] result<json::value> read_event(json_reader& reader, std::string_view data);

/// The strings under `name` in the objects of the list `list` of the response, sorted and without
/// `prefix`.
[[nodiscard]] result<std::vector<std::string>> read_names(json_reader& reader,
                                                          const json::object& root,
                                                          std::string_view list,
                                                          std::string_view name,
                                                          std::string_view prefix = {});

/// Assigns ids of our own to calls without one, which some models make: results have to find their
/// call, and other services insist on ids. `response_mark` is a string that only this response has.
void name_calls(std::vector<ports::tool_call>& calls, std::string_view response_mark);
/// True for an id that a service made; false for one of name_calls, which its service does not
/// know, and for none. Models without ids take none: their calls and results are matched by their
/// order.
[[nodiscard]] bool is_service_call_id(std::string_view id) noexcept;

/// What was withheld, or broken off by a refusal, is not a response: text and calls are dropped.
void drop_refused(ports::chat_response& response);

/// A count of tokens; nothing when it is missing or no count: null, a text, negative, or more than
/// there can be.
[[nodiscard]] std::optional<std::int64_t> reported_tokens(const json::object& object,
                                                          std::string_view name);
/// The same for a part of a figure, where missing is zero.
[[nodiscard]] std::int64_t tokens_member(const json::object& object, std::string_view name);
/// The usage with its two figures, as far as the service reported them; one is made up out of the
/// total, where that is reported. Nothing when neither is known.
[[nodiscard]] std::optional<ports::token_usage> reported_usage(
    std::optional<std::int64_t> input, std::optional<std::int64_t> output,
    std::optional<std::int64_t> total = {});

/// A figure that a stream reports several times: the last one counts, except that nothing and zero
/// do not replace a count.
void take_figure(std::optional<std::int64_t>& figure,
                 std::optional<std::int64_t> reported) noexcept;

/// The usage of a stream whose events report it several times, each figure separately.
class growing_usage {
public:
    void take(const std::optional<ports::token_usage>& reported) noexcept;
    /// Nothing: neither input nor output is known.
    [[nodiscard]] std::optional<ports::token_usage> total() const noexcept;
    /// The same while the response is not whole: more output may follow.
    [[nodiscard]] std::optional<ports::token_usage> so_far() const noexcept;

private:
    std::optional<std::int64_t> input_;
    std::optional<std::int64_t> output_;
    std::optional<std::int64_t> cached_;
    std::optional<std::int64_t> cache_written_;
    std::optional<std::int64_t> reasoning_;
};

/// The text of a value, with numbers in their shortest form: arguments are shown to people.
[[nodiscard]] std::string text_of_json(const json::value& value);

/// Parts of reasoning are small and cost more memory than they took on the wire.
inline constexpr std::size_t max_reasoning_parts = 4096;

/// False unless the member is `true`.
[[nodiscard]] bool is_true(const json::object& object, std::string_view name);

/// True if the response is a success of this content type.
[[nodiscard]] bool is_success_of_type(const ports::http_response& head,
                                      std::string_view content_type) noexcept;

/// A whole number, not negative, and nothing else, also as "60.0".
[[nodiscard]] std::optional<std::int64_t> parse_count(std::string_view text) noexcept;

} // namespace heddle::providers
