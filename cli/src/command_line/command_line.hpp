// The command line: from arguments to a command that runs.
#pragma once

#include "command_help.hpp"

#include "command_line/command.hpp"
#include "exit_code.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heddle::cli {

/// A command line that runs no command: help, the version, or a mistake.
struct early_end {
    exit_code code = exit_code::done;
    std::string text;    ///< for standard output if done, else for standard error
    std::string mistake; ///< the parts of `text`: the mistake,
    std::string hint;    ///< and the hint; empty if there is none
};

/// All commands with their options. Threads: one.
class command_line {
public:
    /// `rows`: outlive the object.
    explicit command_line(std::span<const command_row* const> rows);
    ~command_line();
    command_line(const command_line&) = delete;
    command_line& operator=(const command_line&) = delete;

    /// Reads the arguments, without the name of the program. Call it once. Result: the command,
    /// which belongs to this object. `columns`: the width for help.
    [[nodiscard]] std::variant<command*, early_end> parse(std::vector<std::string> arguments,
                                                          unsigned columns);
    /// What was parsed.
    [[nodiscard]] const std::vector<std::string>& arguments() const noexcept;
    /// The help of all commands, that of the program first. Hidden commands are omitted.
    [[nodiscard]] std::vector<command_help> help() const;

private:
    struct entry;
    class state;
    std::unique_ptr<state> state_;
};

/// The rows of the program, in the order of their names.
[[nodiscard]] std::span<const command_row* const> all_commands() noexcept;

/// Whether the arguments request JSON, even if they have mistakes.
[[nodiscard]] bool wants_json(const std::vector<std::string>& arguments);

} // namespace heddle::cli
