#include "commands/commands.hpp"

#include <exception>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    using namespace heddle::cli;
    console output(stdout, stderr, console_traits::of_process());
    try {
        std::vector<std::string> arguments(argv + 1, argv + argc);
        const auto variables = environment::of_process();
        return static_cast<int>(run_program(std::move(arguments), variables, output));
    } catch (const std::exception& bug) {
        output.err(std::string("heddle: internal error: ") + bug.what() + "\n");
        return static_cast<int>(exit_code::failed);
    }
}
