// Which files of settings a run has.
#include "config/alias_circles.hpp"

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

/// With its links, which are somebody's too.
std::optional<std::string> find_user_file(const std::optional<std::string>& folder) {
    std::error_code failed;
    if (!folder) return std::nullopt;
    const auto file = std::filesystem::absolute(
        std::filesystem::path(*folder) / "heddle" / "heddle.toml", failed);
    if (failed || !std::filesystem::is_regular_file(file, failed)) return std::nullopt;
    return file.string();
}

} // namespace

std::optional<std::string> find_project_file(const std::string& folder) {
    std::error_code failed;
    // Without links: what is above a folder is what is above the real one.
    std::filesystem::path at = std::filesystem::canonical(folder, failed);
    if (failed) return std::nullopt;
    for (;; at = at.parent_path()) {
        const std::filesystem::path file = at / "heddle.toml";
        if (std::filesystem::is_regular_file(file, failed)) return file.string();
        if (!at.has_relative_path()) return std::nullopt;
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
    const auto user_file = find_user_file(sources.user_folder);
    if (user_file) {
        HEDDLE_TRY(own, read_found(*user_file, config_trust::user));
    }
    const auto project_file = find_project_file(sources.folder);
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
    const std::vector<alias_circle> circles = alias_circles(result.aliases);
    if (!circles.empty()) {
        const alias_circle& one = circles.front();
        return error(errc::invalid_argument, one.place.shown() + ": " + one.text);
    }
    return result;
}

} // namespace heddle::setup
