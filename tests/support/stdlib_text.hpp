// The text of library modules with all that they import, for a machine without a host.
#pragma once

#include "lang/stdlib/stdlib_sources.hpp"

#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace heddle::lang::testing {

/// Appends the module to `out` behind the modules that it imports, each once, without the lines that
/// import.
inline void append_module(std::string_view name, std::string& out, std::set<std::string>& seen) {
    if (!seen.emplace(name).second) return;
    for (const library_source& source : stdlib_sources()) {
        if (source.name != name) continue;
        constexpr std::string_view begin = "(import std/";
        std::istringstream lines{std::string(source.text)};
        std::string kept;
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with(begin)) {
                append_module(line.substr(begin.size(), line.find(')') - begin.size()), out, seen);
            } else {
                kept += line + "\n";
            }
        }
        out += kept;
        return;
    }
    throw std::runtime_error("no module " + std::string(name));
}

[[nodiscard]] inline std::string module_text(std::string_view name) {
    std::string out;
    std::set<std::string> seen;
    append_module(name, out, seen);
    return out;
}

} // namespace heddle::lang::testing
