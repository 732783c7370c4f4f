#include <heddle/providers/common/sse_parser.hpp>

#include <heddle/base/utf8.hpp>

#include <cstring>

namespace heddle::providers {

result<bool> sse_parser::next(sse_event& event) {
    if (dispatched_) forget_event();
    while (!failed_) {
        std::string_view line;
        const line_step step = take_line(line);
        if (step == line_step::need_more) {
            keep_data();
            return false;
        }
        if (step == line_step::too_long) break;
        if (!line.empty()) {
            if (!take_field(line)) break;
            continue;
        }
        if (!has_data_) { // an event without data is none
            type_.clear();
            continue;
        }
        event.type = type_;
        event.data = data_is_view_ ? data_view_ : std::string_view(data_);
        event.id = id_;
        dispatched_ = true;
        return true;
    }
    failed_ = true;
    return error(errc::limit_exceeded, "an event of the stream is too large");
}

sse_parser::line_step sse_parser::take_line(std::string_view& line) {
    if (skip_line_feed_ && !rest_.empty()) {
        if (rest_.front() == '\n') rest_.remove_prefix(1);
        skip_line_feed_ = false;
    }
    if (rest_.empty()) return line_step::need_more;

    // The line feed ahead is looked up once and not for each line that a lone CR ends before it.
    const char* const begin = rest_.data();
    const char* const end = begin + rest_.size();
    if (!next_line_feed_ || next_line_feed_ < begin) {
        const void* found = std::memchr(begin, '\n', rest_.size());
        next_line_feed_ = found ? static_cast<const char*>(found) : end;
    }
    const auto until = static_cast<std::size_t>(next_line_feed_ - begin);
    const auto* cr = static_cast<const char*>(std::memchr(begin, '\r', until));
    const char* const stop = cr ? cr : next_line_feed_;

    const std::string_view part(begin, static_cast<std::size_t>(stop - begin));
    if (carry_.size() + part.size() > limits_.max_line) return line_step::too_long;
    if (stop == end) {
        carry_.append(part);
        rest_ = {};
        return line_step::need_more;
    }
    skip_line_feed_ = cr != nullptr;
    rest_.remove_prefix(part.size() + 1);
    line_is_view_ = carry_.empty();
    if (line_is_view_) {
        line = part;
    } else {
        carry_.append(part);
        line_.swap(carry_);
        carry_.clear();
        line = line_;
    }
    if (first_line_) {
        first_line_ = false;
        line = utf8::skip_byte_order_mark(line);
    }
    return line_step::line;
}

bool sse_parser::take_field(std::string_view line) {
    const std::size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    std::string_view value;
    if (colon != std::string_view::npos) value = line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);

    if (name == "data") return take_data(value);
    if (name == "event") type_ = value;
    else if (name == "id" && value.find('\0') == std::string_view::npos) id_ = value;
    return true; // a comment (no name), `retry`, or something unknown
}

bool sse_parser::take_data(std::string_view value) {
    if (!has_data_) {
        if (value.size() > limits_.max_event) return false;
        has_data_ = true;
        data_is_view_ = line_is_view_;
        if (data_is_view_) data_view_ = value;
        else data_ = value;
        return true;
    }
    keep_data();
    if (data_.size() + 1 + value.size() > limits_.max_event) return false;
    data_ += '\n';
    data_ += value;
    return true;
}

void sse_parser::keep_data() {
    if (!data_is_view_) return;
    data_ = data_view_;
    data_is_view_ = false;
}

void sse_parser::forget_event() noexcept {
    data_.clear();
    type_.clear();
    has_data_ = data_is_view_ = dispatched_ = false;
}

} // namespace heddle::providers
