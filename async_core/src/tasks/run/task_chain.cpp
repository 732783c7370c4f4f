#include "tasks/run/task_chain.hpp"

#include <heddle/lang/equality.hpp>

#include <algorithm>

namespace heddle::tasks {

task_chain task_chain::link(const task_call& call, task_session& session, const task_time& time,
                            std::int64_t depth) noexcept {
    task_chain link;
    link.outer = call.chain;
    link.task = call.task.get();
    link.inputs = &call.inputs;
    link.session = &session;
    link.time = &time;
    link.depth_left = link.outer ? link.outer->depth_left - 1 : depth;
    // A request may ask for more than the default, too.
    if (call.max_depth)
        link.depth_left = std::min(*call.max_depth, std::max(max_depth, depth) - link.nesting());
    return link;
}

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
