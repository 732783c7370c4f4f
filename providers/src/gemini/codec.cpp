#include "common/request_parts.hpp"
#include "common/service_address.hpp"
#include "gemini/wire.hpp"

#include <utility>

namespace heddle::providers::gemini {

namespace {

using std::chrono::system_clock;

class codec final : public chat_codec {
public:
    explicit codec(codec_options options)
        : options_(std::move(options)), reader_({options_.name, &options_.api_key}),
          base_(make_base()) {
        // As the official client sends them.
        headers_.push_back({"accept", "*/*", false});
        if (!options_.api_key.empty()) {
            headers_.push_back({"x-goog-api-key", std::string(options_.api_key.reveal()), true});
        }
        ping_headers_ = headers_;
        headers_.push_back({"content-type", "application/json", false});
    }

    std::string_view provider_name() const noexcept override { return options_.name; }

    result<encoded_request> encode(const ports::chat_request& request,
                                   response_mode mode) override {
        if (request.model.empty()) return invalid_request("the request names no model");
        std::vector<left_out_setting> left_out;
        HEDDLE_TRY(std::string body, encode_body(request, known_json_, reader_, &left_out));
        return encoded_request{"POST", target(request.model, mode), headers_, std::move(body),
                               std::move(left_out)};
    }

    result<ports::chat_response> decode(const ports::http_response& received,
                                        system_clock::time_point wall_now) override {
        HEDDLE_TRY(const json::value tree, read_object(reader_, received, wall_now, read_failure));
        collector collected(reader_);
        const auto failed = [&](error failure) {
            return with_so_far(std::move(failure), collected.so_far());
        };
        std::string text;
        if (auto taken = collected.take(tree.get_object(), text); !taken) {
            return failed(std::move(taken).error());
        }
        // A whole response may lack a finish reason, but not a candidate.
        const json::array* candidates = array_member(tree.get_object(), "candidates");
        if (!collected.is_whole() && (!candidates || candidates->empty())) {
            return failed(reader_.protocol_error("the response holds no candidates"));
        }
        auto outcome = collected.finish();
        if (!outcome) return failed(std::move(outcome).error());
        return outcome;
    }

    bool is_stream(const ports::http_response& head) const noexcept override {
        return is_success_of_type(head, "text/event-stream");
    }
    std::unique_ptr<chat_stream_reader> open_stream() override { return make_stream(reader_); }

    /// The service reports no limits in its headers.
    rate_limit_headers read_limits(const ports::http_response&,
                                   system_clock::time_point) const override {
        return {};
    }
    bool caches_prompts() const noexcept override { return true; }

    encoded_request encode_ping() const override {
        return {"GET", base_ + "models?pageSize=1000", ping_headers_, {}};
    }
    result<std::vector<std::string>> decode_ping(const ports::http_response& received,
                                                 system_clock::time_point wall_now) override {
        HEDDLE_TRY(const json::value tree, read_object(reader_, received, wall_now, read_failure));
        return read_names(reader_, tree.get_object(), "models", "name", "models/");
    }

private:
    /// The official clients take a base URL without the version; one that ends in a version keeps
    /// its own.
    std::string make_base() const {
        const std::string& prefix = options_.prefix;
        if (prefix.ends_with("/v1") || prefix.ends_with("/v1beta")) return prefix + "/";
        return prefix + (options_.version == api_version::v1 ? "/v1/" : "/v1beta/");
    }

    /// "gemini-2.5-flash" means "models/gemini-2.5-flash"; "tunedModels/x" for itself.
    std::string target(std::string_view model, response_mode mode) const {
        std::string text = base_;
        std::string_view kind = "models/";
        for (const std::string_view known : {"models/", "tunedModels/"}) {
            if (!model.starts_with(known)) continue;
            kind = known;
            model.remove_prefix(known.size());
            break;
        }
        text += kind;
        append_path_segment(text, model);
        text +=
            mode == response_mode::stream ? ":streamGenerateContent?alt=sse" : ":generateContent";
        return text;
    }

    codec_options options_;
    json_reader reader_;
    json_memo known_json_;
    std::string base_;
    ports::http_headers headers_;
    ports::http_headers ping_headers_;
};

} // namespace

} // namespace heddle::providers::gemini

namespace heddle::providers {

namespace {

std::unique_ptr<chat_codec> make_codec(gemini::options& options, const base_url& url) {
    gemini::codec_options chosen;
    chosen.name = options.name;
    chosen.prefix = url.prefix;
    chosen.api_key = options.api_key;
    chosen.version = options.version;
    return std::make_unique<gemini::codec>(std::move(chosen));
}

} // namespace

result<std::unique_ptr<chat_codec>> make_gemini_codec(gemini::options options) {
    HEDDLE_TRY(const base_url url, parse_base_url(options.base_url));
    return make_codec(options, url);
}

result<std::unique_ptr<http_chat_provider>> make_gemini_provider(ports::http_port& http,
                                                                 gemini::options options,
                                                                 log_port& log) {
    HEDDLE_TRY(const base_url url,
               check_official(options.name, options.base_url, options.api_key,
                              {"generativelanguage.googleapis.com", "GEMINI_API_KEY"}, log));
    auto codec = make_codec(options, url);
    return http_chat_provider::make(http, url.origin, std::move(codec), std::move(options), log);
}

} // namespace heddle::providers
