#include <heddle/http/response_parser.hpp>

#include "body_blocks.hpp"
#include "body_decoder.hpp"

#include <heddle/base/ascii.hpp>

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <limits>
#include <optional>

namespace heddle::http {

namespace {

namespace beast = boost::beast::http;
using beast_error = beast::error;
using boost::system::error_code;

constexpr std::size_t max_kept_parsers = 64;
constexpr int max_interim_responses = 16;
constexpr std::size_t max_reservation = 256 * 1024;
/// A decoder takes some 50 kB; most responses need none.
constexpr std::size_t max_kept_decoders = 8;
/// Ordinary text inflates about tenfold; the maximum of deflate is 1,032.
constexpr std::size_t max_expansion = 250;
/// A body of up to this size may inflate by any factor.
constexpr std::size_t inflation_check_threshold = 1024 * 1024;

std::string_view to_std(boost::beast::string_view text) { return {text.data(), text.size()}; }

error parse_error(ports::http_errc code, std::string what) {
    return error(code, std::move(what)).with_retryable(false);
}

error body_too_large(std::size_t limit) {
    return parse_error(ports::http_errc::body_too_large,
                       "the response body is larger than " + std::to_string(limit) + " bytes")
        .with_hint("raise the limit if such responses are expected");
}

/// Beast looks at a beginning that came in pieces only once the empty line is there. A server that
/// speaks something else, and waits, is distinguished here with its first bytes.
std::optional<error> foreign_protocol(std::string_view bytes) {
    constexpr std::string_view expected = "HTTP/1.";
    if (expected.starts_with(bytes.substr(0, expected.size()))) return std::nullopt;
    error failure =
        parse_error(ports::http_errc::protocol_error, "the server does not respond in HTTP/1");
    const bool alert = bytes.front() == '\x15' || bytes.front() == '\x16';
    if (alert) failure = std::move(failure).with_hint("this looks like TLS: write https://");
    return failure;
}

/// The value of Content-Encoding.
enum class body_coding : std::uint8_t { none, gzip, deflate, unknown };

body_coding coding_of(std::string_view value) {
    if (value.empty() || ascii::equals_ignoring_case(value, "identity")) return body_coding::none;
    if (ascii::equals_ignoring_case(value, "gzip") || ascii::equals_ignoring_case(value, "x-gzip"))
        return body_coding::gzip;
    if (ascii::equals_ignoring_case(value, "deflate")) return body_coding::deflate;
    return body_coding::unknown;
}

} // namespace

struct parser_cache::decoders {
    std::vector<std::unique_ptr<body_decoder>> free;
};

namespace {

/// Beast's grammar with our response as its target.
class beast_parser final : public beast::basic_parser<false> {
public:
    beast_parser(std::vector<std::unique_ptr<body_decoder>>& decoders, const response_rules& rules)
        : decoders_(decoders), rules_(rules) {
        eager(true);
        skip(rules.head_request);
        body_limit(rules.max_body_bytes);
        header_limit(static_cast<std::uint32_t>(std::min<std::size_t>(
            rules.max_header_bytes, std::numeric_limits<std::uint32_t>::max())));
    }
    ~beast_parser() override {
        if (decoder_ && decoders_.size() < max_kept_decoders)
            decoders_.push_back(std::move(decoder_));
    }

    response_target target;
    std::optional<error> failure; ///< of a sink or a check of ours
    std::size_t body_bytes = 0;   ///< after decompression
    bool head_seen = false;
    bool odd_coding = false;

private:
    void on_request_impl(beast::verb, boost::beast::string_view, boost::beast::string_view, int,
                         error_code&) override {}

    void on_response_impl(int code, boost::beast::string_view, int, error_code&) override {
        target.response->status = code;
        target.response->headers.reserve(12);
    }

    void on_field_impl(beast::field field, boost::beast::string_view name,
                       boost::beast::string_view value, error_code&) override {
        if (head_seen) return; // trailers: nobody asked for them
        if (field == beast::field::transfer_encoding &&
            !ascii::equals_ignoring_case(to_std(value), "chunked"))
            odd_coding = true;
        auto& [key, text] = target.response->headers.emplace_back();
        key = ascii::to_lower(to_std(name));
        text.assign(value.data(), value.size());
    }

    void on_header_impl(error_code& ec) override {
        head_seen = true;
        if (target.response->status < 200) return;
        if (odd_coding) {
            // A coding we did not offer, or an end that only the closing would show.
            refuse(ec, "the response has a transfer coding other than chunked");
            return;
        }
        if (rules_.through_proxy && target.response->status == 407) {
            fail(ec, error(ports::http_errc::proxy_refused, "status 407"));
            return;
        }
        if (rules_.decompress && !rules_.head_request && !begin_decoding(ec)) return;
        held_ = rules_.hold_redirects && is_redirect(*target.response);
        if (held_ || target.on_head == nullptr || !*target.on_head) return;
        if (auto verdict = (*target.on_head)(*target.response); !verdict)
            fail(ec, std::move(verdict).error());
    }

    void on_body_init_impl(boost::optional<std::uint64_t> const& length, error_code&) override {
        // The announced length is a claim: a server cannot make us reserve more than a little.
        if (target.on_piece == nullptr && length && !decoder_) {
            target.response->body.reserve(std::min<std::uint64_t>(*length, max_reservation));
        }
    }

    std::size_t on_body_impl(boost::beast::string_view piece, error_code& ec) override {
        take(to_std(piece), ec);
        return piece.size();
    }

    void on_chunk_header_impl(std::uint64_t, boost::beast::string_view, error_code&) override {}

    std::size_t on_chunk_body_impl(std::uint64_t, boost::beast::string_view piece,
                                   error_code& ec) override {
        take(to_std(piece), ec);
        return piece.size();
    }

    void on_finish_impl(error_code& ec) override {
        if (decoder_ && coded_bytes_ != 0 && !decoder_->ended())
            refuse(ec, "the compressed response ends too early");
        else if (target.on_piece == nullptr) blocks_.join(target.response->body);
    }

    void fail(error_code& ec, error why) {
        failure = std::move(why);
        ec = beast_error::bad_value;
    }
    void refuse(error_code& ec, std::string what) {
        fail(ec, parse_error(ports::http_errc::protocol_error, std::move(what)));
    }

    /// Takes the coding out of the header. False after an error.
    bool begin_decoding(error_code& ec) {
        auto& headers = target.response->headers;
        const auto named = [](const char* name) {
            return [name](const auto& header) { return header.first == name; };
        };
        const auto at = std::find_if(headers.begin(), headers.end(), named("content-encoding"));
        if (at == headers.end()) return true;
        const body_coding coding = coding_of(at->second);
        const bool several =
            std::find_if(at + 1, headers.end(), named("content-encoding")) != headers.end();
        if (coding == body_coding::unknown || several) {
            refuse(ec, "the response is compressed in a way that was not requested");
            return false;
        }
        headers.erase(at);
        if (coding == body_coding::none) return true;
        headers.erase(std::remove_if(headers.begin(), headers.end(), named("content-length")),
                      headers.end());
        if (decoders_.empty()) {
            decoder_ = std::make_unique<body_decoder>();
        } else {
            decoder_ = std::move(decoders_.back());
            decoders_.pop_back();
        }
        decoder_->begin(coding == body_coding::gzip ? body_decoder::coding::gzip
                                                    : body_decoder::coding::deflate);
        return true;
    }

    void take(std::string_view piece, error_code& ec) {
        if (piece.empty()) return;
        if (!decoder_) {
            hand_over(piece, ec);
            return;
        }
        coded_bytes_ += piece.size();
        for (;;) {
            const body_decoder::step step = decoder_->next(piece);
            if (step.broken) {
                refuse(ec, "the compressed response body is damaged");
                return;
            }
            if (!step.out.empty()) hand_over(step.out, ec);
            if (failure || !step.more) return;
        }
    }

    void hand_over(std::string_view piece, error_code& ec) {
        body_bytes += piece.size();
        if (decoder_ && !bounded(ec)) return;
        if (held_ && target.on_piece != nullptr) return;
        if (target.on_piece == nullptr) {
            blocks_.append(target.response->body, piece);
        } else if (auto verdict = (*target.on_piece)(piece); !verdict) {
            fail(ec, std::move(verdict).error());
        }
    }

    bool bounded(error_code& ec) {
        if (body_bytes > rules_.max_body_bytes) {
            fail(ec, body_too_large(rules_.max_body_bytes));
        } else if (body_bytes > inflation_check_threshold &&
                   body_bytes / max_expansion > coded_bytes_) {
            fail(ec, parse_error(ports::http_errc::body_too_large,
                                 "the compressed response body inflates to more than " +
                                     std::to_string(max_expansion) + " times its size"));
        }
        return !failure;
    }

    std::vector<std::unique_ptr<body_decoder>>& decoders_;
    std::unique_ptr<body_decoder> decoder_;
    response_rules rules_;
    body_blocks blocks_;
    std::size_t coded_bytes_ = 0;
    bool held_ = false;
};

} // namespace

struct parser_cache::storage {
    std::optional<beast_parser> parser;
    std::string pending; ///< the beginning of a line that is not whole yet
    std::size_t header_bytes = 0;
    int interim_responses = 0;

    void begin(parser_cache& cache, const response_rules& rules) {
        parser.emplace(cache.decoders_->free, rules);
    }
};

parser_cache::parser_cache() : decoders_(std::make_unique<decoders>()) {}
parser_cache::~parser_cache() = default;

bool is_redirect(const ports::http_response& response) noexcept {
    switch (response.status) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308: return response.header("location").has_value();
    default: return false;
    }
}

response_parser::response_parser(parser_cache& cache) noexcept : cache_(&cache) {}
response_parser::~response_parser() { reset(); }

void response_parser::reset() noexcept {
    if (storage_) {
        storage_->parser.reset();
        storage_->pending.clear();
        storage_->header_bytes = 0;
        storage_->interim_responses = 0;
        if (storage_->pending.capacity() > 4096) storage_->pending.shrink_to_fit();
        if (cache_->free_.size() < max_kept_parsers) cache_->free_.push_back(std::move(storage_));
        else storage_.reset();
    }
    body_bytes_ = 0;
    phase_ = phase::nothing;
    reusable_ = false;
    extra_ = false;
    interim_ = false;
}

void response_parser::complete() noexcept {
    const bool reusable = reusable_;
    const bool extra = extra_;
    const std::size_t body = body_bytes_;
    reset();
    reusable_ = reusable;
    extra_ = extra;
    body_bytes_ = body;
    phase_ = phase::done;
}

result<bool> response_parser::feed(std::string_view bytes, const response_rules& rules,
                                   const response_target& target) {
    if (phase_ == phase::done) return true;
    if (bytes.empty()) return false;
    interim_ = false;
    if (phase_ == phase::nothing) {
        if (cache_->free_.empty()) {
            storage_ = std::make_unique<parser_cache::storage>();
        } else {
            storage_ = std::move(cache_->free_.back());
            cache_->free_.pop_back();
        }
        storage_->begin(*cache_, rules);
        phase_ = phase::head;
    }
    std::string& pending = storage_->pending;
    if (!pending.empty()) {
        pending.append(bytes);
        bytes = pending;
        // Beast asserts that a last chunk it has seen has grown to its shortest form when it is
        // asked again. One byte less proves nothing: wait for it.
        if (head_done() && bytes.size() == 4 && bytes.starts_with("0\r\n")) return false;
    }
    auto whole = parse(bytes, rules, target);
    if (!whole) return whole;
    if (*whole) {
        // Bytes after the response: the two sides disagree on where it ended.
        extra_ = !bytes.empty();
        if (extra_) reusable_ = false;
        complete();
        return true;
    }
    if (head_done() && bytes.size() > rules.max_header_bytes) {
        // Between pieces of the body stand sizes, extensions, trailers: lines that may never end.
        return parse_error(ports::http_errc::header_too_large,
                           "the framing of the response body has a line of more than " +
                               std::to_string(rules.max_header_bytes) + " bytes");
    }
    // assign() copes with `bytes` pointing into `pending`.
    if (bytes.data() != pending.data() || bytes.size() != pending.size())
        pending.assign(bytes.data(), bytes.size());
    return false;
}

result<bool> response_parser::parse(std::string_view& bytes, const response_rules& rules,
                                    const response_target& target) {
    for (;;) {
        beast_parser& parser = *storage_->parser;
        parser.target = target;
        error_code ec;
        std::size_t used = 0;
        if (!parser.head_seen && storage_->header_bytes == 0 && storage_->interim_responses == 0) {
            if (auto foreign = foreign_protocol(bytes)) return *std::move(foreign);
        }
        if (!bytes.empty())
            used = parser.put(boost::asio::const_buffer(bytes.data(), bytes.size()), ec);
        bytes.remove_prefix(used);
        body_bytes_ = parser.body_bytes;
        if (!parser.head_seen) {
            storage_->header_bytes += used;
            if (storage_->header_bytes + bytes.size() > rules.max_header_bytes)
                ec = beast_error::header_limit;
        }
        if (parser.failure) return *std::exchange(parser.failure, std::nullopt);
        if (ec == beast_error::header_limit) {
            return parse_error(ports::http_errc::header_too_large,
                               "the response header is larger than " +
                                   std::to_string(rules.max_header_bytes) + " bytes");
        }
        if (ec == beast_error::body_limit) {
            return body_too_large(rules.max_body_bytes);
        }
        if (ec && ec != beast_error::need_more) {
            return parse_error(ports::http_errc::protocol_error,
                               "the response is not valid HTTP/1.1 (" + ec.message() + ")");
        }
        if (parser.is_header_done() && target.response->status < 200) {
            if (target.response->status == 101) {
                return parse_error(ports::http_errc::protocol_error,
                                   "the server switched to a protocol that was not requested");
            }
            if (++storage_->interim_responses > max_interim_responses) {
                return parse_error(ports::http_errc::protocol_error,
                                   "the server sends interim responses without end");
            }
            target.response->headers.clear();
            storage_->begin(*cache_, rules);
            if (bytes.empty()) {
                interim_ = true;
                return false;
            }
            continue;
        }
        if (parser.is_header_done()) phase_ = phase::body;
        if (parser.is_done()) {
            reusable_ = parser.keep_alive();
            return true;
        }
        return false;
    }
}

result<bool> response_parser::finish() {
    if (phase_ == phase::done) return true;
    if (phase_ != phase::body || !storage_->pending.empty()) return false;
    error_code ec;
    storage_->parser->put_eof(ec);
    if (ec) return false;
    reusable_ = false;
    complete();
    return true;
}

} // namespace heddle::http
