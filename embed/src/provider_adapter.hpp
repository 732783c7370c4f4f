// Providers of the host as model services.
#pragma once

#include "host_call.hpp"

#include <heddle/model_provider.hpp>
#include <heddle/ports/llm_port.hpp>

#include <memory>

namespace heddle::embed {

[[nodiscard]] std::unique_ptr<ports::llm_port> make_provider_adapter(
    std::shared_ptr<model_provider> provider, host_patience patience);

} // namespace heddle::embed
