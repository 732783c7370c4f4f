#include "step_worker.hpp"

#include "durable_part.hpp"
#include "durable_row.hpp"
#include "durable_step.hpp"
#include "step_path.hpp"

namespace heddle::host {

using ports::digest128;

digest128 step_worker::path_of_next() noexcept {
    durable_step& step = whole();
    if (step.is_numbered())
        return step_path::inside(step.path(), step_path::part::nested, step.functions());
    return step_path::inside(own_, step_path::part::nested, functions_);
}

digest128 step_worker::next_function() noexcept {
    const digest128 path = path_of_next();
    ++functions_;
    whole().note_function();
    return path;
}

bool step_worker::is_over() { return whole().end_is_known() && !row_.is_recorded(path_of_next()); }

std::unique_ptr<ports::step_memory> step_worker::open_part(std::uint32_t group,
                                                           std::uint32_t index) {
    const digest128 side = step_path::inside(own_, step_path::part::side, group);
    return std::make_unique<durable_part>(row_, whole(),
                                          step_path::inside(side, step_path::part::branch, index));
}

} // namespace heddle::host
