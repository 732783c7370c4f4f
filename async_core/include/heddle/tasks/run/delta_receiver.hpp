// Where the text of responses goes, beside the workflow.
#pragma once

#include <heddle/ports/flow_gate.hpp>
#include <heddle/tasks/call/task_observer.hpp>

namespace heddle::tasks {

/// Receives the text of tasks that a workflow calls, as it arrives. Threads: the session's only.
class delta_receiver {
public:
    virtual ~delta_receiver() = default;

    /// Whether it receives the text of a call that begins now. Responses without a receiver are
    /// not streamed.
    [[nodiscard]] virtual bool is_listening() const noexcept { return true; }
    /// Takes a piece. Errors: any; it cancels the call, which fails with it.
    [[nodiscard]] virtual result<void> take(const task_delta& piece) = 0;
    /// Holds back the streams while the receiver is busy; null: never.
    [[nodiscard]] virtual ports::flow_gate* gate() noexcept { return nullptr; }
};

} // namespace heddle::tasks
