#include "batch/make_endpoint.hpp"

#include <utility>

namespace heddle::providers {

std::string with_version(std::string prefix, std::string_view version) {
    if (prefix.ends_with("/v1") || prefix.ends_with("/v1beta")) return prefix;
    return prefix += version;
}

result<std::unique_ptr<batch_endpoint>> make_batch_endpoint(
    ports::http_port& http, const base_url& url, const secret& key, call_options options,
    std::unique_ptr<chat_codec> codec, http_batch_endpoint::format_maker make_format) {
    auto origin = http.origin(url.origin);
    if (!origin) {
        return wrong_setting(codec->provider_name(), origin.error().message())
            .with_cause(origin.error());
    }
    return std::unique_ptr<batch_endpoint>(std::make_unique<http_batch_endpoint>(
        http_batch_endpoint::parts{http, *std::move(origin), std::move(codec), key,
                                   std::move(options), std::move(make_format)}));
}

} // namespace heddle::providers
