#include "command_line/command.hpp"
#include "command_line/workflow_option_reader.hpp"
#include "commands/evaluation.hpp"
#include "report_error.hpp"

#include <heddle/setup/input_files.hpp>

namespace heddle::cli {

namespace {

struct eval_request {
    workflow_options options;
    std::string expression; ///< "-": standard input
};

} // namespace

static exit_code eval_expression(const eval_request& asked, const setup::environment& variables,
                                 console& output) {
    program source;
    source.name = "<expr>";
    source.text = asked.expression;
    source.prints_written_form = true;
    if (asked.expression == "-") {
        auto text = setup::read_input_file("-");
        if (!text) return report_usage_error(text.error(), asked.options.json, output);
        source.name = "<stdin>";
        source.text = *std::move(text);
    }
    return evaluate_program(std::move(source), asked.options, variables, output);
}

namespace {

class eval_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("EXPR", asked_.expression, "The program; - for standard input").required();
        reader_.add_to(to, asked_.options);
    }
    std::optional<std::string> mistake() override { return reader_.finish(asked_.options); }
    exit_code run(command_context context) override {
        return eval_expression(asked_, context.variables, context.output);
    }

private:
    workflow_option_reader reader_;
    eval_request asked_;
};

constexpr command_row rows[] = {{
    .name = "eval",
    .summary = "Evaluate an expression and print its written form",
    .details = R"(Examples:
  heddle eval '(map (lambda (x) (* x x)) (list 1 2 3))'
  heddle eval '(dict "a" 1)' --json
  heddle eval - < program.heddle

Exit codes: the same as for heddle run.)",
    .group = command_group::run,
    .make = &make_command<eval_work>,
}};

} // namespace

std::span<const command_row> eval_commands() noexcept { return rows; }

} // namespace heddle::cli
