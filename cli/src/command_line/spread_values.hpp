// Options that take several words.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace heddle::cli {

/// Names the option again before each further word: `--rows a b` becomes `--rows a --rows b`.
/// `arguments`: of `app`, without its name, unchanged where no option of `many_valued` occurs. The
/// word of a required argument that is nowhere else is the last one that follows such an
/// option: `--rows a FILE` and `--rows a b FILE`.
[[nodiscard]] std::vector<std::string> spread_values(const CLI::App& app,
                                                     const std::vector<std::string>& many_valued,
                                                     const std::vector<std::string>& arguments);

} // namespace heddle::cli
