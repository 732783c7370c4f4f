#include <heddle/providers/openai/provider.hpp>

#include "common/service_address.hpp"
#include "openai/chat_wire.hpp"
#include "openai/service.hpp"

#include <utility>

namespace heddle::providers {

namespace openai {
namespace {

using ports::chat_request;
using ports::chat_response;
using ports::http_response;
using wall_time = std::chrono::system_clock::time_point;

class codec final : public chat_codec {
public:
    codec(options chosen, const base_url& url)
        : options_(std::move(chosen)), chat_target_(url.prefix + std::string(chat_path)),
          models_target_(url.prefix + std::string(models_path)),
          dialect_(options_.dialect.value_or(url.host == official_host ? wire_dialect::openai
                                                                       : wire_dialect::compatible)),
          headers_(request_headers(options_.api_key, options_.organization, options_.project)),
          reader_({options_.name, &options_.api_key}) {}

    std::string_view provider_name() const noexcept override { return options_.name; }

    result<encoded_request> encode(const chat_request& request, response_mode mode) override {
        encoded_request encoded;
        HEDDLE_TRY(std::string body,
                   encode_request(request, {mode, dialect_, options_.stream_usage}, &known_json_,
                                  &encoded.left_out));
        encoded.target = chat_target_;
        encoded.headers = headers_;
        encoded.body = std::move(body);
        return encoded;
    }
    result<chat_response> decode(const http_response& received, wall_time wall_now) override {
        return decode_response(reader_, received, wall_now);
    }
    bool is_stream(const http_response& head) const noexcept override {
        return is_event_stream(head);
    }
    std::unique_ptr<chat_stream_reader> open_stream() override {
        return std::make_unique<chat_stream>(reader_);
    }
    rate_limit_headers read_limits(const http_response& head, wall_time wall_now) const override {
        return openai::read_limits(head, wall_now);
    }
    // Which of the compatible servers do is not known; those that do say so by cached tokens.
    bool caches_prompts() const noexcept override { return dialect_ == wire_dialect::openai; }

    encoded_request encode_ping() const override {
        encoded_request request;
        request.method = "GET";
        request.target = models_target_;
        request.headers = request_headers(options_.api_key, options_.organization, options_.project,
                                          request_body::none);
        return request;
    }
    result<std::vector<std::string>> decode_ping(const http_response& received,
                                                 wall_time wall_now) override {
        return read_models(reader_, received, wall_now);
    }

private:
    options options_;
    std::string chat_target_;
    std::string models_target_;
    wire_dialect dialect_;
    ports::http_headers headers_;
    json_memo known_json_;
    json_reader reader_;
};

} // namespace
} // namespace openai

result<std::unique_ptr<chat_codec>> make_openai_codec(openai::options options) {
    HEDDLE_TRY(const base_url url, parse_base_url(options.base_url));
    return std::unique_ptr<chat_codec>(std::make_unique<openai::codec>(std::move(options), url));
}

result<std::unique_ptr<http_chat_provider>> make_openai_provider(ports::http_port& http,
                                                                 openai::options options,
                                                                 log_port& log) {
    return openai::make_provider<openai::codec>(http, std::move(options), log);
}

} // namespace heddle::providers
