// Where rows are executed.
#pragma once

#include "sources/source_watch.hpp"

#include <heddle/host/engine.hpp>
#include <heddle/host/run_options.hpp>
#include <heddle/tasks/call/task_observer.hpp>

namespace heddle::cli {

/// An engine, and what observes its sessions. All of it outlives them.
struct row_place {
    host::engine& engine;
    const host::run_options& bounds; ///< of an evaluation
    tasks::task_observer& counter;   ///< of the calls of all rows
    /// Observes the sessions that are made from now on: it outlives them, and passes on to
    /// `counter` what is to be counted.
    tasks::task_observer*& observer;
    source_watch* sources = nullptr; ///< of the first evaluation; null: another loop has made it
};

} // namespace heddle::cli
