// Templates and calls as the elements of a file say them, with their places.
#pragma once

#include "tasks/template_files/xml_tree.hpp"

#include <heddle/tasks/template_files/template_loader.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// A `<task>` or `<template>` before references are resolved and rules are checked.
struct template_draft {
    task_template declared;
    bool in_template = false;
    source_span span;                                       ///< of the start tag that names it
    source_span name_span;                                  ///< of its name, else as span
    std::map<std::string, source_span, std::less<>> parts;  ///< text or start tag of its elements
    std::map<std::string, source_span, std::less<>> inputs; ///< of their names

    [[nodiscard]] source_span place_of(std::string_view part, std::string_view item) const;
};

struct call_draft {
    template_call call;
    source_span span;
    source_span target_span; ///< of the template's name
    std::vector<source_span> arguments;
};

/// The definitions of one file.
struct file_drafts {
    std::vector<template_draft> templates;
    std::vector<call_draft> calls;
};

/// Reads the elements of a file: which there are, which may be where, what form their values have.
/// Everything wrong is added to `problems`; a definition is given even then, as far as it could be
/// read.
[[nodiscard]] file_drafts read_definitions(const xml_element& root,
                                           std::vector<lang::problem>& problems);

} // namespace heddle::tasks
