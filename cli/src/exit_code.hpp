// Exit codes of the program.
#pragma once

namespace heddle::cli {

enum class exit_code : int {
    done = 0,
    failed = 1, ///< the workflow failed
    usage = 2,  ///< a mistake in the command line, the configuration or the syntax of the file
    interrupted = 130 ///< as shells report a program that Ctrl-C has ended
};

} // namespace heddle::cli
