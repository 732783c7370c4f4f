// The builtins that read and write files of the workspace.
#pragma once

#include <heddle/host/effect.hpp>

#include <memory>
#include <vector>

namespace heddle::host {

/// read-file write-file file-exists? list-directory.
[[nodiscard]] std::vector<std::shared_ptr<effect_handler>> make_file_effects();

} // namespace heddle::host
