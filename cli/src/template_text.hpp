// A template for people and for programs.
#pragma once

#include <heddle/tasks/definition/task_template.hpp>

#include <boost/json/fwd.hpp>

#include <string>

namespace heddle::cli {

/// What it says, a line for each thing that is said; texts of several lines are indented.
[[nodiscard]] std::string template_text(const tasks::task_template& one);
/// The same as an object; what is not said is left out.
[[nodiscard]] boost::json::object template_json(const tasks::task_template& one);

} // namespace heddle::cli
