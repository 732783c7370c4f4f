// Memory of the host.
#pragma once

#include "host_call.hpp"

#include <heddle/memory_source.hpp>
#include <heddle/ports/memory_port.hpp>

#include <memory>

namespace heddle::embed {

[[nodiscard]] std::unique_ptr<ports::memory_port> make_memory_adapter(
    std::shared_ptr<memory_source> source, host_patience patience);

} // namespace heddle::embed
