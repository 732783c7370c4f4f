#include <heddle/http/response_parser.hpp>

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

constexpr std::size_t most_kept_parsers = 64;
constexpr int most_interim_answers = 16;
constexpr std::size_t largest_reservation = 256 * 1024;

std::string_view to_std(boost::beast::string_view text) { return {text.data(), text.size()}; }

error parse_error(ports::http_errc code, std::string what) {
    return error(code, std::move(what)).with_retryable(false);
}

/// Beast looks at a beginning that came in pieces only once the empty line is there. A server that
/// speaks something else, and waits, is told apart here with its first bytes.
std::optional<error> foreign_protocol(std::string_view bytes) {
    constexpr std::string_view expected = "HTTP/1.";
    if (expected.starts_with(bytes.substr(0, expected.size()))) return std::nullopt;
    error made =
        parse_error(ports::http_errc::protocol_error, "the server does not answer in HTTP/1");
    const bool alert = bytes.front() == '\x15' || bytes.front() == '\x16';
    if (alert) made = std::move(made).with_hint("this looks like TLS: write https://");
    return made;
}

bool is_chunked_only(std::string_view value) {
    constexpr std::string_view chunked = "chunked";
    return std::equal(value.begin(), value.end(), chunked.begin(), chunked.end(),
                      [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a | 0x20 : a) == b; });
}

/// Beast's grammar with our response as its target.
class beast_parser final : public beast::basic_parser<false> {
public:
    response_target target;
    std::optional<error> failure; ///< what a sink or a check of ours said
    std::size_t body_bytes = 0;
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
        if (field == beast::field::transfer_encoding && !is_chunked_only(to_std(value)))
            odd_coding = true;
        auto& [key, text] = target.response->headers.emplace_back();
        key.resize(name.size());
        std::transform(name.begin(), name.end(), key.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
        });
        text.assign(value.data(), value.size());
    }

    void on_header_impl(error_code& ec) override {
        head_seen = true;
        if (target.response->status < 200) return;
        if (odd_coding) {
            // A coding we did not offer, or an end that only the closing would show.
            failure = parse_error(ports::http_errc::protocol_error,
                                  "the answer has a transfer coding other than chunked");
            ec = beast_error::bad_transfer_encoding;
            return;
        }
        if (target.on_head != nullptr && *target.on_head) {
            if (auto verdict = (*target.on_head)(*target.response); !verdict) {
                failure = std::move(verdict).error();
                ec = beast_error::bad_value;
            }
        }
    }

    void on_body_init_impl(boost::optional<std::uint64_t> const& length, error_code&) override {
        // The announced length is a claim: a server cannot make us reserve more than a little.
        if (target.on_piece == nullptr && length) {
            target.response->body.reserve(std::min<std::uint64_t>(*length, largest_reservation));
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

    void on_finish_impl(error_code&) override {}

    void take(std::string_view piece, error_code& ec) {
        if (piece.empty()) return;
        body_bytes += piece.size();
        if (target.on_piece == nullptr) {
            target.response->body.append(piece);
        } else if (auto verdict = (*target.on_piece)(piece); !verdict) {
            failure = std::move(verdict).error();
            ec = beast_error::bad_value;
        }
    }
};

} // namespace

struct parser_cache::storage {
    std::optional<beast_parser> parser;
    std::string pending; ///< the beginning of a line that is not whole yet
    std::size_t header_bytes = 0;
    int interim_answers = 0;

    void begin(const response_rules& rules) {
        parser.emplace();
        parser->eager(true);
        parser->skip(rules.head_request);
        parser->body_limit(rules.max_body_bytes);
        parser->header_limit(static_cast<std::uint32_t>(std::min<std::size_t>(
            rules.max_header_bytes, std::numeric_limits<std::uint32_t>::max())));
    }
};

parser_cache::parser_cache() = default;
parser_cache::~parser_cache() = default;

response_parser::response_parser(parser_cache& cache) noexcept : cache_(&cache) {}
response_parser::~response_parser() { reset(); }

void response_parser::reset() noexcept {
    if (storage_) {
        storage_->parser.reset();
        storage_->pending.clear();
        storage_->header_bytes = 0;
        storage_->interim_answers = 0;
        if (storage_->pending.capacity() > 4096) storage_->pending.shrink_to_fit();
        if (cache_->free_.size() < most_kept_parsers) cache_->free_.push_back(std::move(storage_));
        else storage_.reset();
    }
    body_bytes_ = 0;
    phase_ = phase::nothing;
    reusable_ = false;
}

void response_parser::complete() noexcept {
    const bool reusable = reusable_;
    const std::size_t body = body_bytes_;
    reset();
    reusable_ = reusable;
    body_bytes_ = body;
    phase_ = phase::done;
}

result<bool> response_parser::feed(std::string_view bytes, const response_rules& rules,
                                   const response_target& target) {
    if (phase_ == phase::done) return true;
    if (bytes.empty()) return false;
    if (phase_ == phase::nothing) {
        if (cache_->free_.empty()) {
            storage_ = std::make_unique<parser_cache::storage>();
        } else {
            storage_ = std::move(cache_->free_.back());
            cache_->free_.pop_back();
        }
        storage_->begin(rules);
        phase_ = phase::head;
    }
    std::string& pending = storage_->pending;
    if (!pending.empty()) {
        pending.append(bytes);
        bytes = pending;
    }
    auto whole = parse(bytes, rules, target);
    if (!whole) return whole;
    if (*whole) {
        // Bytes after the answer: the two sides disagree on where it ended.
        if (!bytes.empty()) reusable_ = false;
        complete();
        return true;
    }
    // assign() copes with `bytes` pointing into `pending`.
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
        if (!parser.head_seen && storage_->header_bytes == 0 && storage_->interim_answers == 0) {
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
                               "the answer's header is larger than " +
                                   std::to_string(rules.max_header_bytes) + " bytes");
        }
        if (ec == beast_error::body_limit) {
            return parse_error(ports::http_errc::body_too_large,
                               "the answer's body is larger than " +
                                   std::to_string(rules.max_body_bytes) + " bytes")
                .with_hint("raise the limit if such answers are expected");
        }
        if (ec && ec != beast_error::need_more) {
            return parse_error(ports::http_errc::protocol_error,
                               "the answer is not valid HTTP/1.1 (" + ec.message() + ")");
        }
        if (parser.is_header_done() && target.response->status < 200) {
            if (target.response->status == 101) {
                return parse_error(ports::http_errc::protocol_error,
                                   "the server switched to a protocol nobody asked for");
            }
            if (++storage_->interim_answers > most_interim_answers) {
                return parse_error(ports::http_errc::protocol_error,
                                   "the server sends interim answers without end");
            }
            target.response->headers.clear();
            storage_->begin(rules);
            if (bytes.empty()) return false;
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
