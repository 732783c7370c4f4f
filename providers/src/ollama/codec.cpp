#include "common/service_address.hpp"
#include "ollama/wire.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/url.hpp>

#include <algorithm>
#include <utility>

namespace heddle::providers::ollama {

std::string complete_address(std::string address) {
    if (address.empty()) return std::string(default_base_url);
    if (split_url(address)) return address;
    if (address.starts_with(':') && !address.starts_with("::")) address.insert(0, "127.0.0.1");
    std::size_t slash = std::min(address.find('/'), address.size());
    const std::string_view host = std::string_view(address).substr(0, slash);
    const auto may_be_of_one = [](char c) {
        return ascii::hex_value(c) >= 0 || c == ':' || c == '.';
    };
    if (std::all_of(host.begin(), host.end(), may_be_of_one) &&
        std::count(host.begin(), host.end(), ':') > 1) { // an IPv6 address, which has no port then
        address = "[" + std::string(host) + "]" + address.substr(slash);
        slash += 2;
    }
    const std::size_t bracket = address.rfind(']', slash); // of an IPv6 address
    const std::size_t from = bracket == std::string::npos ? 0 : bracket;
    const std::size_t colon = address.find(':', from);
    if (colon == std::string::npos || colon > slash) address.insert(slash, ":11434");
    return "http://" + address;
}

namespace {

using ports::chat_response;
using std::chrono::system_clock;

class codec final : public chat_codec {
public:
    explicit codec(codec_options options)
        : options_(std::move(options)), reader_({options_.name, &options_.api_key}),
          target_(options_.prefix + "/api/chat") {
        headers_.push_back({"accept", "application/json", false});
        headers_.push_back({"content-type", "application/json", false}); // with the ping as well
        if (!options_.api_key.empty()) {
            headers_.push_back(
                {"authorization", "Bearer " + std::string(options_.api_key.reveal()), true});
        }
    }

    std::string_view provider_name() const noexcept override { return options_.name; }

    result<encoded_request> encode(const ports::chat_request& request,
                                   response_mode mode) override {
        std::vector<left_out_setting> left_out;
        HEDDLE_TRY(std::string body, encode_body(request, mode, known_json_, &left_out));
        return encoded_request{"POST", target_, headers_, std::move(body), std::move(left_out)};
    }

    result<chat_response> decode(const ports::http_response& received,
                                 system_clock::time_point wall_now) override {
        if (is_lines(received)) return decode_lines(received.body);
        HEDDLE_TRY(const json::value tree, read_object(reader_, received, wall_now, read_failure));
        const json::object& root = tree.get_object();
        collector collected(reader_);
        const auto failed = [&](error failure) {
            return with_so_far(std::move(failure), collected.so_far());
        };
        std::string text;
        if (auto taken = collected.take(root, text); !taken) {
            return failed(std::move(taken).error());
        }
        if (!object_member(root, "message")) {
            return failed(reader_.protocol_error("the response holds no message"));
        }
        auto outcome = collected.finish();
        if (!outcome) return failed(std::move(outcome).error());
        return outcome;
    }

    bool is_stream(const ports::http_response& head) const noexcept override {
        return is_success_of_type(head, "application/x-ndjson") ||
               is_success_of_type(head, "application/ndjson") ||
               is_success_of_type(head, "application/jsonl");
    }
    std::unique_ptr<chat_stream_reader> open_stream() override {
        return make_stream(reader_, options_.max_line);
    }

    /// The service has no limits of its own.
    rate_limit_headers read_limits(const ports::http_response&,
                                   system_clock::time_point) const override {
        return {};
    }

    encoded_request encode_ping() const override {
        return {"GET", options_.prefix + "/api/tags", headers_, {}};
    }
    result<std::vector<std::string>> decode_ping(const ports::http_response& received,
                                                 system_clock::time_point wall_now) override {
        HEDDLE_TRY(const json::value tree, read_object(reader_, received, wall_now, read_failure));
        return read_names(reader_, tree.get_object(), "models", "name");
    }

private:
    /// Whether the body is a stream that the server calls something else, such as
    /// application/json: an object a line.
    static bool is_lines(const ports::http_response& received) {
        if (received.status < 200 || received.status >= 300) return false;
        const std::string_view body = ascii::trim(received.body);
        const std::size_t end = body.find('\n');
        return end != std::string_view::npos &&
               check_json(body.substr(0, end)) == json_kind::object;
    }
    result<chat_response> decode_lines(std::string_view body) {
        const auto lines = open_stream();
        HEDDLE_CHECK(lines->feed(body, {}));
        return lines->finish();
    }

    codec_options options_;
    json_reader reader_;
    json_memo known_json_;
    ports::http_headers headers_;
    std::string target_;
};

} // namespace

} // namespace heddle::providers::ollama

namespace heddle::providers {

namespace {

std::unique_ptr<chat_codec> make_codec(ollama::options& options, const base_url& url) {
    ollama::codec_options chosen;
    chosen.name = options.name;
    chosen.prefix = url.prefix;
    chosen.api_key = options.api_key;
    return std::make_unique<ollama::codec>(std::move(chosen));
}

} // namespace

result<std::unique_ptr<chat_codec>> make_ollama_codec(ollama::options options) {
    options.base_url = ollama::complete_address(std::move(options.base_url));
    HEDDLE_TRY(const base_url url, parse_base_url(options.base_url));
    return make_codec(options, url);
}

result<std::unique_ptr<http_chat_provider>> make_ollama_provider(ports::http_port& http,
                                                                 ollama::options options,
                                                                 log_port& log) {
    options.base_url = ollama::complete_address(std::move(options.base_url));
    HEDDLE_TRY(const base_url url, check_official(options.name, options.base_url, options.api_key,
                                                  {"ollama.com", "OLLAMA_API_KEY"}, log));
    auto codec = make_codec(options, url);
    return http_chat_provider::make(http, url.origin, std::move(codec), std::move(options), log);
}

} // namespace heddle::providers
