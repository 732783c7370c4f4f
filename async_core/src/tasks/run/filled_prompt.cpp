#include "tasks/run/filled_prompt.hpp"

namespace heddle::tasks {

result<void> filled_prompt::check() const {
    HEDDLE_CHECK(call_.task->system.check(call_.inputs));
    return call_.task->instructions.check(call_.inputs);
}

result<void> filled_prompt::fill(std::string_view base, std::span<const lang::value> contents) {
    const compiled_task& task = *call_.task;
    const std::size_t of_system = task.system.calls().size();
    system_ = base;
    if (!task.system.empty()) {
        if (!system_.empty()) system_ += "\n\n";
        HEDDLE_CHECK(task.system.fill(system_, call_.inputs, contents.first(of_system)));
    }
    return task.instructions.fill(prompt_, call_.inputs, contents.subspan(of_system));
}

void filled_prompt::add_to_system(std::string_view text) {
    if (text.empty()) return;
    if (!system_.empty()) system_ += "\n\n";
    system_ += text;
}

} // namespace heddle::tasks
