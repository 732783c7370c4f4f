// What a port, its starter and its keepers say to one another (docs/adr/0009).
#pragma once

#include <cstdint>

namespace heddle::process {

/// To the starter, with the control socket of a keeper that it is to fork.
struct keeper_wish {
    std::uint32_t version = 1;
};
constexpr unsigned wish_descriptors = 1;

/// To a keeper that has nothing to do, with descriptors: image, directory, input, output, errors.
struct start_message {
    std::uint64_t image_bytes = 0;
    std::uint32_t in_terminal = 0;    ///< a program that the terminal stops is sent on
    std::uint32_t takes_terminal = 0; ///< its group becomes the foreground of its input
};
constexpr unsigned start_descriptors = 5;

/// The beginning of an image: what a program is started with, as memory that a keeper maps. Behind
/// it come the slots for the pointers of execve (arguments, null, variables, null), then the texts,
/// each with its zero: the program's file, its arguments, its variables.
struct image_header {
    std::uint64_t argument_count = 0;
    std::uint64_t variable_count = 0;
};

enum class keeper_event : std::int32_t {
    kept,    ///< by the starter: there is a keeper
    started, ///< value: the program's number, which is that of its group
    failed,  ///< value: errno of what could not be done; the keeper has nothing to do again
    exited,  ///< value: the exit code
    killed,  ///< value: the signal that ended it
    finished ///< nothing of the program is left; the keeper has nothing to do again
};
/// To the port. The end of the stream means that the keeper was killed, or could not kill
/// something.
struct keeper_report {
    keeper_event what = keeper_event::kept;
    std::int32_t value = 0;
    std::int32_t keeper = 0; ///< the keeper's own number
};

enum class keeper_order : std::int32_t {
    signal, ///< the program's group and what has come to the keeper from it
    finish  ///< kill what is left. The end of the stream means the same, and that that was all
};
/// To a keeper that has started a program.
struct keeper_command {
    keeper_order what = keeper_order::finish;
    std::int32_t signal = 0;
};

} // namespace heddle::process
