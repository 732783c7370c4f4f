#include <heddle/providers/responses/batches.hpp>

#include "openai/make_batches.hpp"
#include "responses/wire.hpp"

#include <utility>

namespace heddle::providers {

result<std::unique_ptr<batch_endpoint>> make_responses_batches(ports::http_port& http,
                                                               responses::options options,
                                                               log_port& log) {
    return openai::make_batches(http, std::move(options), log, &make_responses_codec,
                                responses::responses_path);
}

} // namespace heddle::providers
