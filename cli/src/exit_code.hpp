// Exit codes of the program.
#pragma once

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

} // namespace heddle::cli
