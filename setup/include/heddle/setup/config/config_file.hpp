// Reads heddle.toml.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/setup/config/configuration.hpp>
#include <heddle/setup/trust/consent_store.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace heddle::setup {

/// The owner of a file. That of a project may come from the repository of someone else: it must not
/// name keys, commands, proxies, certificates, or files other than its templates. The addresses of
/// its services receive only what the user has allowed (services/service_trust.hpp).
enum class config_trust : std::uint8_t { user, project };

/// The payload of errors of read_config: all mistakes of the file, one per line with its place.
class config_report final : public error_payload {
public:
    std::vector<std::string> lines;
};

/// Reads the text of a file; `name`: its name in messages. Relative paths in it are relative to
/// `folder`. Errors: invalid_argument: the first mistake, and all of them as a config_report (not
/// TOML, an unknown key with similar names, a value of the wrong type or outside its range).
[[nodiscard]] result<configuration> read_config(std::string_view text, const std::string& name,
                                                const std::string& folder, config_trust trust);

/// The heddle.toml of `folder` or of the nearest folder above it: absolute, its folder without
/// links. Errors: io_error where something of that name is not a file, or cannot be reached: a
/// directory, a pipe, a link that leads nowhere, a folder without permission.
[[nodiscard]] result<std::optional<std::string>> find_project_file(const std::string& folder);

/// Where a configuration comes from.
struct config_sources {
    std::optional<std::string> explicit_file; ///< used alone, as a file of the user
    std::string folder = ".";                ///< where the file of a project is searched, and above
    std::optional<std::string> user_folder;  ///< contains heddle/heddle.toml
    const consent_store* consents = nullptr; ///< null: nothing is allowed. Outlives the call
    bool whoever_owns = false; ///< also read a project's file of another user, to show it
    /// A text in place of any file, with the rights of the user's; relative paths in it are
    /// relative to `folder`.
    std::optional<std::string> explicit_text = {};
};

/// The configuration of a run: the explicit file or text if there is one, else that of the project
/// over that of the user. Empty without any file. Errors: as read_config, and for the files of both
/// as find_project_file; not_found for an explicit file that does not exist; invalid_argument for a
/// default file that another user may change (trust/file_owner.hpp), unless that is allowed.
[[nodiscard]] result<configuration> find_config(const config_sources& sources);

} // namespace heddle::setup
