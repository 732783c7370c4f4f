// Exit codes of the program.
#pragma once

#include <array>
#include <string_view>

namespace heddle::cli {

enum class exit_code : int {
    done = 0,
    failed = 1,      ///< the workflow failed
    usage = 2,       ///< a mistake in the command line, the configuration or the syntax of the file
    rows_failed = 3, ///< a batch has done all of its rows, and some have failed
    rows_left = 4,   ///< a batch has stopped before all of its rows were done
    rows_wait = 5,   ///< the rows of a batch that are left wait for batches of their services
    interrupted = 130 ///< as shells report a program that Ctrl-C has ended
};

/// A code, and how the help of the program names it.
struct exit_code_row {
    exit_code code;
    std::string_view meaning;
};

/// All of them.
inline constexpr std::array<exit_code_row, 7> exit_code_rows{{
    {exit_code::done, "success"},
    {exit_code::failed, "the workflow failed"},
    {exit_code::usage, "usage or syntax error"},
    {exit_code::rows_failed, "some rows of a batch have no result"},
    {exit_code::rows_left, "a batch stopped early with rows left"},
    {exit_code::rows_wait, "the rest waits for batches of the services"},
    {exit_code::interrupted, "interrupted"},
}};

} // namespace heddle::cli
