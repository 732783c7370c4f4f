#include <heddle/providers/common/ndjson_parser.hpp>

#include <heddle/base/utf8.hpp>

namespace heddle::providers {

namespace {

/// Without the CR of its end; empty if it holds nothing but blanks.
std::string_view content_of(std::string_view line) noexcept {
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line.find_first_not_of(" \t\r") == std::string_view::npos ? std::string_view() : line;
}

} // namespace

error ndjson_parser::too_long() {
    failed_ = true;
    carry_ = {};
    return {errc::limit_exceeded, "a line of the stream is too long"};
}

bool ndjson_parser::keep(std::string_view part) {
    if (carry_.size() + part.size() > max_line_) return false;
    carry_.append(part);
    return true;
}

std::string_view ndjson_parser::take_carry() noexcept {
    line_.swap(carry_);
    carry_.clear();
    return line_;
}

/// Cuts off what is not content: the byte order mark of the stream, and the CR of the line's end.
bool ndjson_parser::has_content(std::string_view& line) noexcept {
    if (first_line_) line = utf8::skip_byte_order_mark(line);
    first_line_ = false;
    line = content_of(line);
    return !line.empty();
}

result<bool> ndjson_parser::next(std::string_view& line) {
    if (failed_) return too_long();
    for (;;) {
        const std::size_t end = rest_.find('\n');
        const std::string_view part = rest_.substr(0, end);
        if (end == std::string_view::npos) {
            rest_ = {};
            if (!keep(part)) return too_long();
            return false;
        }
        rest_.remove_prefix(end + 1);
        if (carry_.empty()) {
            if (part.size() > max_line_) return too_long();
            line = part;
        } else {
            if (!keep(part)) return too_long();
            line = take_carry();
        }
        if (has_content(line)) return true;
    }
}

result<bool> ndjson_parser::last(std::string_view& line) {
    if (failed_) return too_long();
    line = take_carry();
    return has_content(line);
}

} // namespace heddle::providers
