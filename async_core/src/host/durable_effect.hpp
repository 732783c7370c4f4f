// An effect of a durable row while it is under way.
#pragma once

#include "durable_row.hpp"
#include "durable_step.hpp"

#include <string>

namespace heddle::host {

/// What is known of an effect of a durable row while it is under way.
struct durable_effect {
    durable_effect(durable_row& row, const ports::digest128& path) : self(row, path) {}
    durable_step self;
    replay_class how = replay_class::answer;
    std::string name;
    ports::digest128 content; ///< of what is asked; zero: it makes no difference
    const ports::step_record* recorded = nullptr; ///< by an earlier execution; null: not ended then
    bool cut = false;                             ///< by the deadline of its branch
    bool works = false;                           ///< the world was asked
    bool withheld = false;                        ///< not recorded, and not to be performed
    bool was_closed = false;                      ///< it began when the row was being ended
};

} // namespace heddle::host
