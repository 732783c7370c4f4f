#include <heddle/providers/openai/batches.hpp>

#include "batch/make_endpoint.hpp"
#include "openai/chat_wire.hpp"
#include "openai/service.hpp"

#include <utility>

namespace heddle::providers {

result<std::unique_ptr<batch_endpoint>> make_openai_batches(ports::http_port& http,
                                                            openai::options options,
                                                            log_port& log) {
    HEDDLE_TRY(const base_url url,
               openai::check_service(options.name, options.base_url, options.api_key,
                                     options.organization, options.project, log));
    const secret key = options.api_key;
    const call_options calls = static_cast<const call_options&>(options);
    HEDDLE_TRY(auto codec, make_openai_codec(std::move(options)));
    return make_batch_endpoint(http, url, key, calls, std::move(codec),
                               [prefix = url.prefix](chat_codec& of, json_reader& reader) {
                                   return make_openai_format(prefix, openai::chat_path, of, reader);
                               });
}

} // namespace heddle::providers
