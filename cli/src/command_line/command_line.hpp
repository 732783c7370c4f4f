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

/// The command line asks for no work: help, the version, or it has a mistake.
struct early_end {
    exit_code code = exit_code::done;
    std::string text;    ///< for standard output when done, else for standard error
    std::string mistake; ///< the same in parts: what is wrong,
    std::string hint;    ///< and where to look; empty when there is none
};

/// All commands with their options. Threads: one.
class command_line {
public:
    /// `rows`: outlive the object.
    explicit command_line(std::span<const command_row* const> rows);
    ~command_line();
    command_line(const command_line&) = delete;
    command_line& operator=(const command_line&) = delete;

    /// Reads the arguments, without the name of the program, once. Result: the command, which
    /// belongs to this object. `columns`: the width for help.
    [[nodiscard]] std::variant<command*, early_end> parse(std::vector<std::string> arguments,
                                                          unsigned columns);
    /// The help of all commands, the program's first. Hidden commands are left out.
    [[nodiscard]] std::vector<command_help> help() const;

private:
    struct entry;
    class state;
    std::unique_ptr<state> state_;
};

/// The rows of the program, in the order of their names.
[[nodiscard]] std::span<const command_row* const> all_commands() noexcept;

/// Whether the arguments ask for JSON, also where they cannot be read.
[[nodiscard]] bool wants_json(const std::vector<std::string>& arguments);

} // namespace heddle::cli
