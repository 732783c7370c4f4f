// Commands of the program.
#pragma once

#include "command_line/option_list.hpp"
#include "console.hpp"
#include "exit_code.hpp"

#include <heddle/setup/environment.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace heddle::cli {

class command_line;

/// The context in which a command runs.
struct command_context {
    const setup::environment& variables;
    console& output;
    const command_line& program; ///< for commands about the command line itself
};

/// The options and the work of one command. Created for each start of the program.
class command {
public:
    virtual ~command() = default;
    /// Declares the options; they are stored in this object.
    virtual void add_options(option_list& to) = 0;
    /// Checks values that depend on each other. Result: the mistake; nothing if there is none.
    [[nodiscard]] virtual std::optional<std::string> mistake() { return std::nullopt; }
    [[nodiscard]] virtual exit_code run(command_context context) = 0;
};

struct replay_request;

/// A command whose runs can be replayed.
class replayable_command {
public:
    virtual ~replayable_command() = default;
    /// Replays a row of a run that the command, with the options that it was given, has started.
    /// `asked.run`: the folder.
    [[nodiscard]] virtual exit_code replay(const replay_request& asked,
                                           command_context context) = 0;
};

/// The section of the help that lists a command.
enum class command_group : std::uint8_t { run, write, models, other, hidden };

/// A command. To add one, write a file in commands/ with its rows and a function that returns them,
/// named after the file: `std::span<const command_row> check_commands() noexcept` in check.cpp. The
/// build collects them.
struct command_row {
    std::string_view name;    ///< "run", "model serve": a space separates a command from its parent
    std::string_view summary; ///< an imperative with an object, without a period
    std::string_view details; ///< below the options of --help: paragraphs, "Examples:", exit codes
    command_group group = command_group::other;
    std::unique_ptr<command> (*make)() = nullptr; ///< null: a parent, which cannot run itself
};

/// Creates a command of that type, for command_row::make.
template <class Command>
[[nodiscard]] std::unique_ptr<command> make_command() {
    return std::make_unique<Command>();
}

} // namespace heddle::cli
