// Commands of the pages, run as their readers run them.
#pragma once

#include "child_process.hpp"
#include "test_paths.hpp"

#include <chrono>
#include <filesystem>
#include <map>
#include <string>

namespace heddle::docs_test {

/// What `command` prints in `directory`, standard error included; `heddle` is the tested program.
/// `variables`: more of the environment.
[[nodiscard]] inline std::string output_of(
    const std::string& command, const std::string& directory,
    const std::map<std::string, std::string>& variables = {}) {
    const std::filesystem::path program = heddle::test_paths::program_file();
    const std::string with_path =
        "PATH='" + program.parent_path().string() + "':$PATH; { " + command + "\n} 2>&1";
    cli_test::child_options options;
    options.directory = directory;
    for (const auto& [name, text] : variables) options.variables[name] = text;
    // Package lists take a while to read where much else runs.
    constexpr std::chrono::minutes limit(2);
    return cli_test::child_process({"sh", "-c", with_path}, options).wait(limit).out;
}

} // namespace heddle::docs_test
