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

exit_code tell_end(const early_end& end, bool json, console& output) {
    if (end.code == exit_code::done) {
        output.out(json && !end.json.empty() ? end.json : end.text);
        return end.code;
    }
    if (json && !end.mistake.empty()) {
        return tell_error(error(errc::invalid_argument, end.mistake).with_hint(end.hint), end.code,
                          true, output);
    }
    output.err(end.text);
    return end.code;
}

exit_code run_command(std::vector<std::string> arguments, bool json, const environment& variables,
                      console& output) {
    const auto parsed = parse_arguments(std::move(arguments));
    if (const auto* end = std::get_if<early_end>(&parsed)) return tell_end(*end, json, output);
    return std::visit(runner{variables, output}, std::get<request>(parsed));
}

} // namespace

exit_code run_program(std::vector<std::string> arguments, const environment& variables,
                      console& output) {
    const bool json = wants_json(arguments);
    exit_code code = exit_code::done;
    try {
        code = run_command(std::move(arguments), json, variables, output);
    } catch (const std::exception& bug) {
        return tell_error(error(errc::internal, std::string("internal error: ") + bug.what()),
                          exit_code::failed, json, output);
    }
    if (output.flush() || code != exit_code::done) return code;
    return tell_error(error(errc::io_error, std::string(output_lost_message)), exit_code::failed,
                      json, output);
}

} // namespace heddle::cli
