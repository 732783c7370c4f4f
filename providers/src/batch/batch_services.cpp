#include <heddle/providers/batch/batch_services.hpp>

#include "batch/http_batch_endpoint.hpp"
#include "common/service_address.hpp"
#include "openai/chat_wire.hpp"
#include "openai/service.hpp"
#include "responses/wire.hpp"

#include <utility>

namespace heddle::providers {

namespace {

using made_endpoint = result<std::unique_ptr<batch_endpoint>>;

/// A path of a service with its version, which a base URL may hold already.
std::string with_version(std::string prefix, std::string_view version) {
    if (prefix.ends_with("/v1") || prefix.ends_with("/v1beta")) return prefix;
    return prefix += version;
}

made_endpoint make_endpoint(ports::http_port& http, const base_url& url, const secret& key,
                            call_options options, std::unique_ptr<chat_codec> codec,
                            http_batch_endpoint::format_maker make_format) {
    auto origin = http.origin(url.origin);
    if (!origin) {
        return wrong_setting(codec->provider_name(), origin.error().message())
            .with_cause(origin.error());
    }
    return std::unique_ptr<batch_endpoint>(std::make_unique<http_batch_endpoint>(
        http_batch_endpoint::parts{http, *std::move(origin), std::move(codec), key,
                                   std::move(options), std::move(make_format)}));
}

} // namespace

made_endpoint make_openai_batches(ports::http_port& http, openai::options options, log_port& log) {
    HEDDLE_TRY(const base_url url,
               openai::check_service(options.name, options.base_url, options.api_key,
                                     options.organization, options.project, log));
    const secret key = options.api_key;
    const call_options calls = options;
    HEDDLE_TRY(auto codec, make_openai_codec(std::move(options)));
    return make_endpoint(http, url, key, calls, std::move(codec),
                         [prefix = url.prefix](chat_codec& of, json_reader& reader) {
                             return make_openai_format(prefix, openai::chat_path, of, reader);
                         });
}

made_endpoint make_responses_batches(ports::http_port& http, responses::options options,
                                     log_port& log) {
    HEDDLE_TRY(const base_url url,
               openai::check_service(options.name, options.base_url, options.api_key,
                                     options.organization, options.project, log));
    const secret key = options.api_key;
    const call_options calls = options;
    HEDDLE_TRY(auto codec, make_responses_codec(std::move(options)));
    return make_endpoint(http, url, key, calls, std::move(codec),
                         [prefix = url.prefix](chat_codec& of, json_reader& reader) {
                             return make_openai_format(prefix, responses::responses_path, of,
                                                       reader);
                         });
}

made_endpoint make_anthropic_batches(ports::http_port& http, anthropic::options options,
                                     log_port& log) {
    HEDDLE_TRY(const base_url url,
               check_address(options.name, options.base_url, options.api_key, log));
    const secret key = options.api_key;
    const call_options calls = options;
    HEDDLE_TRY(auto codec, make_anthropic_codec(std::move(options)));
    return make_endpoint(
        http, url, key, calls, std::move(codec),
        [prefix = with_version(url.prefix, "/v1")](chat_codec& of, json_reader& reader) {
            return make_anthropic_format(prefix, of, reader);
        });
}

made_endpoint make_gemini_batches(ports::http_port& http, gemini::options options, log_port& log) {
    HEDDLE_TRY(const base_url url,
               check_address(options.name, options.base_url, options.api_key, log));
    const secret key = options.api_key;
    const call_options calls = options;
    const std::string_view version = options.version == gemini::api_version::v1 ? "/v1" : "/v1beta";
    HEDDLE_TRY(auto codec, make_gemini_codec(std::move(options)));
    return make_endpoint(
        http, url, key, calls, std::move(codec),
        [prefix = with_version(url.prefix, version)](chat_codec& of, json_reader& reader) {
            return make_gemini_format(prefix, of, reader);
        });
}

} // namespace heddle::providers
