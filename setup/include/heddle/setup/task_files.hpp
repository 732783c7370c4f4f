// Files of task templates.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/log.hpp>
#include <heddle/tasks/run/model_registry.hpp>
#include <heddle/tasks/template_files/template_loader.hpp>

#include <optional>
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

/// A folder of task templates, or a file of them.
struct template_place {
    std::string path;
    /// Set if the user has not named the path: a folder that neither it nor a link in it may leave.
    std::optional<std::string> root = {};
};

/// What the user names may be anywhere.
[[nodiscard]] std::vector<template_place> named_templates(const std::vector<std::string>& paths);
/// A folder "tasks" that is read because it is there: nothing outside the folder around it is read.
[[nodiscard]] template_place found_templates(const std::string& folder);

/// The template files in `places`, each once, those of a folder in the order of their names.
/// Errors: not_found, io_error, limit_exceeded (10,000 files); invalid_argument for one that leads
/// out of its root.
[[nodiscard]] result<std::vector<template_place>> template_files(
    const std::vector<template_place>& places);

/// The text of a file that template_files() returned. Errors: as there; io_error for what is not a
/// regular file, such as a stream.
[[nodiscard]] result<std::string> read_template_file(const template_place& file);

/// Reads and checks them as one load. Errors: as template_files, a file that cannot be read, and
/// for templates with mistakes invalid_argument with their tasks::template_report as payload.
[[nodiscard]] result<tasks::loaded_templates> load_templates(
    const std::vector<template_place>& places, const tasks::template_load_options& options);

/// The templates of a run, held to its models. Logs what was loaded, and warnings. Errors: as
/// load_templates.
[[nodiscard]] result<tasks::loaded_templates> load_run_templates(
    const std::vector<template_place>& places, const tasks::model_registry& models, log_port& log);

} // namespace heddle::setup
