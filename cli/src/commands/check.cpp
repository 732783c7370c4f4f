#include "commands/commands.hpp"
namespace heddle::cli {
exit_code check_files(const check_request&, console&) { return exit_code::done; }
} // namespace heddle::cli
