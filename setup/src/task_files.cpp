#include <heddle/setup/task_files.hpp>

#include <heddle/fs/workspace_files.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/input_files.hpp>

#include <algorithm>
#include <filesystem>
#include <set>

namespace heddle::setup {

namespace {

namespace paths = std::filesystem;

constexpr std::size_t max_files = 10'000;
constexpr int max_folder_depth = 16;

/// Calls `take` with each template file below a folder; it returns whether to go on. Links to
/// folders are not followed.
template <class Take>
std::error_code each_template_file(const paths::path& folder, Take&& take) {
    std::error_code failed;
    paths::recursive_directory_iterator at(folder, failed);
    for (; !failed && at != paths::recursive_directory_iterator(); at.increment(failed)) {
        const std::string name = at->path().filename().string();
        std::error_code unknown;
        if (at->is_directory(unknown) &&
            (name.starts_with('.') || at.depth() >= max_folder_depth)) {
            at.disable_recursion_pending();
            continue;
        }
        if (!is_template_file(name) || !at->is_regular_file(unknown)) continue;
        if (!take(at->path())) break;
    }
    return failed;
}

error leads_out(const template_place& place, const paths::path& root) {
    return error(errc::invalid_argument,
                 "task templates: \"" + place.path + "\" leads out of " + root.string() +
                     ": neither a project's heddle.toml nor its directory tasks/ names files "
                     "elsewhere")
        .with_hint("if you want it to be read, name it yourself: --tasks " + place.path);
}

/// The path of a place from its root, both without links.
result<paths::path> path_below(const template_place& place, const paths::path& root) {
    std::error_code failed;
    const auto below_root = [&](const paths::path& path) -> result<paths::path> {
        paths::path below = path.lexically_relative(root);
        if (below.empty() || *below.begin() == "..") return leads_out(place, root);
        return below;
    };
    const paths::path real = paths::weakly_canonical(place.path, failed);
    if (!failed) return below_root(real);
    // Such as a name in /proc: it leads nowhere, or to what has no name.
    HEDDLE_CHECK(below_root(paths::absolute(place.path, failed).lexically_normal()));
    return error(errc::io_error, place.path + ": cannot be reached");
}

result<paths::path> real_root(const template_place& place) {
    std::error_code failed;
    paths::path root = paths::canonical(*place.root, failed);
    if (failed) return error(errc::io_error, *place.root + ": " + failed.message());
    return root;
}

result<void> check_inside(const template_place& place) {
    if (!place.root) return {};
    HEDDLE_TRY(const paths::path root, real_root(place));
    auto below = path_below(place, root);
    return below ? result<void>() : std::move(below).error();
}

} // namespace

bool is_template_file(std::string_view path) noexcept { return path.ends_with(".xml"); }

std::string tasks_beside(const std::string& file) {
    return (paths::path(file).parent_path() / "tasks").string();
}

bool has_templates(const std::string& folder) {
    std::error_code failed;
    if (folder.empty() || !paths::is_directory(folder, failed)) return false;
    bool found = false;
    (void)each_template_file(folder, [&](const paths::path&) {
        found = true;
        return false;
    });
    return found;
}

std::vector<template_place> named_templates(const std::vector<std::string>& names) {
    std::vector<template_place> places;
    places.reserve(names.size());
    for (const std::string& each : names) places.push_back({each});
    return places;
}

template_place found_templates(const std::string& folder) {
    const std::string around = paths::path(folder).parent_path().string();
    return {folder, around.empty() ? "." : around};
}

result<std::vector<template_place>> template_files(const std::vector<template_place>& places) {
    std::vector<template_place> found;
    std::set<std::string> seen; // one file may be named by a folder and by itself
    const auto add = [&](template_place file) -> result<void> {
        HEDDLE_CHECK(check_inside(file));
        std::error_code failed;
        const paths::path real = paths::weakly_canonical(file.path, failed);
        if (seen.insert(failed ? file.path : real.string()).second)
            found.push_back(std::move(file));
        return {};
    };
    for (const template_place& place : places) {
        const std::string& path = place.path;
        std::error_code failed;
        HEDDLE_CHECK(check_inside(place));
        if (!paths::exists(path, failed)) {
            return error(errc::not_found, "task templates: there is no \"" + path + "\"")
                .with_hint("name a folder with task templates, or a file of them");
        }
        if (!paths::is_directory(path, failed)) {
            HEDDLE_CHECK(add(place));
            continue;
        }
        std::vector<paths::path> below;
        const std::error_code broken = each_template_file(path, [&](const paths::path& file) {
            below.push_back(file);
            return below.size() <= max_files;
        });
        if (broken) return error(errc::io_error, path + ": cannot be read: " + broken.message());
        std::sort(below.begin(), below.end());
        for (const paths::path& file : below) HEDDLE_CHECK(add({file.string(), place.root}));
        if (found.size() > max_files) {
            return error(errc::limit_exceeded, path + ": there are more than 10,000 templates");
        }
    }
    return found;
}

result<std::string> read_template_file(const template_place& file) {
    if (!file.root) return read_stored_file(file.path);
    HEDDLE_TRY(const paths::path root, real_root(file));
    HEDDLE_TRY(const paths::path below, path_below(file, root));
    // Once more without links: what was replaced since does not lead out either.
    return fs::read_workspace_file(root.string(), below.string(), max_input_bytes);
}

result<tasks::loaded_templates> load_templates(const std::vector<template_place>& places,
                                               const tasks::template_load_options& options) {
    HEDDLE_TRY(const std::vector<template_place> files, template_files(places));
    tasks::template_loader loader(options);
    for (const template_place& file : files) {
        HEDDLE_TRY(std::string text, read_template_file(file));
        loader.add(file.path, std::move(text));
    }
    tasks::loaded_templates loaded = std::move(loader).finish();
    if (loaded.good()) return loaded;
    return error(errc::invalid_argument,
                 "the task templates have " + counted(loaded.report->errors(), "mistake"))
        .with_payload(loaded.report);
}

result<tasks::loaded_templates> load_run_templates(const std::vector<template_place>& places,
                                                   const tasks::model_registry& models,
                                                   log_port& log) {
    tasks::template_load_options checked;
    if (!models.empty()) {
        checked.validation.model_problem = [&models](std::string_view model,
                                                     std::string_view provider) {
            return models.doubt_about(model, provider).value_or("");
        };
    }
    HEDDLE_TRY(tasks::loaded_templates loaded, load_templates(places, checked));
    for (const lang::problem& each : loaded.report->problems) {
        const source_location place = loaded.report->sources.locate(each.span);
        log.write(log_level::warn, "tasks",
                  place.file + ":" + std::to_string(place.line) + ": " + each.message);
    }
    for (const template_place& place : places) {
        log.write(log_level::info, "tasks", "task templates are read from " + place.path);
    }
    if (!places.empty()) {
        log.write(log_level::info, "tasks",
                  counted(loaded.templates.size(), "template") + " loaded");
    }
    return loaded;
}

} // namespace heddle::setup
