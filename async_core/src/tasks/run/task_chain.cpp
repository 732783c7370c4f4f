#include "tasks/run/task_chain.hpp"

#include <heddle/lang/equality.hpp>

#include <algorithm>

namespace heddle::tasks {

bool task_chain::has(const task_call& wanted) const {
    for (const task_chain* each = this; each; each = each->outer) {
        if (each->task->declared.name != wanted.task->declared.name) continue;
        const bool same =
            std::equal(each->inputs->begin(), each->inputs->end(), wanted.inputs.begin(),
                       wanted.inputs.end(), [](const bound_input& a, const bound_input& b) {
                           return a.name == b.name && a.given == b.given &&
                                  (!a.given || lang::values_equal(a.content, b.content));
                       });
        if (same) return true;
    }
    return false;
}

} // namespace heddle::tasks
