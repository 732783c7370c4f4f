#include "common/response_parts.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/parse_number.hpp>

#include "common/json_writer.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace heddle::providers {

namespace {

constexpr std::string_view own_call_prefix = "heddle_call_";

/// Calls itself no deeper than the parser let the value be.
void append_value(json_writer& out, const json::value& value) {
    switch (value.kind()) {
    case json::kind::null: out.raw("null"); return;
    case json::kind::bool_: out.boolean(value.get_bool()); return;
    case json::kind::int64: out.number(value.get_int64()); return;
    case json::kind::uint64: out.raw(std::to_string(value.get_uint64())); return;
    case json::kind::double_:
        // More than a double holds: whoever checks the text has to see that no number is.
        if (std::isinf(value.get_double())) out.raw(value.get_double() < 0 ? "-1e999" : "1e999");
        else out.number(value.get_double());
        return;
    case json::kind::string: out.string(value.get_string()); return;
    case json::kind::array:
        out.begin_array();
        for (const json::value& each : value.get_array()) append_value(out, each);
        out.end_array();
        return;
    case json::kind::object:
        out.begin_object();
        for (const auto& [name, each] : value.get_object()) {
            out.foreign_key(name);
            append_value(out, each);
        }
        out.end_object();
        return;
    }
}

error not_in_shape(json_reader& reader, std::string_view body) {
    const std::string_view title = html_title(body);
    if (!title.empty()) return reader.protocol_error("the response is not JSON but HTML", title);
    return reader.protocol_error("the response is not a JSON object", body);
}

} // namespace

error read_error(json_reader& reader, const ports::http_response& received,
                 std::chrono::system_clock::time_point wall_now, failure_reader read,
                 std::string_view request_id) {
    service_failure failure;
    failure.status = received.status;
    failure.request_id = request_id;
    failure.advice = advice_of(received, wall_now);
    const auto tree = reader.parse(received.body);
    const json::object* root = tree ? tree->if_object() : nullptr;
    if (!root || !read(*root, failure)) {
        const std::string_view title = html_title(received.body);
        failure.message = title.empty() ? std::string_view(received.body) : title;
    }
    return reader.service_error(failure);
}

result<json::value> read_object(json_reader& reader, const ports::http_response& received,
                                std::chrono::system_clock::time_point wall_now, failure_reader read,
                                std::string_view request_id) {
    if (received.status < 200 || received.status >= 300) {
        return read_error(reader, received, wall_now, read, request_id);
    }
    auto parsed = reader.parse(received.body);
    if (!parsed) {
        if (!html_title(received.body).empty()) return not_in_shape(reader, received.body);
        return std::move(parsed).error();
    }
    json::value tree = *std::move(parsed);
    const json::object* root = tree.if_object();
    if (!root) return not_in_shape(reader, received.body);
    if (!holds_error(*root)) return tree;
    service_failure failure;
    failure.request_id = request_id;
    failure.advice = advice_of(received, wall_now);
    failure.advice.should_retry.reset(); // it speaks of the status, which was not an error
    if (!read(*root, failure))
        return reader.protocol_error("the response is an error", received.body);
    return reader.service_error(failure);
}

error with_reported_usage(json_reader& reader, error failure, const ports::http_response& received,
                          usage_reader read) {
    if (received.status < 200 || received.status >= 300) return failure;
    const auto tree = reader.parse(received.body);
    const json::object* root = tree ? tree->if_object() : nullptr;
    ports::chat_response so_far = ports::begun_response();
    if (root) so_far.usage = read(*root);
    return so_far.usage ? with_so_far(std::move(failure), so_far) : failure;
}

result<json::value> read_event(json_reader& reader, std::string_view data) {
    HEDDLE_TRY(json::value tree, reader.parse(data));
    if (tree.is_object()) return tree;
    return reader.protocol_error("an event of the stream is not an object", data);
}

bool is_end_mark(std::string_view data) noexcept { return ascii::trim(data) == "[DONE]"; }

bool holds_error(const json::object& root) noexcept {
    const json::value* said = member(root, "error");
    if (!said || said->is_null()) return false;
    switch (said->kind()) {
    case json::kind::bool_: return said->get_bool();
    case json::kind::string: return !said->get_string().empty();
    case json::kind::object: return !said->get_object().empty();
    case json::kind::array: return !said->get_array().empty();
    default: return true;
    }
}

bool is_failure_event(const json::object& event, std::string_view event_type) {
    if (holds_error(event)) return true;
    return event_type == "error" || text_member(event, "type") == "error" ||
           text_member(event, "object") == "error";
}

result<std::vector<std::string>> read_names(json_reader& reader, const json::object& root,
                                            std::string_view list, std::string_view name,
                                            std::string_view prefix) {
    const json::array* entries = array_member(root, list);
    if (!entries) return reader.protocol_error("the response holds no list of models");
    std::vector<std::string> names;
    names.reserve(entries->size());
    for (const json::value& entry : *entries) {
        const json::object* object = entry.if_object();
        std::string_view found = object ? text_member(*object, name) : std::string_view();
        if (found.starts_with(prefix)) found.remove_prefix(prefix.size());
        if (!found.empty()) names.emplace_back(found);
    }
    std::sort(names.begin(), names.end());
    return names;
}

void name_calls(std::vector<ports::tool_call>& calls, std::string_view response_mark) {
    const auto nameless = [](const ports::tool_call& call) { return call.id.empty(); };
    if (std::none_of(calls.begin(), calls.end(), nameless)) return;
    std::uint64_t hash = 14695981039346656037U; // FNV-1a
    for (const char c : response_mark) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    }
    std::array<char, 16> digits{};
    const char* const end =
        std::to_chars(digits.data(), digits.data() + digits.size(), hash, 16).ptr;
    std::size_t number = 0;
    for (ports::tool_call& call : calls) {
        ++number;
        if (!call.id.empty()) continue;
        call.id = own_call_prefix;
        call.id.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
        call.id += '_' + std::to_string(number);
    }
}

bool is_service_call_id(std::string_view id) noexcept {
    return !id.empty() && !id.starts_with(own_call_prefix);
}

void drop_refused(ports::chat_response& response) {
    if (response.refusal.empty()) return;
    response.text.clear();
    response.tool_calls.clear();
}

std::optional<std::int64_t> reported_tokens(const json::object& object, std::string_view name) {
    constexpr std::int64_t most = 1'000'000'000'000; // a sum of a few is far from an overflow
    const json::value* found = object.if_contains(name);
    if (!found || !found->is_number()) return std::nullopt;
    const std::int64_t count = count_member(object, name);
    const bool is_zero = found->is_double() ? found->get_double() == 0 : count == 0;
    if (count < 0 || count > most || (count == 0 && !is_zero)) return std::nullopt;
    if (found->is_uint64()) return std::nullopt;
    return count;
}

std::int64_t tokens_member(const json::object& object, std::string_view name) {
    return reported_tokens(object, name).value_or(0);
}

std::optional<ports::token_usage> reported_usage(std::optional<std::int64_t> input,
                                                 std::optional<std::int64_t> output,
                                                 std::optional<std::int64_t> total) {
    if (!input && !output) return std::nullopt;
    if (total && !input && *total >= *output) input = *total - *output;
    if (total && !output && *total >= *input) output = *total - *input;
    ports::token_usage usage;
    usage.input = input.value_or(0);
    usage.input_reported = input.has_value();
    usage.output = output.value_or(0);
    usage.output_reported = output.has_value();
    return usage;
}

void take_figure(std::optional<std::int64_t>& figure,
                 std::optional<std::int64_t> reported) noexcept {
    if (reported.value_or(0) > 0 || !figure) figure = reported;
}

void growing_usage::take(const std::optional<ports::token_usage>& reported) noexcept {
    if (!reported) return;
    const auto take = [](std::optional<std::int64_t>& figure, bool is_reported,
                         std::int64_t count) {
        if (is_reported) take_figure(figure, count);
    };
    take(input_, reported->input_reported, reported->input);
    take(output_, reported->output_reported, reported->output);
    take(cached_, true, reported->cached);
    take(cache_written_, true, reported->cache_written);
    take(reasoning_, true, reported->reasoning);
}

std::optional<ports::token_usage> growing_usage::total() const noexcept {
    auto usage = reported_usage(input_, output_);
    if (!usage) return std::nullopt;
    usage->cached = cached_.value_or(0);
    usage->cache_written = cache_written_.value_or(0);
    usage->reasoning = reasoning_.value_or(0);
    return usage;
}

std::optional<ports::token_usage> growing_usage::so_far() const noexcept {
    auto usage = total();
    if (usage) usage->output_reported = false;
    return usage;
}

std::string text_of_json(const json::value& value) {
    json_writer out;
    append_value(out, value);
    return std::move(out).take();
}

bool is_true(const json::object& object, std::string_view name) {
    const json::value* found = object.if_contains(name);
    return found && found->is_bool() && found->get_bool();
}

bool is_success_of_type(const ports::http_response& head, std::string_view content_type) noexcept {
    const std::string_view sent = ascii::trim(head.header("content-type").value_or(""));
    return head.status >= 200 && head.status < 300 &&
           ascii::equals_ignoring_case(sent.substr(0, content_type.size()), content_type);
}

std::optional<std::int64_t> parse_count(std::string_view text) noexcept {
    // "60.0" is a whole number too.
    const std::size_t point = text.find('.');
    if (point != std::string_view::npos && point + 1 < text.size() &&
        text.find_first_not_of('0', point + 1) == std::string_view::npos) {
        text = text.substr(0, point);
    }
    const auto count = parse_number<std::int64_t>(text);
    return count && *count >= 0 ? count : std::nullopt;
}

} // namespace heddle::providers
