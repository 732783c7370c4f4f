// Batch endpoints of Chat Completions and Responses, which differ in the codec and the path.
#pragma once

#include "batch/make_endpoint.hpp"
#include "openai/service.hpp"

#include <memory>
#include <string_view>
#include <utility>

namespace heddle::providers::openai {

/// An endpoint whose batches hold requests to `path`, below the base URL. `http` and `path` outlive
/// the result. Errors: as check_service, of `make_codec`, and make_batch_endpoint.
template <class Options>
[[nodiscard]] result<std::unique_ptr<batch_endpoint>> make_batches(ports::http_port& http,
                                                                   Options options, log_port& log,
                                                                   codec_maker<Options> make_codec,
                                                                   std::string_view path) {
    HEDDLE_TRY(const base_url url, check_service(options.name, options.base_url, options.api_key,
                                                 options.organization, options.project, log));
    return make_batch_endpoint(http, url, std::move(options), make_codec,
                               [prefix = url.prefix, path](chat_codec& of, json_reader& reader) {
                                   return make_openai_format(prefix, path, of, reader);
                               });
}

} // namespace heddle::providers::openai
