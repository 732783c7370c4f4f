#include "json_line.hpp"

#include <heddle/base/utf8.hpp>

#include <boost/json/serialize.hpp>

#include <array>
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

std::string json_line(const boost::json::value& content) {
    return json_line(boost::json::serialize(content));
}

} // namespace heddle::cli
