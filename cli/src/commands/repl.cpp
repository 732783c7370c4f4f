#include "command_line/command.hpp"
#include "command_line/workflow_option_reader.hpp"
#include "repl/completion.hpp"
#include "repl/history_file.hpp"
#include "repl/repl_session.hpp"
#include "report_error.hpp"

#include <unistd.h>

namespace heddle::cli {

namespace {

struct repl_request {
    workflow_options options;       ///< the timeout is that of each evaluation
    std::vector<std::string> files; ///< evaluated before the first line is read
};

std::unique_ptr<line_reader> make_reader(host::session& session, history_file& history,
                                         signal_pipe& signals, console& output, bool interactive) {
    if (interactive) {
        editor_parts parts;
        parts.signals = &signals;
        parts.output = &output;
        parts.complete = [&session](std::string_view before) {
            return complete_word(session.realm(), repl_session::command_names(), before);
        };
        parts.history = history.load();
        parts.on_entry = [&history](std::string_view entry) { history.add(entry); };
        if (auto editor = make_terminal_editor(std::move(parts))) return editor;
    }
    return make_plain_reader(signals, output, interactive);
}

} // namespace

static exit_code run_repl(const repl_request& asked, const setup::environment& variables,
                          console& output) {
    if (asked.options.json) {
        return report_usage_error(error(errc::invalid_argument, "repl has no --json")
                                      .with_hint("heddle eval - --json reads standard input too"),
                                  true, output);
    }
    raise_open_file_limit();
    workflow_options options = asked.options;
    options.default_tasks = "tasks";
    options.is_prompt = true;
    request_capture capture;
    options.watch = &capture;
    auto tools = application::create("<repl>", options, variables, output);
    if (!tools) return report_usage_error(tools.error(), false, output);
    auto session = (*tools)->engine().new_session();
    if (!session) return report_usage_error(session.error(), false, output);

    const bool interactive = ::isatty(STDIN_FILENO) == 1 && output.traits().out_is_terminal;
    signal_pipe signals;
    evaluator runs(**tools, **session, asked.options, output, signals);
    repl_session repl(repl_session::parts{.tools = tools->get(),
                                          .session = session->get(),
                                          .runs = &runs,
                                          .output = &output,
                                          .capture = &capture,
                                          .interactive = interactive});
    history_file history(history_path(variables));

    bool loaded = true;
    for (const std::string& file : asked.files) loaded = loaded && repl.load(file);
    exit_code code = exit_code::failed;
    if (loaded || interactive) {
        if (interactive && asked.options.verbosity >= 0)
            output.out("heddle " HEDDLE_VERSION "; :help lists the commands, Ctrl-D leaves\n");
        const auto lines = make_reader(**session, history, signals, output, interactive);
        code = repl.run(*lines);
        if (code == exit_code::interrupted) output.wait_at_most(time_for_readers);
    }
    runs.close();
    return code;
}

namespace {

class repl_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("FILE", asked_.files, "Programs to evaluate first");
        limit_texts texts;
        texts.timeout = "End each evaluation after this many seconds";
        // Hidden, not left out: who tries it reads what has it.
        reader_.add_to(to, asked_.options, texts).hidden();
    }
    std::optional<std::string> mistake() override { return reader_.finish(asked_.options); }
    exit_code run(command_context context) override {
        return run_repl(asked_, context.variables, context.output);
    }

private:
    workflow_option_reader reader_;
    repl_request asked_;
};

constexpr command_row rows[] = {{
    .name = "repl",
    .summary = "Evaluate expressions line by line",
    .details =
        R"(A terminal has line editing, history, and completion of names with Tab. :help lists commands, and
(help 'map) documents a name. Ctrl-C cancels the evaluation and returns to the prompt, Ctrl-D exits.
Without a terminal there is no prompt: each expression is evaluated and its value printed; the exit
code is 1 if one failed.

Examples:
  heddle repl
  heddle repl helpers.heddle --model scripted:rules.json
  echo '(+ 1 2)' | heddle repl

Environment:
  XDG_STATE_HOME   holds heddle/history; ~/.local/state if it is not set)",
    .group = command_group::run,
    .make = &make_command<repl_work>,
}};

} // namespace

std::span<const command_row> repl_commands() noexcept { return rows; }

} // namespace heddle::cli
