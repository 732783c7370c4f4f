#include <heddle/http/request_parser.hpp>

#include <heddle/base/ascii.hpp>
#include <heddle/base/url.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::http {

namespace beast = boost::beast::http;
using boost::system::error_code;

namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view header_end = "\r\n\r\n";
constexpr std::size_t max_chunk_line = 256;

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

bool is_number(std::string_view text) noexcept {
    return !text.empty() && std::all_of(text.begin(), text.end(), ascii::is_digit);
}

/// True if a Content-Length is a number that does not fit into 64 bits.
bool has_long_length(std::string_view header) noexcept {
    constexpr std::size_t max_digits = 19;
    while (!header.empty()) {
        const std::size_t end = std::min(header.find(line_end), header.size());
        const std::string_view line = header.substr(0, end);
        header.remove_prefix(std::min(end + line_end.size(), header.size()));
        const std::size_t colon = std::min(line.find(':'), line.size());
        if (!ascii::equals_ignoring_case(line.substr(0, colon), "content-length")) continue;
        const std::string_view value =
            ascii::trim(line.substr(std::min(colon + 1, line.size())), " \t");
        if (value.size() > max_digits && is_number(value)) return true;
    }
    return false;
}

std::string_view view_of(boost::core::string_view text) noexcept {
    return {text.data(), text.size()};
}

} // namespace

/// What is kept of one request.
class request_parser::reader final : public beast::basic_parser<true> {
public:
    explicit reader(const request_limits& limits) : limits_(limits) {
        this->eager(true);
        // The parser around this bounds the header before it gets here; trailers count as well.
        this->header_limit(static_cast<std::uint32_t>(
            std::min<std::size_t>(2 * limits.max_header + max_chunk_line, UINT32_MAX)));
        this->body_limit(limits.max_body);
    }

    /// Notes why the request is refused. The first reason stays.
    void refuse(int status, std::string_view reason) noexcept {
        if (status_ != 0) return;
        status_ = status;
        reason_ = reason;
    }
    /// Also reports it to Beast, which then stops.
    void refuse(int status, std::string_view reason, error_code& ec) noexcept {
        refuse(status, reason);
        ec = beast::error::bad_field;
    }

    /// Room for what is kept of a header, so that it does not grow field by field.
    void make_room(std::string_view header) {
        const auto lines = std::count(header.begin(), header.end(), '\n');
        text_.reserve(header.size());
        kept_.reserve(std::min(static_cast<std::size_t>(lines), limits_.max_fields));
    }

    void place_views() {
        request.method = method_;
        request.target = target_;
        request.body = body_;
        request.fields.clear();
        request.fields.reserve(kept_.size());
        const std::string_view text = text_;
        std::size_t at = 0;
        for (const kept_field& each : kept_) {
            request.fields.push_back(
                {text.substr(at, each.name), text.substr(at + each.name, each.value)});
            at += each.name + each.value;
        }
    }

    [[nodiscard]] std::size_t body_size() const noexcept { return body_.size(); }
    [[nodiscard]] std::size_t body_room() const noexcept {
        return body_.empty() ? 0 : body_.capacity();
    }
    void discard_body() noexcept {
        request.body = {};
        std::string().swap(body_);
    }

    server_request request;
    bool expects_continue = false;
    [[nodiscard]] int status() const noexcept { return status_; }
    [[nodiscard]] std::string_view reason() const noexcept { return reason_; }

private:
    /// The sizes of a field's parts.
    struct kept_field {
        std::size_t name;
        std::size_t value;
    };

    /// Path and query, or a URL as proxies are sent it, which any server must accept; the Host is
    /// that of the URL then (RFC 9112, 3.2.2). False: neither.
    [[nodiscard]] bool take_target(std::string_view written) {
        target_ = written;
        const auto url = split_url(written);
        if (!url || (!ascii::equals_ignoring_case(url->scheme, "http") &&
                     !ascii::equals_ignoring_case(url->scheme, "https")))
            return true;
        if (url->authority.empty() || url->authority.find('@') != url->authority.npos) return false;
        authority_ = url->authority;
        target_ = url->rest.starts_with('/') ? "" : "/";
        target_ += url->rest;
        keep("Host", authority_);
        return true;
    }
    void keep(std::string_view name, std::string_view value) {
        text_ += name;
        text_ += value;
        kept_.push_back({name.size(), value.size()});
    }

    void on_request_impl(beast::verb, boost::core::string_view method,
                         boost::core::string_view target, int version, error_code& ec) override {
        method_ = view_of(method);
        if (target.size() > limits_.max_target) return refuse(414, "the target is too long", ec);
        if (!take_target(view_of(target))) return refuse(400, "the target is malformed", ec);
        request.is_http_1_0 = version == 10;
        request.keep_alive = !request.is_http_1_0;
        if (version != 10 && version != 11) refuse(505, "the HTTP version is not 1.1", ec);
    }
    void on_response_impl(int, boost::core::string_view, int, error_code&) override {}

    void on_field_impl(beast::field name, boost::core::string_view written,
                       boost::core::string_view given, error_code& ec) override {
        if (this->is_header_done()) return; // trailer fields are of no use here
        const std::string_view value = view_of(given);
        if (++fields_ > limits_.max_fields)
            return refuse(431, "there are too many header fields", ec);
        switch (name) {
        case beast::field::host:
            if (std::exchange(has_host_, true)) refuse(400, "there is more than one Host", ec);
            if (!authority_.empty()) return; // the target has the host
            break;
        case beast::field::expect:
            if (!ascii::equals_ignoring_case(value, "100-continue"))
                return refuse(417, "only 100-continue can be expected", ec);
            expects_continue = !request.is_http_1_0;
            break;
        case beast::field::connection:
            if (lists(value, "close")) request.keep_alive = false;
            else if (request.is_http_1_0 && lists(value, "keep-alive")) request.keep_alive = true;
            break;
        case beast::field::content_length:
            if (!is_number(value) || (has_length_ && length_ != value))
                return refuse(400, "the Content-Length is malformed", ec);
            has_length_ = true;
            length_ = value;
            break;
        case beast::field::transfer_encoding:
            if (std::exchange(is_chunked_, true) || !ascii::equals_ignoring_case(value, "chunked"))
                return refuse(501, "only the transfer coding chunked is known", ec);
            break;
        case beast::field::authorization:
            if (std::exchange(has_authorization_, true))
                refuse(400, "there is more than one Authorization", ec);
            break;
        default: break;
        }
        keep(view_of(written), value);
        if (is_chunked_ && (has_length_ || request.is_http_1_0))
            refuse(400, "Content-Length and Transfer-Encoding exclude each other", ec);
    }

    void on_header_impl(error_code& ec) override {
        if (!request.is_http_1_0 && !has_host_) refuse(400, "there is no Host", ec);
    }
    void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code&) override {
        if (length)
            max_room_ = static_cast<std::size_t>(std::min<std::uint64_t>(*length, SIZE_MAX));
    }
    std::size_t on_body_impl(boost::core::string_view piece, error_code&) override {
        // The length is only a claim: room grows with what comes, and not beyond it.
        const std::size_t least = body_.size() + piece.size();
        if (least > body_.capacity())
            body_.reserve(std::max(least, std::min(max_room_, 2 * body_.capacity())));
        body_.append(piece.data(), piece.size());
        return piece.size();
    }
    void on_chunk_header_impl(std::uint64_t size, boost::core::string_view,
                              error_code& ec) override {
        if (size > limits_.max_body - body_.size()) refuse(413, "the body is too large", ec);
    }
    std::size_t on_chunk_body_impl(std::uint64_t, boost::core::string_view piece,
                                   error_code&) override {
        body_.append(piece.data(), piece.size());
        return piece.size();
    }
    void on_finish_impl(error_code&) override {}

    request_limits limits_;
    std::string method_;
    std::string target_;
    std::string authority_; // of the target; empty: it has none
    std::string text_;      // of the fields, one after the other
    std::vector<kept_field> kept_;
    std::string length_;
    std::string body_;
    std::size_t max_room_ = SIZE_MAX; // of the body, if its length is known
    std::size_t fields_ = 0;
    int status_ = 0;
    std::string_view reason_;
    bool has_host_ = false;
    bool has_authorization_ = false;
    bool has_length_ = false;
    bool is_chunked_ = false;
};

request_parser::request_parser(request_limits limits)
    : limits_(limits), reader_(std::make_unique<reader>(limits)) {}

request_parser::~request_parser() = default;
request_parser::request_parser(request_parser&&) noexcept = default;
request_parser& request_parser::operator=(request_parser&&) noexcept = default;

request_parser::step request_parser::fail(int status, std::string_view reason) noexcept {
    reader_->refuse(status, reason);
    return step::wrong;
}

request_parser::step request_parser::advance(std::string_view bytes) {
    if (reader_->status() != 0) return step::wrong;
    if (!reader_->is_header_done()) {
        const step read = read_header(bytes);
        if (read != step::whole) return read;
    }
    const step read = read_body(bytes);
    if (read == step::whole) reader_->place_views();
    return read;
}

/// Before its end is there; the reader counts it exactly.
bool request_parser::is_target_too_long(std::string_view bytes) const noexcept {
    constexpr std::size_t around = 40; // method, version and spaces
    const std::string_view line = bytes.substr(at_, limits_.max_target + around + 1);
    return line.size() > limits_.max_target + around && line.find('\n') == line.npos;
}

/// `whole` means here that the header is. Beast gets it in one piece.
request_parser::step request_parser::read_header(std::string_view bytes) {
    // A line end too many after the request before is forgiven (RFC 9112, 2.2).
    if (at_ == 0 && bytes.starts_with(line_end)) at_ = scanned_ = line_end.size();
    is_head_ = bytes.substr(at_).starts_with("HEAD "); // what is refused is answered alike
    if (is_target_too_long(bytes)) return fail(414, "the target is too long");
    const std::size_t end = bytes.find(header_end, std::max(scanned_, at_));
    if (end == std::string_view::npos) {
        if (bytes.size() > limits_.max_header) return fail(431, "the header is too large");
        scanned_ = bytes.size() < header_end.size() ? at_ : bytes.size() - (header_end.size() - 1);
        return step::need_more;
    }
    if (end > limits_.max_header) return fail(431, "the header is too large");
    const std::string_view header = bytes.substr(at_, end + header_end.size() - at_);
    if (header.find("\r\n ") != header.npos || header.find("\r\n\t") != header.npos)
        return fail(400, "a header field is folded");
    reader_->make_room(header);
    error_code ec;
    at_ += reader_->put(boost::asio::buffer(header.data(), header.size()), ec);
    if (!ec || ec == beast::error::need_more) return step::whole;
    if (ec == beast::error::bad_version) {
        const std::string_view line = header.substr(0, header.find(line_end));
        const bool other = std::count(line.begin(), line.end(), ' ') == 2 &&
                           line.substr(line.rfind(' ') + 1).starts_with("HTTP/");
        return fail(other ? 505 : 400, "the HTTP version is not 1.1");
    }
    if (ec == beast::error::body_limit ||
        (ec == beast::error::bad_content_length && has_long_length(header)))
        return fail(413, "the body is too large");
    return fail(400, "the header is malformed");
}

request_parser::step request_parser::read_body(std::string_view bytes) {
    // Many small chunks cost more than their data.
    if (reader_->chunked() && (dropped_ + bytes.size()) / 2 > limits_.max_header + limits_.max_body)
        return fail(413, "the body is too large");
    while (!reader_->is_done()) {
        const std::string_view rest = bytes.substr(at_);
        // A chunked body ends in "0\r\n\r\n". Beast's parser asserts that it sees as much at once.
        constexpr std::size_t min_end = 5;
        if (rest.size() < (reader_->chunked() ? min_end : 1)) return step::need_more;
        error_code ec;
        const std::size_t taken = reader_->put(boost::asio::buffer(rest.data(), rest.size()), ec);
        at_ += taken;
        if (ec == beast::error::need_more || (!ec && taken == 0)) {
            // What is left is a line of a chunk, or a trailer.
            const std::size_t left = bytes.size() - at_;
            const bool in_line = reader_->chunked() && bytes.find(line_end, at_) == bytes.npos;
            if (in_line && left > max_chunk_line) return fail(400, "a chunk's header is too long");
            if (left > limits_.max_header) return fail(431, "the trailer is too large");
            return step::need_more;
        }
        if (ec == beast::error::body_limit) return fail(413, "the body is too large");
        if (ec) return fail(400, "a chunk is malformed");
    }
    return step::whole;
}

const server_request& request_parser::request() const noexcept { return reader_->request; }
int request_parser::status() const noexcept { return reader_->status(); }
std::string_view request_parser::reason() const noexcept { return reader_->reason(); }

std::size_t request_parser::drop_taken() noexcept {
    if (!reader_->is_header_done()) return 0; // it is given to Beast's parser in one piece
    dropped_ += at_;
    return std::exchange(at_, 0);
}

std::size_t request_parser::body_size() const noexcept { return reader_->body_size(); }
std::size_t request_parser::body_room() const noexcept { return reader_->body_room(); }
void request_parser::discard_body() noexcept { reader_->discard_body(); }

bool request_parser::has_header() const noexcept { return reader_->is_header_done(); }

const server_request& request_parser::begun_request() {
    reader_->place_views();
    reader_->request.body = {};
    return reader_->request;
}

bool request_parser::wants_continue() const noexcept {
    return reader_->is_header_done() && reader_->expects_continue && !waiting_over_;
}

std::size_t request_parser::missing(std::size_t have) const noexcept {
    if (!reader_->is_header_done() || reader_->chunked()) return 0;
    const auto left = reader_->content_length_remaining();
    const std::size_t end = at_ + (left ? static_cast<std::size_t>(*left) : 0);
    return end > have ? end - have : 0;
}

void request_parser::reset() { *this = request_parser(limits_); }

} // namespace heddle::http
