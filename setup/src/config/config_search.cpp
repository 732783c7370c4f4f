// Which files of settings a run has.
#include <heddle/setup/config/config_file.hpp>
#include <heddle/setup/input_files.hpp>
#include <heddle/setup/trust/file_owner.hpp>

#include <filesystem>
#include <memory>

namespace heddle::setup {

namespace {

constexpr std::size_t max_config_bytes = 1 << 20;

result<configuration> parse_file(const std::string& text, const std::string& file,
                                 config_trust trust) {
    const std::string folder = std::filesystem::path(file).parent_path().string();
    return read_config(text, file, folder.empty() ? "." : folder, trust);
}

/// A file that the user has named or allowed.
result<configuration> read_named(const std::string& file, config_trust trust) {
    HEDDLE_TRY(const std::string text, read_input_file(file, max_config_bytes));
    return parse_file(text, file, trust);
}

/// A file that was found, and not named.
result<configuration> read_found(const std::string& file, config_trust trust) {
    const auto text = read_own_file(file, max_config_bytes);
    if (text) return parse_file(*text, file, trust);
    if (text.error().code() != errc::invalid_argument) return text.error();
    const std::string way =
        trust == config_trust::project
            ? "'heddle trust --allow' takes it all the same, or name another file "
              "as the configuration"
            : "make it yours alone, or name another file as the configuration";
    return error(errc::invalid_argument, file + " is not read: " + text.error().message())
        .with_hint("whoever may change it decides where prompts go; " + way);
}

/// A file that may be there but cannot be used. It is not passed over: without it, prompts and keys
/// would go to the usual address.
error unusable(const std::filesystem::path& file, const std::string& why) {
    return error(errc::io_error, file.string() + ": " + why)
        .with_hint(
            "heddle does not run without a configuration that is there: repair it, delete it, or "
            "name another file as the configuration");
}

/// A link on the way to a file that is not there; empty: the way ends in a plain folder.
std::filesystem::path dangling_link_above(const std::filesystem::path& file) {
    std::error_code failed;
    for (auto at = file.parent_path(); at.has_relative_path(); at = at.parent_path()) {
        const auto named = std::filesystem::symlink_status(at, failed).type();
        if (named == std::filesystem::file_type::not_found) continue;
        const bool dangles = named == std::filesystem::file_type::symlink &&
                             !std::filesystem::exists(std::filesystem::status(at, failed));
        return dangles ? at : std::filesystem::path();
    }
    return {};
}

/// Whether there is a file of that name. Errors: something is in its place that is none, or hides
/// it.
result<bool> is_there(const std::filesystem::path& file) {
    using std::filesystem::file_type;
    std::error_code failed;
    const file_type named = std::filesystem::symlink_status(file, failed).type();
    if (named == file_type::none) {
        return error(errc::io_error,
                     file.string() +
                         ": it cannot be seen whether there is a file: " + failed.message())
            .with_hint(
                "heddle does not pass over a configuration: make the folder readable, or name "
                "another with --config FILE or XDG_CONFIG_HOME");
    }
    if (named == file_type::not_found) {
        const auto link = dangling_link_above(file);
        if (link.empty()) return false;
        return unusable(file,
                        "cannot be found: " + link.string() + " is a link that leads nowhere");
    }
    const file_type reached = std::filesystem::status(file, failed).type();
    if (reached == file_type::regular) return true;
    if (reached == file_type::not_found) return unusable(file, "is a link that leads nowhere");
    if (reached == file_type::none) return unusable(file, "cannot be found: " + failed.message());
    return unusable(file,
                    reached == file_type::directory ? "is a directory" : "is not a regular file");
}

/// With its links, which are somebody's too.
result<std::optional<std::string>> find_user_file(const std::optional<std::string>& folder) {
    std::error_code failed;
    if (!folder) return std::optional<std::string>();
    const auto file = std::filesystem::absolute(
        std::filesystem::path(*folder) / "heddle" / "heddle.toml", failed);
    if (failed) return unusable(*folder, failed.message());
    HEDDLE_TRY(const bool found, is_there(file));
    return found ? std::optional(file.string()) : std::nullopt;
}

} // namespace

result<std::optional<std::string>> find_project_file(const std::string& folder) {
    std::error_code failed;
    // Without links: what is above a folder is what is above the real one.
    std::filesystem::path at = std::filesystem::canonical(folder, failed);
    if (failed == std::errc::no_such_file_or_directory || failed == std::errc::not_a_directory)
        return std::optional<std::string>();
    if (failed) return unusable(std::filesystem::path(folder) / "heddle.toml", failed.message());
    for (;; at = at.parent_path()) {
        const std::filesystem::path file = at / "heddle.toml";
        HEDDLE_TRY(const bool found, is_there(file));
        if (found) return std::optional(file.string());
        if (!at.has_relative_path()) return std::optional<std::string>();
    }
}

result<configuration> find_config(const config_sources& sources) {
    if (sources.explicit_file) return read_named(*sources.explicit_file, config_trust::user);
    if (sources.explicit_text) {
        return read_config(*sources.explicit_text, "heddle.toml", sources.folder,
                           config_trust::user);
    }
    std::error_code failed;
    configuration own;
    HEDDLE_TRY(const auto user_file, find_user_file(sources.user_folder));
    if (user_file) {
        HEDDLE_TRY(own, read_found(*user_file, config_trust::user));
    }
    HEDDLE_TRY(const auto project_file, find_project_file(sources.folder));
    const bool same =
        project_file && user_file && std::filesystem::equivalent(*project_file, *user_file, failed);
    if (!project_file || same) return own;
    const bool allowed = sources.whoever_owns ||
                         (sources.consents && sources.consents->holds({*project_file, "", ""}));
    HEDDLE_TRY(configuration result, allowed ? read_named(*project_file, config_trust::project)
                                             : read_found(*project_file, config_trust::project));
    result.project_file = *project_file;
    result.without_project = std::make_shared<const configuration>(own);
    lay_over(result, std::move(own));
    return result;
}

} // namespace heddle::setup
