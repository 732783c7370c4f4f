#include "offline_session.hpp"

#include <heddle/tasks/session/session_tasks.hpp>

namespace heddle::cli {

result<std::unique_ptr<offline_session>> offline_session::create(
    std::vector<tasks::task_template> templates) {
    std::unique_ptr<offline_session> made(new offline_session);
    host::engine_parts parts;
    tasks::task_system_parts known;
    known.templates = std::move(templates);
    parts.operators = tasks::operators(std::move(known));
    made->engine_ = std::make_unique<host::engine>(made->loop_, std::move(parts));
    HEDDLE_TRY(made->session_, made->engine_->new_session());
    return made;
}

} // namespace heddle::cli
