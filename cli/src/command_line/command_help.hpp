// The description of a command for help, the manual page and shell completion.
#pragma once

#include "command_line/command.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

struct option_help {
    std::vector<std::string> names; ///< "-m", "--model"; the only name of an argument: "FILE"
    std::string value;              ///< "N", "FILE"; empty: a flag, or an argument
    std::string description;
    std::string group;
    std::string default_value; ///< empty: not shown
    bool is_argument = false;  ///< positional
    bool required = false;
    bool repeatable = false;
};

struct command_help {
    std::string name; ///< "heddle", "heddle model serve"
    std::string summary;
    std::string details;
    command_group group = command_group::other;
    std::vector<option_help> options;  ///< arguments first
    std::vector<std::string> children; ///< last words of the names of its commands
};

/// "Usage: heddle run [OPTIONS] FILE"
[[nodiscard]] std::string usage_line(const command_help& of);

/// The text of --help, wrapped to `columns` (at least 60). `all`: for the summaries of its
/// commands.
[[nodiscard]] std::string help_text(const command_help& of, const std::vector<command_help>& all,
                                    unsigned columns);

/// A manual page in roff for section 1, of all commands.
[[nodiscard]] std::string man_page(const std::vector<command_help>& all);

/// A script for "bash", "zsh" or "fish"; empty for another shell.
[[nodiscard]] std::string completion_script(std::string_view shell,
                                            const std::vector<command_help>& all);

} // namespace heddle::cli
