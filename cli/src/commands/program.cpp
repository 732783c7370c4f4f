#include "commands/commands.hpp"
#include "commands/evaluation.hpp"

namespace heddle::cli {

namespace {

struct runner {
    const environment& variables;
    console& output;

    exit_code operator()(const run_request& asked) const {
        return run_file(asked, variables, output);
    }
    exit_code operator()(const eval_request& asked) const {
        return eval_expression(asked, variables, output);
    }
    exit_code operator()(const call_request& asked) const {
        return call_by_name(asked, variables, output);
    }
    exit_code operator()(const tasks_request& asked) const {
        return look_at_tasks(asked, variables, output);
    }
    exit_code operator()(const repl_request& asked) const {
        return run_repl(asked, variables, output);
    }
    exit_code operator()(const reference_request& asked) const {
        return write_reference(asked, output);
    }
    exit_code operator()(const index_request& asked) const { return index_folder(asked, output); }
    exit_code operator()(const serve_request& asked) const { return serve_model(asked, output); }
    exit_code operator()(const format_request& asked) const { return format_files(asked, output); }
    exit_code operator()(const dump_request& asked) const { return dump_program(asked, output); }
    exit_code operator()(const models_request& asked) const {
        return list_models(asked, variables, output);
    }
    exit_code operator()(const cache_request& asked) const {
        return manage_cache(asked, variables, output);
    }
    exit_code operator()(const trust_request& asked) const {
        return manage_trust(asked, variables, output);
    }
    exit_code operator()(const check_request& asked) const { return check_files(asked, output); }
};

} // namespace

exit_code run_program(std::vector<std::string> arguments, const environment& variables,
                      console& output) {
    const auto parsed = parse_arguments(std::move(arguments));
    exit_code code = exit_code::done;
    if (const auto* end = std::get_if<early_end>(&parsed)) {
        code = end->code;
        if (code == exit_code::done) output.out(end->text);
        else output.err(end->text);
    } else {
        code = std::visit(runner{variables, output}, std::get<request>(parsed));
    }
    if (!output.flush() && code == exit_code::done) {
        output.err("heddle: " + std::string(output_lost_message) + "\n");
        code = exit_code::failed;
    }
    return code;
}

} // namespace heddle::cli
