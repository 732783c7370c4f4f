#include "scripted/http_request_parser.hpp"

#include <heddle/base/ascii.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace heddle::providers::scripted {

namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view header_end = "\r\n\r\n";
constexpr std::size_t longest_chunk_line = 256;

/// A character of a token (RFC 9110, 5.6.2).
constexpr std::array<bool, 256> make_token_table() {
    std::array<bool, 256> table{};
    for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = true;
    for (int c = 'a'; c <= 'z'; ++c) table[static_cast<std::size_t>(c)] = true;
    for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = true;
    for (const char c : std::string_view("!#$%&'*+-.^_`|~"))
        table[static_cast<unsigned char>(c)] = true;
    return table;
}
constexpr auto token_table = make_token_table();

bool is_token(std::string_view text) noexcept {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return token_table[static_cast<unsigned char>(c)];
    });
}

bool is_field_value(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte == '\t' || (byte >= 0x20 && byte != 0x7F);
    });
}

/// True if a comma-separated list holds the word.
bool lists(std::string_view list, std::string_view word) noexcept {
    while (!list.empty()) {
        const std::size_t comma = list.find(',');
        if (ascii::equals_ignoring_case(ascii::trim(list.substr(0, comma), " \t"), word))
            return true;
        if (comma == std::string_view::npos) return false;
        list.remove_prefix(comma + 1);
    }
    return false;
}

} // namespace

http_request_parser::step http_request_parser::fail(int status, std::string_view reason) noexcept {
    status_ = status;
    reason_ = reason;
    return step::wrong;
}

http_request_parser::step http_request_parser::advance(std::string_view bytes) {
    if (status_ != 0) return step::wrong;
    base_ = bytes.data();
    if (part_ == part::header) {
        const step read = read_header(bytes);
        if (read != step::whole) return read;
    }
    if (part_ == part::sized_body) {
        if (bytes.size() - at_ < length_) return step::need_more;
        body_ = {at_, length_};
        at_ += length_;
    } else {
        const step read = read_chunks(bytes);
        if (read != step::whole) return read;
    }
    place_views(bytes);
    return step::whole;
}

/// `whole` means here that the header is.
http_request_parser::step http_request_parser::read_header(std::string_view bytes) {
    // A line end too many after the request before is forgiven (RFC 9112, 2.2).
    if (at_ == 0 && bytes.starts_with(line_end)) at_ = scanned_ = line_end.size();
    const std::size_t end = bytes.find(header_end, std::max(scanned_, at_));
    if (end == std::string_view::npos) {
        if (bytes.size() > limits_.max_header) return fail(431, "the header is too large");
        scanned_ = bytes.size() < header_end.size() ? at_ : bytes.size() - (header_end.size() - 1);
        return step::need_more;
    }
    if (end > limits_.max_header) return fail(431, "the header is too large");

    std::string_view rest = bytes.substr(at_, end + line_end.size() - at_);
    for (bool first = true; !rest.empty(); first = false) {
        const std::size_t feed = rest.find(line_end);
        const std::string_view line = rest.substr(0, feed);
        rest.remove_prefix(feed + line_end.size());
        if (first) {
            if (!read_request_line(line)) return step::wrong;
            continue;
        }
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
            fail(400, "a header field is malformed");
            return step::wrong;
        }
        const std::string_view value = ascii::trim(line.substr(colon + 1), " \t");
        if (!is_field_value(value)) return fail(400, "a header field holds a control character");
        if (++fields_ > limits_.max_fields) return fail(431, "there are too many header fields");
        if (!read_field(line.substr(0, colon), value)) return step::wrong;
    }
    at_ = scanned_ = end + header_end.size();
    return end_of_header() ? step::whole : step::wrong;
}

bool http_request_parser::read_request_line(std::string_view line) {
    const std::size_t first = line.find(' ');
    const std::size_t last = line.rfind(' ');
    if (first == std::string_view::npos || first == last) {
        fail(400, "the request line is malformed");
        return false;
    }
    const std::string_view method = line.substr(0, first);
    const std::string_view target = line.substr(first + 1, last - first - 1);
    const std::string_view version = line.substr(last + 1);
    const bool visible = std::all_of(target.begin(), target.end(), [](char c) {
        return static_cast<unsigned char>(c) > 0x20 && static_cast<unsigned char>(c) < 0x7F;
    });
    if (!is_token(method) || target.empty() || !visible) {
        fail(400, "the request line is malformed");
        return false;
    }
    if (version == "HTTP/1.0") {
        request_.is_http_1_0 = true;
        request_.keep_alive = false;
    } else if (version != "HTTP/1.1") {
        fail(version.starts_with("HTTP/") ? 505 : 400, "the HTTP version is not 1.1");
        return false;
    }
    method_ = {static_cast<std::size_t>(method.data() - base_), method.size()};
    target_ = {static_cast<std::size_t>(target.data() - base_), target.size()};
    return true;
}

bool http_request_parser::read_field(std::string_view name, std::string_view value) {
    switch (name.size()) { // most fields are none of these, and most differ in length already
    case 4:
        if (!ascii::equals_ignoring_case(name, "host")) return true;
        if (std::exchange(has_host_, true)) {
            fail(400, "there is more than one Host");
            return false;
        }
        return true;
    case 6:
        if (!ascii::equals_ignoring_case(name, "expect")) return true;
        if (!ascii::equals_ignoring_case(value, "100-continue")) {
            fail(417, "only 100-continue can be expected");
            return false;
        }
        expects_continue_ = !request_.is_http_1_0;
        return true;
    case 10:
        if (!ascii::equals_ignoring_case(name, "connection")) return true;
        if (lists(value, "close")) request_.keep_alive = false;
        else if (request_.is_http_1_0 && lists(value, "keep-alive")) request_.keep_alive = true;
        return true;
    case 13:
        if (ascii::equals_ignoring_case(name, "authorization")) keep(authorization_, value);
        return true;
    case 9:
        if (ascii::equals_ignoring_case(name, "x-api-key")) keep(x_api_key_, value);
        return true;
    case 14:
        if (ascii::equals_ignoring_case(name, "x-goog-api-key")) keep(x_goog_api_key_, value);
        return !ascii::equals_ignoring_case(name, "content-length") || read_length(value);
    case 17:
        if (ascii::equals_ignoring_case(name, "anthropic-version")) keep(anthropic_version_, value);
        if (!ascii::equals_ignoring_case(name, "transfer-encoding")) return true;
        if (!ascii::equals_ignoring_case(value, "chunked") || is_chunked_) {
            fail(501, "only the transfer coding chunked is known");
            return false;
        }
        is_chunked_ = true;
        return true;
    default: return true;
    }
}

bool http_request_parser::read_length(std::string_view value) {
    std::size_t length = 0;
    const auto [end, ec] = std::from_chars(value.data(), value.data() + value.size(), length);
    const bool digits =
        !value.empty() && ascii::is_digit(value[0]) && end == value.data() + value.size();
    if (digits && ec == std::errc::result_out_of_range) {
        fail(413, "the body is too large");
        return false;
    }
    if (!digits || ec != std::errc{} || (has_length_ && length != length_)) {
        fail(400, "the Content-Length is malformed");
        return false;
    }
    has_length_ = true;
    length_ = length;
    return true;
}

bool http_request_parser::end_of_header() {
    if (!request_.is_http_1_0 && !has_host_) {
        fail(400, "there is no Host");
        return false;
    }
    if (is_chunked_ && (has_length_ || request_.is_http_1_0)) {
        fail(400, "Content-Length and Transfer-Encoding exclude each other");
        return false;
    }
    if (length_ > limits_.max_body) {
        fail(413, "the body is too large");
        return false;
    }
    part_ = is_chunked_ ? part::chunk_size : part::sized_body;
    return true;
}

http_request_parser::step http_request_parser::read_chunks(std::string_view bytes) {
    // Many small chunks cost more than their data.
    if (bytes.size() / 2 > limits_.max_header + limits_.max_body) {
        return fail(413, "the body is too large");
    }
    for (;;) {
        if (part_ == part::chunk_data) {
            const std::string_view data = bytes.substr(at_, length_);
            chunks_ += data;
            at_ += data.size();
            length_ -= data.size();
            if (length_ != 0) return step::need_more;
            part_ = part::chunk_end;
            scanned_ = at_;
        }
        if (part_ == part::chunk_end) {
            if (bytes.size() - at_ < line_end.size()) return step::need_more;
            if (bytes.substr(at_, line_end.size()) != line_end)
                return fail(400, "a chunk is malformed");
            at_ += line_end.size();
            scanned_ = at_;
            part_ = part::chunk_size;
        }
        const std::size_t end = bytes.find(line_end, scanned_);
        if (end == std::string_view::npos) {
            if (bytes.size() - at_ >
                (part_ == part::trailer ? limits_.max_header : longest_chunk_line)) {
                return fail(400, "a chunk's header is too long");
            }
            scanned_ = std::max(at_, bytes.empty() ? 0 : bytes.size() - 1);
            return step::need_more;
        }
        const std::string_view line = bytes.substr(at_, end - at_);
        at_ = scanned_ = end + line_end.size();
        if (part_ == part::trailer) {
            if (line.empty()) return step::whole;
            trailer_bytes_ += line.size();
            if (trailer_bytes_ > limits_.max_header) return fail(431, "the trailer is too large");
            continue; // trailer fields are of no use here
        }
        if (!read_chunk_size(line)) return step::wrong;
    }
}

bool http_request_parser::read_chunk_size(std::string_view line) {
    const std::string_view digits = ascii::trim(line.substr(0, line.find(';')), " \t");
    std::size_t size = 0;
    const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), size, 16);
    const bool good = line.size() <= longest_chunk_line && !digits.empty() && digits[0] != '-' &&
                      end == digits.data() + digits.size() && is_field_value(line);
    if (!good || (ec != std::errc{} && ec != std::errc::result_out_of_range)) {
        fail(400, "a chunk's size is malformed");
        return false;
    }
    if (ec != std::errc{} || size > limits_.max_body - chunks_.size()) {
        fail(413, "the body is too large");
        return false;
    }
    length_ = size;
    part_ = size == 0 ? part::trailer : part::chunk_data;
    return true;
}

void http_request_parser::place_views(std::string_view bytes) {
    const auto view = [&](range place) { return bytes.substr(place.begin, place.size); };
    request_.method = view(method_);
    request_.target = view(target_);
    request_.authorization = view(authorization_);
    request_.x_api_key = view(x_api_key_);
    request_.x_goog_api_key = view(x_goog_api_key_);
    request_.anthropic_version = view(anthropic_version_);
    request_.body = is_chunked_ ? std::string_view(chunks_) : view(body_);
}

std::size_t http_request_parser::missing(std::size_t have) const noexcept {
    if (part_ == part::header || part_ == part::chunk_size) return 0;
    const std::size_t end = at_ + length_;
    return end > have ? end - have : 0;
}

void http_request_parser::reset() noexcept {
    constexpr std::size_t kept_chunks = 64 * 1024;
    std::string chunks = std::move(chunks_);
    if (chunks.capacity() > kept_chunks) chunks = {};
    chunks.clear();
    *this = http_request_parser(limits_);
    chunks_ = std::move(chunks);
}

} // namespace heddle::providers::scripted
