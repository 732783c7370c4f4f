#include "still_world.hpp"

#include <heddle/tasks/session_tasks.hpp>

namespace heddle::cli {

result<std::unique_ptr<still_world>> still_world::create(
    std::vector<tasks::task_template> templates) {
    std::unique_ptr<still_world> made(new still_world);
    host::engine_parts parts;
    tasks::task_system_parts known;
    known.templates = std::move(templates);
    parts.operators = tasks::operators(std::move(known));
    made->engine_ = std::make_unique<host::engine>(made->loop_, std::move(parts));
    HEDDLE_TRY(made->session_, made->engine_->new_session());
    return made;
}

} // namespace heddle::cli
