// Reads heddle.toml.
#pragma once

#include "config/configuration.hpp"

#include <heddle/base/error.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// Whose file it is. A project's may come with somebody else's repository: it cannot name commands
/// or files that keys are read from.
enum class config_trust : std::uint8_t { user, project };

/// The payload of the error that read_config gives: all mistakes of the file, one a line with its
/// place.
class config_report final : public error_payload {
public:
    std::vector<std::string> lines;
};

/// Reads the text of a file; `name` stands in messages. Relative paths in it are relative to
/// `folder`. Errors: invalid_argument: the first mistake, and all of them as a config_report (no
/// TOML, an unknown key with near names, a value of the wrong type or outside its range).
[[nodiscard]] result<configuration> read_config(std::string_view text, const std::string& name,
                                                const std::string& folder, config_trust trust);

/// The configuration of a run: `explicit_file` alone when it is given, else the nearest heddle.toml
/// of `folder` and the folders above it (the project's), over `user_folder`/heddle/heddle.toml.
/// No file at all gives an empty configuration. Errors: as read_config; not_found for an explicit
/// file that is not there.
[[nodiscard]] result<configuration> find_config(const std::optional<std::string>& explicit_file,
                                                const std::string& folder,
                                                const std::optional<std::string>& user_folder);

} // namespace heddle::cli
