#include "offline_session.hpp"

#include <heddle/tasks/session/session_tasks.hpp>

namespace heddle::cli {

result<std::unique_ptr<offline_session>> offline_session::create(
    std::vector<tasks::task_template> templates) {
    std::unique_ptr<offline_session> object(new offline_session);
    host::engine_parts parts;
    tasks::task_system_parts known;
    known.templates = std::move(templates);
    parts.operators = tasks::operators(std::move(known));
    object->engine_ = std::make_unique<host::engine>(object->loop_, std::move(parts));
    HEDDLE_TRY(object->session_, object->engine_->new_session());
    return object;
}

} // namespace heddle::cli
