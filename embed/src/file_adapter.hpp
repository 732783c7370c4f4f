// Files of the host.
#pragma once

#include <heddle/file_source.hpp>
#include <heddle/ports/file_port.hpp>

#include <memory>

namespace heddle::embed {

[[nodiscard]] std::unique_ptr<ports::file_port> make_file_adapter(
    std::shared_ptr<file_source> source);

} // namespace heddle::embed
