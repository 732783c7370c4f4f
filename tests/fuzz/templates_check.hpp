// What holds for the loader of task templates, whatever it reads.
#pragma once

#include <heddle/lang/heap.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/tasks/definition/compiled_task.hpp>
#include <heddle/tasks/template_files/template_loader.hpp>

#include <string>

namespace heddle::fuzzing {

/// Empty when all is well, else what is not.
inline std::string check_templates(const std::string& text) {
    tasks::template_loader loader;
    loader.add("fuzzed.xml", text);
    const tasks::loaded_templates loaded = std::move(loader).finish();
    const lang::heap_owner memory(lang::heap::create());
    if (!lang::json_to_value(*memory, loaded.report->json())) return "the report is not JSON";
    if (!loaded.good()) {
        if (!loaded.templates.empty() || !loaded.calls.empty()) return "a bad file gave templates";
        return loaded.report->text().empty() ? "a refusal without a word" : std::string();
    }
    for (const tasks::task_template& one : loaded.templates) {
        const auto compiled = tasks::compile_task(one);
        if (!compiled) return "a good template: " + compiled.error().message();
    }
    const std::string program = tasks::program_of_calls(loaded.calls);
    const auto read = lang::read_all(*memory, program);
    return read ? std::string() : "the calls as a program: " + read.error().message();
}

} // namespace heddle::fuzzing
