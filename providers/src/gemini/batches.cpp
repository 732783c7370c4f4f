#include <heddle/providers/gemini/batches.hpp>

#include "batch/make_endpoint.hpp"

#include <utility>

namespace heddle::providers {

result<std::unique_ptr<batch_endpoint>> make_gemini_batches(ports::http_port& http,
                                                            gemini::options options,
                                                            log_port& log) {
    HEDDLE_TRY(const base_url url,
               check_address(options.name, options.base_url, options.api_key, log));
    const std::string_view version = options.version == gemini::api_version::v1 ? "/v1" : "/v1beta";
    return make_batch_endpoint(
        http, url, std::move(options), &make_gemini_codec,
        [prefix = with_version(url.prefix, version)](chat_codec& of, json_reader& reader) {
            return make_gemini_format(prefix, of, reader);
        });
}

} // namespace heddle::providers
