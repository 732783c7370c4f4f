// Tasks of the subtypes aider_automatic and aider_interactive: the program `aider` edits files.
#pragma once

#include <heddle/ports/process_port.hpp>
#include <heddle/tasks/run/task_executor.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

struct aider_options {
    std::vector<std::string> command{"aider"}; ///< program, and arguments that always come first
    /// For aider_automatic: no questions, no commits, plain text.
    std::vector<std::string> automatic_arguments{"--yes-always",     "--no-auto-commits",
                                                 "--no-pretty",      "--no-stream",
                                                 "--no-fancy-input", "--no-check-update"};
    std::vector<std::string> interactive_arguments; ///< for aider_interactive
    std::vector<std::string> secrets; ///< names of withheld variables that it inherits: its keys
    std::size_t max_output = 1024 * 1024; ///< of each stream
    std::string hint; ///< how to allow programs, for the error if the host does not; may be empty
};

enum class aider_mode : std::uint8_t {
    automatic,  ///< with the prompt as its message; its output is the content
    interactive ///< with the terminal of this process; the prompt is shown first
};

/// The names of the two subtypes, for task_system_parts::executors.
[[nodiscard]] std::string_view aider_subtype(aider_mode mode) noexcept;

/// Runs the program with the prompt and the files of a task. A text input called prompt (or
/// initial_query) of a task without instructions is added to the prompt. Files: those of the
/// context or, without one, those that the call or the template lists. In the result, content is
/// the output of the program; notes contain success, exit_code, stdout, stderr, files (passed to
/// it) and files_changed (those that it reports as edited).
/// Failures, as data: dependency_error if the program is absent, tool_execution_error if it ends
/// with a code other than 0. PermissionError if the host allows no programs.
/// Cancellation: ends its whole process group. Threads: its shard's only.
class aider_executor final : public task_executor {
public:
    /// `processes` outlives it; null: the host allows no programs.
    aider_executor(ports::process_port* processes, aider_mode mode, aider_options options = {});

    [[nodiscard]] coro::task<result<executor_response>> execute(executor_request request) override;

private:
    ports::process_port* processes_;
    aider_mode mode_;
    aider_options options_;
};

/// The files that Aider reports as edited in its output, in the order of their first mention.
[[nodiscard]] std::vector<std::string> edited_files(std::string_view output);

} // namespace heddle::tasks
