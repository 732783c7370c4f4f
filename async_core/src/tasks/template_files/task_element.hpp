// `<task>` as a template.
#pragma once

#include "tasks/template_files/template_draft.hpp"

namespace heddle::tasks {

/// Reads the attributes and elements of a `<task>` into the draft. Inside a `<template>` the name
/// and the inputs of its params are there already.
void read_task_element(const xml_element& element, template_draft& draft,
                       std::vector<lang::problem>& problems);

} // namespace heddle::tasks
