#include "cassette/cassette_line.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/json_parser.hpp>
#include <heddle/base/json_string.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/providers/common/json_text.hpp>
#include <heddle/providers/common/neutral_json.hpp>

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace heddle::providers {

namespace {

namespace json = boost::json;
using ports::chat_response;
using ports::llm_errc;

struct error_name {
    llm_errc code;
    std::string_view name;
};

constexpr std::array error_names{
    error_name{llm_errc::invalid_request, "invalid_request"},
    error_name{llm_errc::authentication, "authentication"},
    error_name{llm_errc::permission, "permission"},
    error_name{llm_errc::not_found, "not_found"},
    error_name{llm_errc::rate_limit, "rate_limit"},
    error_name{llm_errc::quota, "quota"},
    error_name{llm_errc::overloaded, "overloaded"},
    error_name{llm_errc::server, "server"},
    error_name{llm_errc::request_timeout, "request_timeout"},
    error_name{llm_errc::conflict, "conflict"},
    error_name{llm_errc::connection, "connection"},
    error_name{llm_errc::protocol, "protocol"},
    error_name{llm_errc::content_refused, "content_refused"},
    error_name{llm_errc::configuration, "configuration"},
};

std::string_view name_of(const boost::system::error_code& code) noexcept {
    for (const error_name& each : error_names) {
        if (code == ports::make_error_code(each.code)) return each.name;
    }
    return "protocol";
}

llm_errc code_named(std::string_view name) noexcept {
    for (const error_name& each : error_names) {
        if (each.name == name) return each.code;
    }
    return llm_errc::protocol;
}

result<json::value> parse(std::string_view text) {
    boost::system::error_code failed;
    constexpr std::size_t max_depth = 128; // a request quotes schemas
    json::value created = parse_json(text, failed, max_depth);
    if (failed) return error(errc::invalid_argument, "it is not JSON");
    return created;
}

std::string_view text_at(const json::object& object, std::string_view name) {
    const json::value* found = object.if_contains(name);
    const json::string* text = found ? found->if_string() : nullptr;
    return text ? std::string_view(text->data(), text->size()) : std::string_view();
}

void append_error(std::string& out, const error& failure) {
    out += R"({"kind":)";
    append_json_string(out, name_of(failure.code()));
    out += R"(,"message":)";
    append_json_string(out, failure.message());
    if (!failure.info().hint.empty()) {
        out += R"(,"hint":)";
        append_json_string(out, failure.info().hint);
    }
    if (failure.info().retryable) {
        out += *failure.info().retryable ? R"(,"retryable":true)" : R"(,"retryable":false)";
    }
    if (failure.info().retry_after) {
        out += R"(,"retry_after_ms":)";
        append_json_number(out, static_cast<std::int64_t>(failure.info().retry_after->count()));
    }
    if (failure.info().attempts) {
        out += R"(,"attempts":)";
        append_json_number(out, std::int64_t{*failure.info().attempts});
    }
    const auto* partial =
        dynamic_cast<const ports::partial_response*>(failure.info().payload.get());
    if (partial) {
        if (partial->all_lost) out += R"(,"all_lost":true)";
        if (partial->unread != 0) {
            out += R"(,"unread":)";
            append_json_number(out, static_cast<std::int64_t>(partial->unread));
        }
        out += R"(,"partial":)";
        append_response_json(out, partial->so_far);
    }
    out += '}';
}

result<void> read_error(const json::object& said, recorded_call& call) {
    for (const std::string_view name : {"kind", "message", "hint"}) {
        const json::value* found = said.if_contains(name);
        if (found && !found->is_string()) {
            return error(errc::invalid_argument,
                         "'" + std::string(name) + "' of the error has the wrong type");
        }
    }
    error failure(ports::make_error_code(code_named(text_at(said, "kind"))),
                  std::string(text_at(said, "message")));
    if (const auto hint = text_at(said, "hint"); !hint.empty()) {
        failure = std::move(failure).with_hint(std::string(hint));
    }
    const json::value* retryable = said.if_contains("retryable");
    if (const bool* known = retryable ? retryable->if_bool() : nullptr) {
        failure = std::move(failure).with_retryable(*known);
    }
    const json::value* wait = said.if_contains("retry_after_ms");
    if (const std::int64_t* known = wait ? wait->if_int64() : nullptr) {
        failure = std::move(failure).with_retry_after(std::chrono::milliseconds(*known));
    }
    if (const json::value* partial = said.if_contains("partial")) {
        HEDDLE_TRY(chat_response so_far, read_response_json(json::serialize(*partial)));
        auto payload = std::make_shared<ports::partial_response>(std::move(so_far));
        const json::value* lost = said.if_contains("all_lost");
        payload->all_lost = lost && *lost == json::value(true);
        const json::value* unread = said.if_contains("unread");
        if (const std::int64_t* known = unread ? unread->if_int64() : nullptr)
            payload->unread = static_cast<std::size_t>(std::max<std::int64_t>(*known, 0));
        failure = std::move(failure).with_payload(std::move(payload));
    }
    const json::value* attempts = said.if_contains("attempts");
    if (const std::int64_t* known = attempts ? attempts->if_int64() : nullptr) {
        failure = std::move(failure).with_attempts(
            static_cast<std::uint32_t>(std::clamp<std::int64_t>(*known, 0, 1'000'000)));
    }
    call.outcome.emplace(std::move(failure).with_origin(error_origin::server));
    return {};
}

void equalise_blanks(json::value& content) {
    if (json::object* object = content.if_object()) {
        for (auto& member : *object) equalise_blanks(member.value());
        return;
    }
    if (json::array* list = content.if_array()) {
        for (json::value& item : *list) equalise_blanks(item);
        return;
    }
    json::string* text = content.if_string();
    if (!text) return;
    std::string out;
    bool blank = false;
    for (const char each : *text) {
        const bool is_blank = ascii::is_blank(each);
        if (!is_blank && blank && !out.empty()) out += ' ';
        blank = is_blank;
        if (!is_blank) out += each;
    }
    *text = out;
}

void hide_in_values(json::value& content, const redactor& secrets) {
    if (json::object* object = content.if_object()) {
        for (auto& member : *object) hide_in_values(member.value(), secrets);
    } else if (json::array* list = content.if_array()) {
        for (json::value& item : *list) hide_in_values(item, secrets);
    } else if (json::string* text = content.if_string()) {
        std::string shown(text->data(), text->size());
        if (secrets.hide(shown)) *text = shown;
    }
}

constexpr std::size_t max_shown_value = 60;

/// Where two messages part: "text, from character 12", "tool_calls".
std::string message_difference(const json::value& left, const json::value& right) {
    const json::object* one = left.if_object();
    const json::object* other = right.if_object();
    if (!one || !other) return "";
    const std::string_view text = text_at(*one, "text");
    const std::string_view now = text_at(*other, "text");
    if (text != now) {
        const auto at = std::mismatch(text.begin(), text.end(), now.begin(), now.end()).first;
        const auto same = static_cast<std::size_t>(at - text.begin());
        return ": text, from character " + std::to_string(utf8::count(text.substr(0, same)) + 1);
    }
    for (const auto& member : *one) {
        const json::value* found = other->if_contains(member.key());
        if (!found || *found != member.value()) return ": " + std::string(member.key());
    }
    return "";
}

std::string difference(std::string_view name, const json::value& recorded,
                       const json::value& asked) {
    std::string text(name);
    const json::array* left = recorded.if_array();
    const json::array* right = asked.if_array();
    if (left && right) {
        const std::size_t both = std::min(left->size(), right->size());
        std::size_t i = 0;
        while (i < both && (*left)[i] == (*right)[i]) ++i;
        if (i == both) {
            return text + " (" + std::to_string(left->size()) + " recorded, " +
                   std::to_string(right->size()) + " now)";
        }
        return text + " (number " + std::to_string(i + 1) + " of " + std::to_string(left->size()) +
               message_difference((*left)[i], (*right)[i]) + ")";
    }
    const std::string before = json::serialize(recorded);
    const std::string now = json::serialize(asked);
    if (before.size() > max_shown_value || now.size() > max_shown_value) return text;
    return text + " (" + before + " recorded, " + now + " now)";
}

} // namespace

std::string cassette_header(std::string_view default_model) {
    std::string out = R"({"heddle_cassette":)";
    append_json_number(out, std::int64_t{cassette_version});
    out += R"(,"default_model":)";
    append_json_string(out, default_model);
    out += "}\n";
    return out;
}

std::string cassette_call(std::string_view provider, const ports::chat_request& request,
                          const result<chat_response>& outcome,
                          const std::vector<std::size_t>& pieces) {
    std::string out = R"({"provider":)";
    append_json_string(out, provider);
    out += R"(,"request":)";
    append_request_json(out, request);
    if (outcome) {
        out += R"(,"answer":)";
        append_response_json(out, *outcome);
    } else {
        out += R"(,"error":)";
        append_error(out, outcome.error());
    }
    if (!pieces.empty()) {
        out += R"(,"pieces":[)";
        bool first = true;
        for (const std::size_t size : pieces) {
            if (!std::exchange(first, false)) out += ',';
            append_json_number(out, static_cast<std::int64_t>(size));
        }
        out += ']';
    }
    out += "}\n";
    return out;
}

result<std::string> read_cassette_header(std::string_view line) {
    HEDDLE_TRY(const json::value read, parse(line));
    const json::object* object = read.if_object();
    const json::value* version = object ? object->if_contains("heddle_cassette") : nullptr;
    if (!version) {
        return error(errc::invalid_argument, "this is not a recording of calls")
            .with_hint("--record FILE creates one");
    }
    if (!version->is_int64() || version->get_int64() != cassette_version) {
        return error(errc::invalid_argument, "the recording was made by another version")
            .with_hint("record it again");
    }
    return std::string(text_at(*object, "default_model"));
}

result<recorded_call> read_cassette_call(std::string_view line) {
    HEDDLE_TRY(const json::value read, parse(line));
    const json::object* object = read.if_object();
    const json::value* request = object ? object->if_contains("request") : nullptr;
    if (!request || !request->is_object()) {
        return error(errc::invalid_argument, "the line holds no call");
    }
    recorded_call call;
    call.provider = text_at(*object, "provider");
    call.request = json::serialize(*request);
    const json::value* recorded = object->if_contains("answer");
    const json::value* failure = object->if_contains("error");
    if (recorded && recorded->is_object()) {
        HEDDLE_TRY(chat_response response, read_response_json(json::serialize(*recorded)));
        call.outcome.emplace(std::move(response));
    } else if (failure && failure->is_object()) {
        HEDDLE_CHECK(read_error(failure->get_object(), call));
    } else {
        return error(errc::invalid_argument, "the call has neither a response nor an error");
    }
    const json::value* pieces = object->if_contains("pieces");
    if (const json::array* sizes = pieces ? pieces->if_array() : nullptr) {
        for (const json::value& size : *sizes) {
            const std::int64_t* bytes = size.if_int64();
            if (!bytes || *bytes < 0) {
                return error(errc::invalid_argument, "the sizes of its pieces cannot be read");
            }
            call.pieces.push_back(static_cast<std::size_t>(*bytes));
        }
    }
    return call;
}

bool is_whole_line(std::string_view line) { return parse(line).has_value(); }

std::string cassette_key(const ports::chat_request& request) {
    std::string text;
    append_request_json(text, request);
    const auto read = parse(text);
    return read ? json::serialize(*read) : text;
}

std::string lenient_cassette_key(std::string_view request_json) {
    const auto read = parse(request_json);
    const json::object* object = read ? read->if_object() : nullptr;
    if (!object) return std::string(request_json);
    json::object kept;
    for (const std::string_view name : {"messages", "tools", "format"}) {
        if (const json::value* found = object->if_contains(name)) kept[name] = *found;
    }
    json::value result(std::move(kept));
    equalise_blanks(result);
    return json::serialize(result);
}

std::string without_secrets(std::string line, const redactor& secrets) {
    std::string hidden = line;
    if (!secrets.hide(hidden)) return line;
    auto read = parse(line);
    if (!read) return hidden;
    hide_in_values(*read, secrets);
    return json::serialize(*read) + "\n";
}

std::vector<std::string> differing_members(std::string_view recorded, std::string_view asked) {
    std::vector<std::string> differences;
    const auto first = parse(recorded);
    const auto second = parse(asked);
    const json::object* left = first ? first->if_object() : nullptr;
    const json::object* right = second ? second->if_object() : nullptr;
    if (!left || !right) return differences;
    for (const auto& member : *left) {
        const json::value* found = right->if_contains(member.key());
        if (!found) differences.push_back(std::string(member.key()) + " (recorded only)");
        else if (*found != member.value())
            differences.push_back(difference(member.key(), member.value(), *found));
    }
    for (const auto& member : *right) {
        if (!left->if_contains(member.key()))
            differences.push_back(std::string(member.key()) + " (not recorded)");
    }
    return differences;
}

} // namespace heddle::providers
