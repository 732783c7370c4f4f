// `heddle render`: the request of a task, without sending it.
#include "application.hpp"
#include "command_line/command.hpp"
#include "command_line/input_options.hpp"
#include "command_line/workflow_option_reader.hpp"
#include "inputs.hpp"
#include "report_error.hpp"
#include "request_capture.hpp"
#include "run_to_end.hpp"

#include <heddle/host/session.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/machine.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/input_files.hpp>
#include <heddle/setup/json_line.hpp>
#include <heddle/setup/task_files.hpp>
#include <heddle/tasks/output/task_result.hpp>
#include <heddle/tasks/session/dispatch.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

#include <algorithm>
#include <array>

namespace heddle::cli {

namespace {

using lang::value;

struct render_request {
    workflow_options options;
    std::string task;     ///< by name or type:subtype, or a file of one template
    std::string workflow; ///< the file that defines it; empty: templates do
    input_options inputs;
    std::vector<std::string> files; ///< context of the task
    bool wire = false;              ///< the body as the service gets it
};

/// Whether a top-level form defines a name, function, task or tool, or imports. Only these forms
/// of a workflow are evaluated.
/// The name at the head of a form; empty for anything else.
std::string_view head_of(const value& form) {
    if (!form.is(lang::kind::list) || form.length() == 0) return {};
    const value& head = lang::list_items(form)[0];
    return head.is(lang::kind::symbol) ? lang::symbol_name(head) : std::string_view();
}

bool is_definition(std::string_view head) {
    static constexpr std::array<std::string_view, 5> heads{"define", "defmacro", "defatom",
                                                           "deftool", "import"};
    return std::find(heads.begin(), heads.end(), head) != heads.end();
}

/// The definitions among forms of the top level, also those inside of a progn there, in order.
std::vector<lang::datum> definitions_of(std::vector<lang::datum> forms) {
    std::vector<lang::datum> definitions;
    std::reverse(forms.begin(), forms.end());
    while (!forms.empty()) { // a stack: the next one is the last
        lang::datum next = std::move(forms.back());
        forms.pop_back();
        const std::string_view head = head_of(next.content);
        if (head == "progn" || head == "begin") {
            const auto items = lang::list_items(next.content);
            for (std::size_t i = items.size(); i > 1; --i)
                forms.push_back({items[i - 1], next.span});
        } else if (is_definition(head)) {
            definitions.push_back(std::move(next));
        }
    }
    return definitions;
}

/// The state of one rendering.
struct rendering {
    render_request asked;
    std::string text;                      ///< of the workflow
    std::optional<std::string> input_json; ///< text of a JSON object
    std::unique_ptr<host::session> session;
    request_capture capture;
    result<value> ended = value();
    exit_code on_failure = exit_code::failed;
    std::optional<captured_request> captured;
};

/// If the task is a file, adds it to the templates and selects its only template.
result<void> take_template_file(render_request& asked) {
    if (!setup::is_template_file(asked.task)) return {};
    HEDDLE_TRY(const tasks::loaded_templates loaded, setup::load_templates({{asked.task}}, {}));
    asked.options.tasks.push_back(asked.task);
    if (loaded.templates.size() == 1) {
        asked.task = loaded.templates.front().name;
        return {};
    }
    std::string names;
    for (const auto& each : loaded.templates) names += (names.empty() ? "" : ", ") + each.name;
    return error(errc::invalid_argument, asked.task + " holds " +
                                             setup::counted(loaded.templates.size(), "template") +
                                             (names.empty() ? "" : ": " + names))
        .with_hint("name one of them: heddle render NAME --tasks " + asked.task);
}

coro::task<result<void>> define_all(rendering* of, host::run_options options) {
    host::session& session = *of->session;
    const std::string& name = of->asked.workflow;
    const std::uint32_t position = session.realm().sources().add(name, of->text, 1);
    auto forms = lang::read_all(session.memory(), of->text, position);
    if (!forms) co_return std::move(forms).error();
    std::vector<lang::datum> definitions = definitions_of(*std::move(forms));
    if (definitions.empty()) co_return result<void>();
    result<value> ended = co_await session.evaluate_forms(std::move(definitions), options);
    if (!ended) co_return std::move(ended).error();
    co_return result<void>();
}

result<tasks::dispatch_request> call_of(rendering& of, host::run_options options) {
    host::session& session = *of.session;
    lang::heap& memory = session.memory();
    const auto* known = dynamic_cast<const tasks::session_tasks*>(session.operators());
    const auto* task = known ? known->registry().find(of.asked.task) : nullptr;
    if (!task) {
        std::vector<std::string> names;
        if (known) known->registry().collect_names(names);
        const std::string near = lang::suggest_names(of.asked.task, names);
        return error(errc::not_found, "there is no task '" + of.asked.task + "'")
            .with_hint(near.empty() ? "--workflow FILE or --tasks DIR names where it is defined"
                                    : near);
    }
    of.on_failure = exit_code::usage;
    HEDDLE_TRY(named_inputs inputs, read_inputs(memory, of.asked.inputs.pairs, of.input_json));
    of.on_failure = exit_code::failed;
    tasks::dispatch_request request;
    request.identifier = task->task->declared.name;
    request.options = options;
    request.params = value::empty_map();
    for (auto& [name, item] : inputs)
        request.params = lang::map_put(memory, std::move(request.params), name, std::move(item));
    if (!of.asked.files.empty()) {
        value files = value::empty_list();
        for (const std::string& file : of.asked.files)
            files = lang::list_push_back(memory, std::move(files), lang::make_string(memory, file));
        request.params =
            lang::map_put(memory, std::move(request.params), "file_context", std::move(files));
    }
    return request;
}

coro::task<void> perform(rendering* of, application* tools) {
    const host::run_options options = tools->bounds();
    of->capture.begin(); // requests of definitions are not sent either
    if (!of->asked.workflow.empty()) {
        of->on_failure = exit_code::usage;
        result<void> defined = co_await define_all(of, options);
        if (of->capture.end()) {
            defined = error(errc::invalid_argument, "a definition of " + of->asked.workflow +
                                                        " calls a model, but render sends nothing");
        }
        if (!defined) {
            of->ended = std::move(defined).error();
            co_return;
        }
        of->on_failure = exit_code::failed;
    }
    auto request = call_of(*of, options);
    if (!request) {
        of->ended = std::move(request).error();
        co_return;
    }
    of->capture.begin();
    result<value> ended = co_await tasks::dispatch(*of->session, *std::move(request));
    of->ended = std::move(ended);
    of->captured = of->capture.end();
}

coro::task<void> perform_and_close(rendering* of, application* tools) {
    co_await perform(of, tools);
    co_await tools->close();
}

/// The address of the service, without parts that may hold a secret.
std::string address_of(const application& tools, const std::string& service) {
    for (const setup::configured_service& each : tools.models().services()) {
        if (each.name == service) return setup::shown_address(each.base_url);
    }
    return {};
}

exit_code report_no_request(rendering& of, console& output) {
    const bool json = of.asked.options.json;
    if (of.ended && tasks::is_failed_result(*of.ended)) {
        of.ended = tasks::task_error_of(*of.ended);
    } else if (of.ended) {
        of.ended = error(errc::invalid_argument, "the task calls no model");
    }
    if (json || of.ended.error().code() == errc::invalid_argument)
        return report_error(of.ended.error(), of.on_failure, json, output);
    output.err_styled(of.session->render(of.ended.error(), output.err_in_colour()));
    return of.on_failure;
}

exit_code report(rendering& of, const application& tools, console& output) {
    const render_request& asked = of.asked;
    if (!of.captured) return report_no_request(of, output);
    const captured_request& captured = *of.captured;
    if (captured.task != asked.task && asked.options.verbosity >= 0 && !asked.options.json) {
        output.err("heddle: the first request is that of the task " + captured.task + "\n");
    }
    if (asked.wire) {
        if (!captured.wire) {
            return report_error(error(errc::invalid_argument,
                                      "the service '" + captured.service + "' has no wire format"),
                                exit_code::failed, asked.options.json, output);
        }
        const result<std::string>& body = *captured.wire;
        if (!body) return report_error(body.error(), exit_code::failed, asked.options.json, output);
        output.out_data(setup::json_line(*body));
        return exit_code::done;
    }
    const request_estimate estimate = estimate_of(captured, tools.prices());
    const std::string address = address_of(tools, captured.service);
    if (asked.options.json)
        output.out_data(setup::json_line(captured_json(captured, estimate, address)));
    else output.out(captured_text(captured, estimate, address));
    return exit_code::done;
}

exit_code render_task(render_request asked, const setup::environment& variables, console& output) {
    const bool json = asked.options.json;
    if (auto taken = take_template_file(asked); !taken)
        return report_usage_error(taken.error(), json, output);
    rendering work;
    workflow_options& options = asked.options;
    options.default_tasks = asked.workflow.empty() ? "tasks" : setup::tasks_beside(asked.workflow);
    options.watch = &work.capture;
    options.without_keys = true;
    options.cache = false; // a kept response would hide the request
    options.prints_to_error = true;
    options.many_rows = true; // ask_user fails
    if (!asked.workflow.empty()) {
        auto text = setup::read_input_file(asked.workflow);
        if (!text) return report_usage_error(text.error(), json, output);
        work.text = *std::move(text);
    }
    auto object = read_input_json(asked.inputs);
    if (!object) return report_usage_error(object.error(), json, output);
    work.input_json = *std::move(object);
    const std::string name = asked.workflow.empty() ? "<render>" : asked.workflow;
    auto tools = application::create(name, options, variables, output);
    if (!tools) return report_usage_error(tools.error(), json, output);
    work.asked = std::move(asked);
    auto session = (*tools)->engine().new_session();
    if (!session) return report_usage_error(session.error(), json, output);
    work.session = *std::move(session);

    {
        const console::loop_time looping(output);
        run_to_end((*tools)->loop(), perform_and_close(&work, tools->get()));
    }
    const exit_code code = report(work, **tools, output);
    work.ended = value();
    work.session.reset(); // before the parts that it uses
    return code;
}

class render_work final : public command {
public:
    void add_options(option_list& to) override {
        workflow_options& options = asked_.options;
        to.argument("TASK", asked_.task,
                    "Task by name or type:subtype, or a file with one template")
            .required();
        add_input_options(to, asked_.inputs, "the task");
        to.option("-f,--file", asked_.files, "File for the context of the task; repeatable")
            .value("PATH");
        to.group("Model");
        to.option("-m,--model", options.model,
                  "Model, unless the task names one [HEDDLE_MODEL]; it needs no key here")
            .value("PROVIDER:MODEL");
        add_base_url_option(to, options.base_url);
        to.group("Files");
        to.option("--workflow", asked_.workflow, "Workflow that defines the task").value("FILE");
        add_tasks_option(to, options.tasks);
        to.option("-w,--workspace", options.workspace, "Directory whose files a task may use")
            .show_default()
            .value("DIR");
        add_config_option(to, options.config);
        to.group("Output");
        const option_ref wire =
            to.flag("--wire", asked_.wire,
                    "Print the body that the service would receive, without headers");
        to.flag("--json", options.json,
                "Print the request and its estimates as JSON on standard output")
            .excludes(wire);
        verbosity_.add_to(to);
    }
    std::optional<std::string> mistake() override {
        if (auto wrong = verbosity_.mistake()) return wrong;
        asked_.options.verbosity = verbosity_.verbosity();
        if (asked_.task.starts_with("(")) return "TASK is the name of a task, not an expression";
        return std::nullopt;
    }
    exit_code run(command_context context) override {
        return render_task(asked_, context.variables, context.output);
    }

private:
    verbosity_options verbosity_;
    render_request asked_;
};

constexpr command_row rows[] = {{
    .name = "render",
    .summary = "Show the request of a task without sending it",
    .details =
        R"(Prints the first request that the task would send with these inputs: service, model, settings,
system prompt, messages, tools and schema, with an estimate of its tokens and cost. No service is
called, and no key is needed. Only the definitions of a workflow are evaluated.

Examples:
  heddle render summarise --input text="A long story." --model openai:gpt-4o-mini
  heddle render judge --workflow classify.heddle -i text="I love it." -m anthropic:claude-haiku-4-5
  heddle render tasks/review.xml --file src/main.cpp --json
  heddle render summarise -i text=x -m openai:gpt-4o-mini --wire | jq .messages

Exit codes: 0 success, 1 there is no such task or no request, 2 usage or syntax error.)",
    .group = command_group::run,
    .make = &make_command<render_work>,
}};

} // namespace

std::span<const command_row> render_commands() noexcept { return rows; }

} // namespace heddle::cli
