// The work of `heddle serve`.
#pragma once

#include "console.hpp"
#include "exit_code.hpp"
#include "serve/serve_options.hpp"

#include <heddle/setup/environment.hpp>

namespace heddle::cli {

/// Loads the files, serves their functions until a signal, and drains: SIGTERM and Ctrl-C end it
/// with exit_code::done, a second one at once.
[[nodiscard]] exit_code serve_files(const serve_options& asked, const setup::environment& variables,
                                    console& output);

} // namespace heddle::cli
