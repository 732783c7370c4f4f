// Child processes as tools run them.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::ports {

enum class process_errc : int {
    ok = 0,
    not_found,        ///< no such program on PATH
    not_permitted,    ///< found, but cannot be executed
    bad_directory,    ///< cwd is not a directory, or outside the workspace
    start_failed,     ///< the system could not start it for another reason
    invalid_argument, ///< an empty command, a NUL in an argument, a bad name of a variable
    too_long,         ///< arguments and environment exceed the limit of the system
    status_lost       ///< it has ended, but its exit status was taken by other code
};

[[nodiscard]] const boost::system::error_category& process_category() noexcept;
[[nodiscard]] inline boost::system::error_code make_error_code(process_errc code) noexcept {
    return {static_cast<int>(code), process_category()};
}

enum class process_io : std::uint8_t {
    captured, ///< input from `input`, output kept
    terminal  ///< standard streams of this process: the child owns the terminal while it runs
};

struct process_request {
    std::vector<std::string> arguments; ///< program first; looked up on PATH unless it has a slash
    bool through_shell = false;         ///< arguments holds one command line for /bin/sh -c
    std::string input;                  ///< written to its standard input, which is then closed
    std::string directory;              ///< relative to the workspace; empty: the workspace
    std::vector<std::pair<std::string, std::string>> environment; ///< added to the inherited ones
    std::vector<std::string> secrets; ///< names of withheld variables that this child may inherit
    std::size_t max_output = 1024 * 1024; ///< of each stream; the rest is read and dropped
    std::chrono::milliseconds timeout{
        0}; ///< 0: none; then the group is ended, and that is a result
    std::chrono::milliseconds grace{500}; ///< between SIGTERM and SIGKILL of the group
    process_io io = process_io::captured;
};

struct process_result {
    int exit_code = 0;      ///< 128 + signal when a signal ended it
    int signal = 0;         ///< 0: it ended by itself
    bool timed_out = false; ///< it was ended because request.timeout had passed
    std::string out;        ///< bytes as received
    std::string err;
    std::uint64_t out_dropped = 0; ///< bytes beyond max_output
    std::uint64_t err_dropped = 0;
    std::chrono::nanoseconds elapsed{0};
};

/// Runs programs, each in a process group of its own. Threads: its shard's only.
class process_port {
public:
    virtual ~process_port() = default;
    /// Waits until the program has ended and its output is read. A non-zero exit code is a result.
    /// Processes that the program leaves in its group are ended. Errors: process_errc; cancelled,
    /// by request or by deadline of the context. Cancellation: the whole group is ended (SIGTERM,
    /// after `grace` SIGKILL) and the program reaped before the call returns.
    [[nodiscard]] virtual coro::task<result<process_result>> run(process_request request,
                                                                 coro::call_context context) = 0;
};

} // namespace heddle::ports

namespace boost::system {
template <>
struct is_error_code_enum<heddle::ports::process_errc> : std::true_type {};
} // namespace boost::system
