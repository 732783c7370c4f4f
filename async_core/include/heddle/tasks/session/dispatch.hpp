// One entry point for workflows, templates and tools (docs/spec/runtime.md §7).
#pragma once

#include <heddle/coro/task.hpp>
#include <heddle/host/run_options.hpp>
#include <heddle/lang/value.hpp>

#include <string>

namespace heddle::host {
class session;
}

namespace heddle::tasks {

/// A request.
struct dispatch_request {
    /// A text that begins with `(` or `'(` is a workflow; any other is the name of a template (or
    /// its "type:subtype"), else of a tool.
    std::string identifier;
    /// A map of the session, or nil: inputs of the template or tool, globals of the workflow.
    /// `file_context`, a list of paths or a JSON array of them in a string, are the files of a
    /// template.
    lang::value params;
    host::run_options options;
};

/// Performs a request. Result: a TaskResult in any case, with `notes.execution_path` "workflow",
/// "template" or "tool"; a value that is not a TaskResult becomes the content of one, and an error
/// a FAILED one with its TaskError in `notes.error`. An unknown identifier is `template_not_found`,
/// with similar names.
///
/// Errors: cancelled, except by a deadline, which is `execution_timeout`. Cancellation: as
/// session::evaluate. Threads: the session's. `session` outlives the call; one request at a time.
[[nodiscard]] coro::task<result<lang::value>> dispatch(host::session& session,
                                                       dispatch_request request);

} // namespace heddle::tasks
