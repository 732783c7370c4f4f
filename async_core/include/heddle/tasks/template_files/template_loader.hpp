// Task templates from XML files.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/tasks/definition/task_template.hpp>
#include <heddle/tasks/definition/template_validation.hpp>
#include <heddle/tasks/template_files/template_report.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// An argument of a `<call>`.
struct template_argument {
    std::string name; ///< of the parameter; empty: by position
    std::string text; ///< as written, without white space around it
};

/// `<call template="…"><arg>…</arg></call>`: a step that runs a template
/// (docs/reference/templates.md).
struct template_call {
    std::string name; ///< the name by which later calls of the file use its result; may be empty
    std::string template_name;
    std::vector<template_argument> arguments;
    std::vector<std::string> parameters; ///< of the template, in order
    std::string source;                  ///< "file:line"
    std::uint32_t begin = 0; ///< of its start tag: byte positions, not counting a byte order mark
    std::uint32_t end = 0;
};

/// Bounds for files from untrusted sources.
struct template_file_limits {
    std::size_t bytes = 4 * 1024 * 1024;
    std::size_t depth = 32;
    std::size_t elements = 100'000;
    std::size_t problems = 100; ///< of one file; the rest is reported as one
};

struct template_load_options {
    validation_options validation;
    /// Templates that are registered already; `ref` and calls may name them. May be empty.
    std::function<const task_template*(std::string_view name)> known;
    template_file_limits limits;
};

/// The result of a load.
struct loaded_templates {
    std::vector<task_template> templates; ///< with `ref` resolved; empty if there are errors
    std::vector<template_call> calls;     ///< in the order of the files
    std::shared_ptr<const template_report> report;

    [[nodiscard]] bool good() const noexcept { return report->errors() == 0; }
};

/// Reads files of templates. All of them form one load, in which names are unique, and a `ref` or a
/// call may name a template of any file. Opens no file and follows no reference out of the text:
/// document types, custom entities and processing instructions are refused.
///
/// Example:
///     template_loader loader;
///     loader.add("tasks/review.xml", text);
///     loaded_templates loaded = std::move(loader).finish();
///     if (!loaded.good()) return loaded.report->text();
///
/// Threads: one at a time.
class template_loader {
public:
    explicit template_loader(template_load_options options = {});
    ~template_loader();
    template_loader(template_loader&&) noexcept;
    template_loader& operator=(template_loader&&) noexcept;

    /// Reads the text of a file; `name` is shown in problems. Its problems are added to the report.
    void add(std::string name, std::string text);
    /// Resolves references, and checks every template and call. Result: all of them.
    [[nodiscard]] loaded_templates finish() &&;

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// The calls of a file as a program: they run one after another, and the value of the last is the
/// result. Arguments that name inputs of the run become parameters of its `main`. Without calls:
/// empty.
[[nodiscard]] std::string program_of_calls(const std::vector<template_call>& calls);

/// The same program, as forms. Their spans are those of the `<call>` elements in the file, which
/// the source_map of the session holds at `position`.
[[nodiscard]] result<std::vector<lang::datum>> forms_of_calls(
    lang::heap& memory, const std::vector<template_call>& calls, std::uint32_t position);

} // namespace heddle::tasks
