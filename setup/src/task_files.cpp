#include <heddle/setup/task_files.hpp>

#include <heddle/setup/display_text.hpp>
#include <heddle/setup/input_files.hpp>

#include <algorithm>
#include <filesystem>
#include <set>

namespace heddle::setup {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_files = 10'000;
constexpr int max_folder_depth = 16;

/// Calls `take` with each template file below a folder; it returns whether to go on. Links to
/// folders are not followed.
template <class Take>
std::error_code each_template_file(const fs::path& folder, Take&& take) {
    std::error_code failed;
    fs::recursive_directory_iterator at(folder, failed);
    for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
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

} // namespace

bool is_template_file(std::string_view path) noexcept { return path.ends_with(".xml"); }

std::string tasks_beside(const std::string& file) {
    return (fs::path(file).parent_path() / "tasks").string();
}

bool has_templates(const std::string& folder) {
    std::error_code failed;
    if (folder.empty() || !fs::is_directory(folder, failed)) return false;
    bool found = false;
    (void)each_template_file(folder, [&](const fs::path&) {
        found = true;
        return false;
    });
    return found;
}

result<std::vector<std::string>> template_files(const std::vector<std::string>& paths) {
    std::vector<std::string> found;
    std::set<std::string> seen; // one file may be named by a folder and by itself
    const auto add = [&](const fs::path& file) {
        std::error_code failed;
        const fs::path real = fs::weakly_canonical(file, failed);
        if (seen.insert(failed ? file.string() : real.string()).second) {
            found.push_back(file.string());
        }
    };
    for (const std::string& path : paths) {
        std::error_code failed;
        if (!fs::exists(path, failed)) {
            return error(errc::not_found, "task templates: there is no \"" + path + "\"")
                .with_hint("name a folder with task templates, or a file of them");
        }
        if (!fs::is_directory(path, failed)) {
            add(path);
            continue;
        }
        std::vector<fs::path> below;
        const std::error_code broken = each_template_file(path, [&](const fs::path& file) {
            below.push_back(file);
            return below.size() <= max_files;
        });
        if (broken) return error(errc::io_error, path + ": cannot be read: " + broken.message());
        std::sort(below.begin(), below.end());
        for (const fs::path& file : below) add(file);
        if (found.size() > max_files) {
            return error(errc::limit_exceeded, path + ": there are more than 10,000 templates");
        }
    }
    return found;
}

result<tasks::loaded_templates> load_templates(const std::vector<std::string>& paths,
                                               const tasks::template_load_options& options) {
    HEDDLE_TRY(const std::vector<std::string> files, template_files(paths));
    tasks::template_loader loader(options);
    for (const std::string& file : files) {
        HEDDLE_TRY(std::string text, read_input_file(file));
        loader.add(file, std::move(text));
    }
    tasks::loaded_templates loaded = std::move(loader).finish();
    if (loaded.good()) return loaded;
    return error(errc::invalid_argument,
                 "the task templates have " + counted(loaded.report->errors(), "mistake"))
        .with_payload(loaded.report);
}

result<tasks::loaded_templates> load_run_templates(const std::vector<std::string>& paths,
                                                   const tasks::model_registry& models,
                                                   log_port& log) {
    tasks::template_load_options checked;
    if (!models.empty()) {
        checked.validation.model_problem = [&models](std::string_view model,
                                                     std::string_view provider) {
            return models.doubt_about(model, provider).value_or("");
        };
    }
    HEDDLE_TRY(tasks::loaded_templates loaded, load_templates(paths, checked));
    for (const lang::problem& each : loaded.report->problems) {
        const source_location place = loaded.report->sources.locate(each.span);
        log.write(log_level::warn, "tasks",
                  place.file + ":" + std::to_string(place.line) + ": " + each.message);
    }
    for (const std::string& path : paths) {
        log.write(log_level::info, "tasks", "task templates are read from " + path);
    }
    if (!paths.empty()) {
        log.write(log_level::info, "tasks",
                  counted(loaded.templates.size(), "template") + " loaded");
    }
    return loaded;
}

} // namespace heddle::setup
