#include "common/json_reader.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/json_string.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/providers/common/json_text.hpp>

#include <boost/json/error.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace heddle::providers {

std::string_view text_member(const json::object& object, std::string_view name) {
    const json::value* found = object.if_contains(name);
    if (!found || !found->is_string()) return {};
    return found->get_string();
}

std::int64_t count_member(const json::object& object, std::string_view name) {
    const json::value* found = object.if_contains(name);
    if (!found) return 0;
    if (found->is_int64()) return found->get_int64();
    // Some servers write 12.0; the range check keeps the conversion defined.
    if (found->is_double() && found->get_double() >= 0 && found->get_double() < 9e15) {
        return static_cast<std::int64_t>(found->get_double());
    }
    return 0;
}

const json::object* object_member(const json::object& object, std::string_view name) {
    const json::value* found = object.if_contains(name);
    return found ? found->if_object() : nullptr;
}

const json::array* array_member(const json::object& object, std::string_view name) {
    const json::value* found = object.if_contains(name);
    return found ? found->if_array() : nullptr;
}

std::string_view html_title(std::string_view body) noexcept {
    const std::size_t first = body.find_first_not_of(ascii::blanks);
    if (first == std::string_view::npos || body[first] != '<') return {};
    constexpr std::string_view opening = "<title>";
    const std::size_t begin = body.find(opening);
    const std::size_t end = body.find("</title>");
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
        return "an HTML page";
    }
    return body.substr(begin + opening.size(), end - begin - opening.size());
}

namespace {

/// Arguments that the length limit broke off, or kept from beginning.
bool is_cut(const ports::tool_call& call) noexcept {
    return call.arguments_json.empty() || call.arguments_json == "{}" ||
           check_json(call.arguments_json) != json_kind::object;
}

} // namespace

void mend_calls(ports::chat_response& response, const decode_options& options) {
    std::vector<ports::tool_call>& calls = response.tool_calls;
    const bool at_limit = response.finish == ports::finish_reason::length;
    if (at_limit && !calls.empty() && is_cut(calls.back())) {
        response.cut_tool_call = presentable(calls.back().name, 64, options.hidden);
        calls.pop_back();
    }
    for (ports::tool_call& call : calls) {
        if (call.arguments_json.empty()) call.arguments_json = "{}"; // how some say: none
        if (auto mended = mended_json(call.arguments_json))
            call.arguments_json = *std::move(mended);
    }
}

namespace {

/// The half at `at` of a text that lone halves were kept in; 0: there is none.
char32_t half_at(std::string_view text, std::size_t at) noexcept {
    if (static_cast<unsigned char>(text[at]) != 0xED || at + 3 > text.size()) return 0;
    const auto second = static_cast<unsigned char>(text[at + 1]);
    if (second < 0xA0) return 0;
    return 0xD000U | (second & 0x3FU) << 6 | (static_cast<unsigned char>(text[at + 2]) & 0x3FU);
}

} // namespace

json_reader::json_reader(decode_options options) : options_(options), parser_(options.max_depth) {}

result<json::value> json_reader::parse(std::string_view text) {
    text = utf8::skip_byte_order_mark(text);
    splits_.clear();
    std::string().swap(mended_);
    boost::system::error_code ec;
    json::value tree = parser_.parse(text, json_tree_parser::wrong_bytes::refused, ec);
    if (!ec) return tree;
    if (ec != boost::json::error::too_deep && !parser_.is_too_big()) {
        if (auto mended = mended_json(text, lone_half::kept)) {
            mended_ = *std::move(mended);
            tree = read_mended(ec);
            if (!ec) return tree;
        }
    }
    const char* wrong = " is not JSON";
    if (ec == boost::json::error::too_deep) wrong = "'s JSON is nested too deeply";
    if (parser_.is_too_big()) wrong = "'s JSON holds too many values";
    return protocol_error(std::string(options_.subject) + wrong, text);
}

json::value json_reader::read_mended(boost::system::error_code& ec) {
    // Halves are the only bytes left that are not UTF-8.
    const json::value tree = parser_.parse(mended_, json_tree_parser::wrong_bytes::kept, ec);
    if (ec) return tree;
    note_splits(tree);
    // By address: a response may hold as many as it has bytes for.
    std::sort(splits_.begin(), splits_.end(), [](const split_string& a, const split_string& b) {
        return std::less<>()(a.begin, b.begin);
    });
    return tree;
}

/// Puts U+FFFD, which is as long, in place of each half. Calls itself no deeper than the parser let
/// the tree be.
void json_reader::note_splits(const json::value& tree) {
    if (const json::array* list = tree.if_array()) {
        for (const json::value& each : *list) note_splits(each);
    } else if (const json::object* object = tree.if_object()) {
        for (const auto& [name, each] : *object) note_splits(each);
    } else if (const std::string_view* string = tree.if_string()) {
        const std::string_view text = *string;
        // The bytes are those of `mended_`, or a copy in the parser's memory.
        char* const bytes = const_cast<char*>(text.data()); // NOLINT(*-const-cast)
        split_string split{text.data()};
        for (std::size_t at = 0; at < text.size(); ++at) {
            const char32_t half = half_at(text, at);
            if (half == 0) continue;
            if (at == 0 && utf8::is_low_surrogate(half)) split.low = half;
            if (at + 3 == text.size() && utf8::is_high_surrogate(half)) split.high = half;
            std::copy(utf8::replacement.begin(), utf8::replacement.end(), bytes + at);
        }
        if (split.low != 0 || split.high != 0) splits_.push_back(split);
    }
}

const split_string* json_reader::find_split(std::string_view piece) const noexcept {
    const auto found = std::lower_bound(
        splits_.begin(), splits_.end(), piece.data(),
        [](const split_string& one, const char* begin) { return std::less<>()(one.begin, begin); });
    return found == splits_.end() || found->begin != piece.data() ? nullptr : &*found;
}

error with_so_far(error failure, const ports::chat_response& so_far) {
    return std::move(failure).with_payload(std::make_shared<ports::partial_response>(so_far));
}

error ended_early(std::string_view provider_name, const ports::chat_response& so_far) {
    error early(ports::make_error_code(ports::llm_errc::connection),
                std::string(provider_name) + ": the stream ended early");
    return with_so_far(std::move(early).with_origin(error_origin::server).with_retryable(true),
                       so_far);
}

} // namespace heddle::providers
