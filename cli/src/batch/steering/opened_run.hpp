// A run that is looked at from outside.
#pragma once

#include "batch/request/run_manifest.hpp"

#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/store/run_store.hpp>

#include <functional>
#include <memory>
#include <string>

namespace heddle::cli {

/// A run that is open for reading, on a loop of its own.
struct opened_run {
    coro::event_loop* loop = nullptr;
    std::string folder;
    run_manifest about;
    std::unique_ptr<store::run_store> store;

    [[nodiscard]] coro::call_context context() const { return {loop, nullptr, {}}; }
    /// Whether a process works on it, also while it does not answer yet or no longer.
    [[nodiscard]] bool is_going() const;
};

using run_work = std::function<coro::task<result<void>>(opened_run&)>;

/// Opens a run, named by its folder or its output file, and works with it until that has ended.
/// Errors: those of both.
[[nodiscard]] result<void> with_run(const std::string& name, const run_work& work);

/// The row with that id, or else with that number. Errors: not_found, io_error.
[[nodiscard]] coro::task<result<store::run_row>> find_row(opened_run* run, std::string id);

} // namespace heddle::cli
