// Templates out of a text, and what is wrong with them.
#pragma once

#include "tasks_testing.hpp"
#include "test_paths.hpp"

#include <heddle/tasks/template_files/template_loader.hpp>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace heddle::tasks::testing {

using lines = std::vector<std::string>;

inline std::string data_file(const std::string& name) {
    std::ifstream stream(std::string(heddle::test_paths::data_folder()) + "/templates/" + name,
                         std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

inline loaded_templates load(std::string text, template_load_options options = {},
                             std::string name = "t.xml") {
    template_loader loader(std::move(options));
    loader.add(std::move(name), std::move(text));
    return std::move(loader).finish();
}

inline loaded_templates load_file(const std::string& name) {
    return load(data_file(name), {}, name);
}

/// "line:column code message" of each problem.
inline lines problems_of(const loaded_templates& loaded) {
    lines result;
    for (const lang::problem& each : loaded.report->problems) {
        const source_location place = loaded.report->sources.locate(each.span);
        result.push_back(std::to_string(place.line) + ":" + std::to_string(place.column) + " " +
                         std::string(each.code) + " " + each.message);
    }
    return result;
}
inline lines problems(std::string text, template_load_options options = {}) {
    return problems_of(load(std::move(text), std::move(options)));
}

/// A task with these elements, which are on the second line.
inline std::string task(const std::string& elements, const std::string& attributes = "") {
    return "<task name=\"t\" type=\"atomic\" " + attributes + "><description>d</description>\n" +
           elements + "</task>";
}

} // namespace heddle::tasks::testing
