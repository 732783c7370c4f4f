#include "anthropic/wire.hpp"
#include "common/reset_time.hpp"
#include "common/service_address.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace heddle::providers::anthropic {

namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

/// Where the three headers about one limit go.
struct limit_fields {
    std::string_view what;
    std::optional<std::int64_t> rate_limit_headers::*limit;
    std::optional<std::int64_t> rate_limit_headers::*remaining;
    std::optional<milliseconds> rate_limit_headers::*reset;
};

constexpr std::array<limit_fields, 4> all_limits = {{
    {"requests", &rate_limit_headers::requests_limit, &rate_limit_headers::requests_remaining,
     &rate_limit_headers::requests_reset},
    {"tokens", &rate_limit_headers::tokens_limit, &rate_limit_headers::tokens_remaining,
     &rate_limit_headers::tokens_reset},
    {"input-tokens", &rate_limit_headers::input_tokens_limit,
     &rate_limit_headers::input_tokens_remaining, &rate_limit_headers::input_tokens_reset},
    {"output-tokens", &rate_limit_headers::output_tokens_limit,
     &rate_limit_headers::output_tokens_remaining, &rate_limit_headers::output_tokens_reset},
}};

class codec final : public chat_codec {
public:
    explicit codec(codec_options options)
        : options_(std::move(options)), reader_({options_.name, &options_.api_key}),
          ping_headers_(make_headers()), headers_(ping_headers_), target_(path("/messages")) {
        headers_.push_back({"content-type", "application/json", false});
    }

    std::string_view provider_name() const noexcept override { return options_.name; }

    result<encoded_request> encode(const ports::chat_request& request,
                                   response_mode mode) override {
        std::vector<left_out_setting> left_out;
        HEDDLE_TRY(std::string body,
                   encode_body(request, options_, mode, known_json_, schemas_, &left_out));
        return encoded_request{"POST", target_, headers_, std::move(body), std::move(left_out)};
    }
    result<ports::chat_response> decode(const ports::http_response& received,
                                        system_clock::time_point wall_now) override {
        return read_response(reader_, received, wall_now);
    }
    bool is_stream(const ports::http_response& head) const noexcept override {
        return is_success_of_type(head, "text/event-stream");
    }
    std::unique_ptr<chat_stream_reader> open_stream() override { return make_stream(reader_); }

    rate_limit_headers read_limits(const ports::http_response& head,
                                   system_clock::time_point wall_now) const override {
        return anthropic::read_limits(head, wall_now);
    }
    bool caches_prompts() const noexcept override { return true; }

    encoded_request encode_ping() const override {
        return {"GET", path("/models?limit=1000"), ping_headers_, {}};
    }
    result<std::vector<std::string>> decode_ping(const ports::http_response& received,
                                                 system_clock::time_point wall_now) override {
        return read_models(reader_, received, wall_now);
    }

private:
    /// The official clients take a base URL without the version; one with it is meant alike.
    std::string path(std::string_view end) const {
        std::string text = options_.prefix;
        if (!text.ends_with("/v1")) text += "/v1";
        return text += end;
    }

    ports::http_headers make_headers() const {
        const bool old = options_.version == api_version::v2023_06_01;
        ports::http_headers headers;
        headers.push_back({"accept", "application/json", false});
        headers.push_back({"anthropic-version", old ? "2023-06-01" : "2026-10-21", false});
        if (options_.api_key.empty()) return headers;
        const std::string key(options_.api_key.reveal());
        if (old) headers.push_back({"x-api-key", key, true});
        else headers.push_back({"authorization", "Bearer " + key, true});
        return headers;
    }

    codec_options options_;
    json_reader reader_;
    json_memo known_json_;
    schema_shaper schemas_;
    ports::http_headers ping_headers_;
    ports::http_headers headers_;
    std::string target_;
};

} // namespace

rate_limit_headers read_limits(const ports::http_response& head,
                               system_clock::time_point wall_now) {
    rate_limit_headers read;
    for (const auto& [name, value] : head.headers) {
        constexpr std::string_view prefix = "anthropic-ratelimit-";
        if (!name.starts_with(prefix)) continue;
        const std::string_view rest = std::string_view(name).substr(prefix.size());
        const std::size_t dash = rest.rfind('-');
        if (dash == std::string_view::npos) continue;
        for (const limit_fields& fields : all_limits) {
            if (fields.what != rest.substr(0, dash)) continue;
            const std::string_view kind = rest.substr(dash + 1);
            if (kind == "limit") read.*fields.limit = parse_count(value);
            else if (kind == "remaining") read.*fields.remaining = parse_count(value);
            else if (kind == "reset") read.*fields.reset = read_reset(value, wall_now, read);
        }
    }
    return read;
}

} // namespace heddle::providers::anthropic

namespace heddle::providers {

namespace {

std::unique_ptr<chat_codec> make_codec(anthropic::options& options, const base_url& url) {
    anthropic::codec_options chosen;
    chosen.name = options.name;
    chosen.prefix = url.prefix;
    chosen.api_key = options.api_key;
    chosen.version = options.version;
    chosen.default_max_tokens = options.default_max_tokens;
    return std::make_unique<anthropic::codec>(std::move(chosen));
}

} // namespace

result<std::unique_ptr<chat_codec>> make_anthropic_codec(anthropic::options options) {
    HEDDLE_TRY(const base_url url, parse_base_url(options.base_url));
    return make_codec(options, url);
}

result<std::unique_ptr<http_chat_provider>> make_anthropic_provider(ports::http_port& http,
                                                                    anthropic::options options,
                                                                    log_port& log) {
    HEDDLE_TRY(const base_url url, check_official(options.name, options.base_url, options.api_key,
                                                  {"api.anthropic.com", "ANTHROPIC_API_KEY"}, log));
    if (options.retry_count_header.empty()) {
        options.retry_count_header = "x-stainless-retry-count"; // as the official clients say it
    }
    auto codec = make_codec(options, url);
    return http_chat_provider::make(http, url.origin, std::move(codec), std::move(options), log);
}

} // namespace heddle::providers
