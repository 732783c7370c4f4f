#include "json_line.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/value.hpp>

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace heddle::cli {

std::string json_line(std::string_view json) {
    std::string line;
    line.reserve(json.size() + 1);
    for (std::size_t at = 0; at < json.size();) {
        const utf8::code_point point = utf8::decode(json, at);
        // The blanks of JSON are controls too, and may stand.
        if (point.value >= 0x7F && utf8::is_display_control(point.value)) {
            std::array<char, 16> escape{};
            std::snprintf(escape.data(), escape.size(), "\\u%04x",
                          static_cast<unsigned>(point.value));
            line += escape.data();
        } else if (point.valid) {
            line.append(json, at, point.bytes);
        } else {
            line += utf8::replacement;
        }
        at += point.bytes;
    }
    return line += '\n';
}

namespace {

/// A float as Boost.JSON writes it, "5E-1", in the spelling of the language.
std::string plain_number(std::string_view written) {
    double number = 0;
    const auto [end, failed] =
        std::from_chars(written.data(), written.data() + written.size(), number);
    if (failed != std::errc() || end != written.data() + written.size())
        return std::string(written);
    auto plain = lang::value_to_json(lang::value::real(number));
    return plain ? *std::move(plain) : std::string(written);
}

} // namespace

std::string json_text(const boost::json::value& content) {
    const std::string written = boost::json::serialize(content);
    std::string text;
    text.reserve(written.size());
    bool in_string = false;
    for (std::size_t at = 0; at < written.size();) {
        const char c = written[at];
        if (!in_string && (ascii::is_digit(c) || c == '-')) {
            const std::size_t end =
                std::min(written.find_first_not_of("+-.0123456789E", at), written.size());
            const std::string_view number(written.data() + at, end - at);
            const bool is_float = number.find('E') != std::string_view::npos;
            text += is_float ? plain_number(number) : std::string(number);
            at = end;
            continue;
        }
        if (c == '"') in_string = !in_string;
        const std::size_t count = c == '\\' ? 2 : 1; // in a string: what follows it is no quote
        text.append(written, at, count);
        at += count;
    }
    return text;
}

std::string json_line(const boost::json::value& content) { return json_line(json_text(content)); }

} // namespace heddle::cli
