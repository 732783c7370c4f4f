// `heddle completion`
#include "command_line/command.hpp"
#include "command_line/command_line.hpp"
#include "report_error.hpp"

namespace heddle::cli {

namespace {

class completion_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("SHELL", shell_, "bash, zsh or fish").required();
    }
    exit_code run(command_context context) override {
        const std::string script = completion_script(shell_, context.program.help());
        if (script.empty()) {
            return report_usage_error(error(errc::invalid_argument,
                                            "there is no completion for the shell '" + shell_ + "'")
                                          .with_hint("there is one for bash, zsh and fish"),
                                      false, context.output);
        }
        context.output.out_data(script);
        return exit_code::done;
    }

private:
    std::string shell_;
};

constexpr command_row rows[] = {{
    .name = "completion",
    .summary = "Print a completion script for a shell",
    .details = R"(The script completes commands, options and arguments: commands, shells and files.

Examples:
  source <(heddle completion bash)
  heddle completion zsh > "${fpath[1]}/_heddle"
  heddle completion fish > ~/.config/fish/completions/heddle.fish)",
    .group = command_group::other,
    .make = &make_command<completion_work>,
}};

} // namespace

std::span<const command_row> completion_commands() noexcept { return rows; }

} // namespace heddle::cli
