#include "tasks/output/xml_text.hpp"

#include <heddle/base/utf8.hpp>

namespace heddle::tasks {

std::string xml_escaped(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const utf8::code_point point = utf8::decode(text, at);
        switch (point.value) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        case '\r': out += "&#13;"; break; // else a reader takes it for a line end
        case '\t':
        case '\n': out += text[at]; break;
        default:
            // XML 1.0 has no way to write the other control codes and the last two of the plane.
            if (point.value < 0x20 || point.value == 0xFFFE || point.value == 0xFFFF) {
                out += utf8::replacement;
            } else {
                utf8::append(out, point.value);
            }
        }
        at += point.bytes;
    }
    return out;
}

} // namespace heddle::tasks
