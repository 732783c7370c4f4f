// One run of a workflow: its session, how it is stopped, how it has ended.
#pragma once

#include "exit_code.hpp"
#include "journal/run_parking.hpp"
#include "journal/run_setup.hpp"
#include "program.hpp"

#include <heddle/base/error.hpp>
#include <heddle/base/source.hpp>
#include <heddle/coro/cancel.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/value.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

class application;
class kept_run;

/// Threads: the loop's.
struct workflow_run {
    program source;
    std::unique_ptr<host::session> session;
    coro::cancel_source cancel;
    result<lang::value> ended = lang::value();
    source_span last_form; ///< whose value is that of the run; empty if unknown
    exit_code on_failure = exit_code::failed;
    std::optional<lang::value> unwritten;        ///< a result that has no JSON form
    bool shows_content = false;                  ///< of a FAILED result that is its value
    std::vector<std::string> remarks;            ///< to be reported at the end
    std::string shown_task;                      ///< of --show-prompts
    kept_run* kept = nullptr;                    ///< null: nothing is kept
    run_sources sources;                         ///< of `kept`
    application* tools = nullptr;                ///< for `kept`
    bool is_open = false;                        ///< so is `kept`
    bool stopped = false;                        ///< from outside: `kept` goes on later
    std::function<void(const std::string&)> say; ///< a line for people
    run_parking parking;                         ///< of `kept`
};

} // namespace heddle::cli
