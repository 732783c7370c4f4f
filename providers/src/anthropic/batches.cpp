#include <heddle/providers/anthropic/batches.hpp>

#include "batch/make_endpoint.hpp"

#include <utility>

namespace heddle::providers {

result<std::unique_ptr<batch_endpoint>> make_anthropic_batches(ports::http_port& http,
                                                               anthropic::options options,
                                                               log_port& log) {
    HEDDLE_TRY(const base_url url,
               check_address(options.name, options.base_url, options.api_key, log));
    return make_batch_endpoint(
        http, url, std::move(options), &make_anthropic_codec,
        [prefix = with_version(url.prefix, "/v1")](chat_codec& of, json_reader& reader) {
            return make_anthropic_format(prefix, of, reader);
        });
}

} // namespace heddle::providers
