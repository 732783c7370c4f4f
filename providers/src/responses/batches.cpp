#include <heddle/providers/responses/batches.hpp>

#include "batch/make_endpoint.hpp"
#include "openai/service.hpp"
#include "responses/wire.hpp"

#include <utility>

namespace heddle::providers {

result<std::unique_ptr<batch_endpoint>> make_responses_batches(ports::http_port& http,
                                                               responses::options options,
                                                               log_port& log) {
    HEDDLE_TRY(const base_url url,
               openai::check_service(options.name, options.base_url, options.api_key,
                                     options.organization, options.project, log));
    const secret key = options.api_key;
    const call_options calls = static_cast<const call_options&>(options);
    HEDDLE_TRY(auto codec, make_responses_codec(std::move(options)));
    return make_batch_endpoint(http, url, key, calls, std::move(codec),
                               [prefix = url.prefix](chat_codec& of, json_reader& reader) {
                                   return make_openai_format(prefix, responses::responses_path, of,
                                                             reader);
                               });
}

} // namespace heddle::providers
