// Files of task templates that the command line names.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/log.hpp>
#include <heddle/tasks/run/model_registry.hpp>
#include <heddle/tasks/template_files/template_loader.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace heddle::setup {

/// True for the name of a file that may hold templates: it ends in ".xml".
[[nodiscard]] bool is_template_file(std::string_view path) noexcept;
/// The folder "tasks" next to a file.
[[nodiscard]] std::string tasks_beside(const std::string& file);
/// True if the path is a folder with at least one template file below it.
[[nodiscard]] bool has_templates(const std::string& folder);

/// The template files that folders and files name, each once, those of a folder in the order of
/// their names. Errors: not_found, io_error, limit_exceeded (10,000 files).
[[nodiscard]] result<std::vector<std::string>> template_files(
    const std::vector<std::string>& paths);

/// Reads and checks them as one load. Errors: as template_files, a file that cannot be read, and
/// for templates with mistakes invalid_argument with their tasks::template_report as payload.
[[nodiscard]] result<tasks::loaded_templates> load_templates(
    const std::vector<std::string>& paths, const tasks::template_load_options& options);

/// The templates of a run, held to its models. Logs what was loaded, and warnings. Errors: as
/// load_templates.
[[nodiscard]] result<tasks::loaded_templates> load_run_templates(
    const std::vector<std::string>& paths, const tasks::model_registry& models, log_port& log);

} // namespace heddle::setup
