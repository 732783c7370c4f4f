// A template as text and as JSON.
#pragma once

#include <heddle/tasks/definition/task_template.hpp>

#include <boost/json/fwd.hpp>

#include <string>

namespace heddle::cli {

/// The settings of a template, one line for each that is set; multi-line texts are indented.
[[nodiscard]] std::string template_text(const tasks::task_template& one);
/// The same as an object; settings that are not set are omitted.
[[nodiscard]] boost::json::object template_json(const tasks::task_template& one);

} // namespace heddle::cli
