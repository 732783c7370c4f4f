// Reads heddle.toml.
#pragma once

#include "config/configuration.hpp"
#include "trust/consent_store.hpp"

#include <heddle/base/error.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// Whose file it is. A project's may come with somebody else's repository: it names no keys, no
/// commands, no proxies and certificates, and no files but its own templates. The addresses of its
/// services get what the user has allowed (services/service_trust.hpp).
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

/// The heddle.toml of `folder` or of the nearest folder above it: absolute, its folder without
/// links.
[[nodiscard]] std::optional<std::string> find_project_file(const std::string& folder);

/// Where a configuration comes from.
struct config_sources {
    std::optional<std::string> explicit_file; ///< alone, and taken for the user's own
    std::string folder = ".";                 ///< where a project's file is looked for, and above
    std::optional<std::string> user_folder;   ///< holds heddle/heddle.toml
    const consent_store* consents = nullptr;  ///< null: nothing is allowed. Outlives the call
    bool whoever_owns = false; ///< also a project's file of another user: to show what it says
};

/// The configuration of a run: the explicit file when there is one, else the project's over the
/// user's. No file at all gives an empty configuration. Errors: as read_config; not_found for an
/// explicit file that is not there; invalid_argument for a file that was found and that another
/// user may change (trust/file_owner.hpp), unless that is allowed.
[[nodiscard]] result<configuration> find_config(const config_sources& sources);

} // namespace heddle::cli
