#include "still_world.hpp"

#include <heddle/tasks/session_tasks.hpp>

namespace heddle::cli {

result<std::unique_ptr<still_world>> still_world::create() {
    std::unique_ptr<still_world> made(new still_world);
    host::engine_parts parts;
    parts.operators = tasks::operators({});
    made->engine_ = std::make_unique<host::engine>(made->loop_, std::move(parts));
    HEDDLE_TRY(made->session_, made->engine_->new_session());
    return made;
}

} // namespace heddle::cli
