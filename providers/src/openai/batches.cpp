#include <heddle/providers/openai/batches.hpp>

#include "openai/chat_wire.hpp"
#include "openai/make_batches.hpp"

#include <utility>

namespace heddle::providers {

result<std::unique_ptr<batch_endpoint>> make_openai_batches(ports::http_port& http,
                                                            openai::options options,
                                                            log_port& log) {
    return openai::make_batches(http, std::move(options), log, &make_openai_codec,
                                openai::chat_path);
}

} // namespace heddle::providers
