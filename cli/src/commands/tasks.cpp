// `heddle tasks`
#include "command_line/command.hpp"
#include "command_line/workflow_option_reader.hpp"
#include "logging.hpp"
#include "report_error.hpp"
#include "starter_template.hpp"
#include "table.hpp"
#include "template_text.hpp"

#include <heddle/fs/local_tree.hpp>
#include <heddle/http/client.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/setup/config/config_file.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/input_files.hpp>
#include <heddle/setup/json_line.hpp>
#include <heddle/setup/model_setup.hpp>
#include <heddle/setup/services/client_options.hpp>
#include <heddle/setup/task_files.hpp>
#include <heddle/tasks/definition/task_registry.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace heddle::cli {

namespace {

enum class tasks_action : std::uint8_t { list, show, match, check, make };

/// Looks at task templates without running them.
struct tasks_request {
    tasks_action what = tasks_action::list;
    std::string name;                  ///< to show or to make
    std::string text;                  ///< to match
    std::vector<std::string> files;    ///< to check
    std::vector<std::string> folders;  ///< --tasks
    std::optional<std::string> output; ///< of new: the file, "-": standard output
    double threshold = 0.1;
    std::size_t limit = 10;
    bool strict = false;
    bool json = false;
};

namespace json = boost::json;

[[nodiscard]] unsigned columns_of(const console& output) {
    return output.traits().out_is_terminal ? output.traits().columns : 0;
}

[[nodiscard]] std::string inputs_text(const tasks::task_template& one) {
    if (!one.declares_inputs) return "any";
    std::string text;
    for (const tasks::task_input& input : one.inputs) {
        text += (text.empty() ? "" : ", ") + input.name + (input.optional ? "?" : "");
    }
    return text;
}

/// The templates that the options name.
[[nodiscard]] result<tasks::loaded_templates> load(const tasks_request& asked) {
    std::vector<setup::template_place> places = setup::named_templates(asked.folders);
    if (places.empty()) {
        if (!setup::has_templates("tasks")) {
            return error(errc::not_found, "there is no directory tasks/ with templates here")
                .with_hint("name one with --tasks DIR, or begin with: heddle tasks new NAME");
        }
        places.push_back(setup::found_templates("tasks"));
    }
    return setup::load_templates(places, {});
}

/// A registry over the templates; they were checked.
void fill(tasks::task_registry& registry, const tasks::loaded_templates& loaded) {
    for (const tasks::task_template& one : loaded.templates) {
        if (auto code = tasks::compile_task(one)) registry.add({*std::move(code), {}});
    }
}

exit_code list(const tasks_request& asked, const tasks::loaded_templates& loaded, console& output) {
    std::vector<const tasks::task_template*> all;
    for (const tasks::task_template& one : loaded.templates) all.push_back(&one);
    std::sort(all.begin(), all.end(),
              [](const auto* left, const auto* right) { return left->name < right->name; });
    if (asked.json) {
        json::array items;
        for (const auto* one : all) items.push_back(template_json(*one));
        output.out_data(setup::json_line(items));
        return exit_code::done;
    }
    table rows;
    for (const char* heading : {"name", "kind", "inputs", "description", "file"}) {
        (void)rows.column(heading);
    }
    for (const auto* one : all) {
        rows.add({one->name, one->type + ":" + one->subtype, inputs_text(*one), one->description,
                  one->source});
    }
    output.out(rows.text(columns_of(output)));
    return exit_code::done;
}

exit_code show(const tasks_request& asked, const tasks::loaded_templates& loaded, console& output) {
    tasks::task_registry registry;
    fill(registry, loaded);
    const tasks::registered_task* found = registry.find(asked.name);
    if (!found) {
        std::vector<std::string> names;
        registry.collect_names(names);
        return report_error(error(errc::not_found, "there is no template '" + asked.name + "'")
                                .with_hint(lang::suggest_names(asked.name, names)),
                            exit_code::failed, asked.json, output);
    }
    const tasks::task_template& one = found->task->declared;
    output.out(asked.json ? setup::json_line(template_json(one)) : template_text(one));
    return exit_code::done;
}

exit_code match(const tasks_request& asked, const tasks::loaded_templates& loaded,
                console& output) {
    tasks::task_registry registry;
    fill(registry, loaded);
    auto found = registry.find_matching_tasks(asked.text, asked.threshold);
    // heddle-check: allow cut-text (a list)
    found.resize(std::min(found.size(), asked.limit));
    if (asked.json) {
        json::array list;
        for (const tasks::matching_task& each : found) {
            const tasks::task_template& one = each.found->task->declared;
            list.push_back(json::object{{"name", one.name},
                                        {"score", each.score},
                                        {"kind", one.type + ":" + one.subtype},
                                        {"description", one.description}});
        }
        output.out_data(setup::json_line(list));
    } else if (found.empty()) {
        output.err("no template shares enough words with that text\n");
    } else {
        table rows;
        for (const char* heading : {"score", "name", "description"}) (void)rows.column(heading);
        for (const tasks::matching_task& each : found) {
            char score[16];
            std::snprintf(score, sizeof score, "%.3f", each.score);
            const tasks::task_template& one = each.found->task->declared;
            rows.add({score, one.name, one.description});
        }
        output.out(rows.text(columns_of(output)));
    }
    return found.empty() ? exit_code::failed : exit_code::done;
}

/// The models that a run in this folder would know. Nothing is asked of them.
class known_models {
public:
    known_models(setup::configuration found, const setup::environment& variables, console& output)
        : settings_(std::move(found)), log_(make_console_log(output, level_for(0))),
          http_(http::make_http_client(loop_,
                                       setup::client_options(settings_.http, variables, *log_))),
          workers_(fs::make_worker_pool(loop_, 1)), consents_(setup::consents_of(variables)),
          setup_(setup::set_up_models(
              {request_, settings_, variables, loop_, *http_, *workers_, *log_, &consents_})) {}

    [[nodiscard]] const result<std::unique_ptr<setup::model_setup>>& setup() const {
        return setup_;
    }

private:
    setup::service_request request_;
    setup::configuration settings_;
    std::unique_ptr<log_port> log_;
    boost::asio::io_context context_{1};
    coro::event_loop loop_{context_};
    std::shared_ptr<ports::http_port> http_;
    std::unique_ptr<ports::worker_port> workers_;
    setup::consent_store consents_;
    result<std::unique_ptr<setup::model_setup>> setup_;
};

/// With --strict templates are held to the models that are configured.
std::unique_ptr<known_models> models_for(const tasks_request& asked,
                                         const setup::environment& variables,
                                         tasks::template_load_options& options, console& output) {
    if (!asked.strict) return nullptr;
    const setup::consent_store consents = setup::consents_of(variables);
    auto settings = setup::find_config({{}, ".", variables.config_folder(), &consents});
    std::unique_ptr<known_models> object;
    if (settings) object = std::make_unique<known_models>(*std::move(settings), variables, output);
    if (!settings || !object->setup()) {
        const error failure = settings ? object->setup().error() : settings.error();
        output.err("heddle: models are not checked: " + failure.message() + "\n");
        return nullptr;
    }
    const tasks::model_registry& registry = (*object->setup())->registry();
    if (!registry.empty()) {
        options.validation.model_problem = [&registry](std::string_view model,
                                                       std::string_view provider) {
            return registry.doubt_about(model, provider).value_or("");
        };
    }
    return object;
}

exit_code check(const tasks_request& asked, const setup::environment& variables, console& output) {
    tasks::template_load_options options;
    const auto models = models_for(asked, variables, options, output);
    tasks::template_loader loader(std::move(options));
    std::vector<std::string> paths = asked.files;
    paths.insert(paths.end(), asked.folders.begin(), asked.folders.end());
    if (std::erase(paths, "-") != 0) {
        auto text = setup::read_input_file("-");
        if (!text) return report_usage_error(text.error(), asked.json, output);
        loader.add("<stdin>", *std::move(text));
    }
    auto files = setup::template_files(setup::named_templates(paths));
    if (!files) return report_usage_error(files.error(), asked.json, output);
    for (const setup::template_place& file : *files) {
        auto text = setup::read_input_file(file.path); // a stream, too: it is read once
        if (!text) return report_usage_error(text.error(), asked.json, output);
        loader.add(file.path, *std::move(text));
    }
    const tasks::loaded_templates loaded = std::move(loader).finish();
    const tasks::template_report& report = *loaded.report;
    diagnostic_style style;
    style.colour = output.traits().out_is_terminal && output.traits().colour;
    if (asked.json) output.out_data(setup::json_line(report.json()));
    else if (!report.problems.empty()) output.out_styled(report.text(style));
    else {
        output.out(setup::counted(loaded.templates.size(), "template") + ", " +
                   setup::counted(loaded.calls.size(), "call") + ", no mistakes\n");
    }
    const bool bad = report.errors() != 0 || (asked.strict && report.warnings() != 0);
    return bad ? exit_code::failed : exit_code::done;
}

exit_code make(const tasks_request& asked, console& output) {
    if (!tasks::is_task_name(asked.name) || asked.name.find_first_of("/<&") != std::string::npos) {
        return report_usage_error(
            error(errc::invalid_argument, "'" + asked.name + "' cannot name a template")
                .with_hint("a name is one word without brackets, quotes and slashes"),
            asked.json, output);
    }
    const std::string text = starter_template(asked.name);
    if (asked.output == "-") {
        output.out_data(text);
        return exit_code::done;
    }
    namespace fs = std::filesystem;
    const fs::path file =
        asked.output ? fs::path(*asked.output) : fs::path("tasks") / (asked.name + ".xml");
    std::error_code failed;
    if (!file.parent_path().empty()) fs::create_directories(file.parent_path(), failed);
    if (failed) {
        return report_usage_error(error(errc::io_error, file.parent_path().string() +
                                                            " cannot be made: " + failed.message()),
                                  asked.json, output);
    }
    if (auto written = setup::write_new_file(file.string(), text); !written) {
        return report_usage_error(written.error(), asked.json, output);
    }
    if (asked.json) {
        output.out_data(setup::json_line(json::object{{"file", file.string()}}));
    } else {
        output.out("wrote " + file.string() + "; try: heddle call " + asked.name +
                   " text=\"…\" --tasks " + file.string() + "\n");
    }
    return exit_code::done;
}

exit_code look_at_tasks(const tasks_request& asked, const setup::environment& variables,
                        console& output) {
    if (asked.what == tasks_action::check) return check(asked, variables, output);
    if (asked.what == tasks_action::make) return make(asked, output);
    // A program that reads the list needs no advice how to begin.
    const bool is_empty_list = asked.what == tasks_action::list && asked.json &&
                               asked.folders.empty() && !setup::has_templates("tasks");
    if (is_empty_list) return list(asked, {}, output);
    auto loaded = load(asked);
    if (!loaded) return report_usage_error(loaded.error(), asked.json, output);
    switch (asked.what) {
    case tasks_action::show: return show(asked, *loaded, output);
    case tasks_action::match: return match(asked, *loaded, output);
    default: return list(asked, *loaded, output);
    }
}

class tasks_work : public command {
public:
    explicit tasks_work(tasks_action what) { asked_.what = what; }
    void add_options(option_list& to) override {
        add_own(to);
        if (asked_.what != tasks_action::make) add_tasks_option(to, asked_.folders);
        to.flag("--json", asked_.json, "Print JSON on standard output");
    }
    exit_code run(command_context context) override {
        return look_at_tasks(asked_, context.variables, context.output);
    }

protected:
    virtual void add_own(option_list&) {}
    tasks_request asked_;
};

class tasks_list_work final : public tasks_work {
public:
    tasks_list_work() : tasks_work(tasks_action::list) {}
};

class tasks_show_work final : public tasks_work {
public:
    tasks_show_work() : tasks_work(tasks_action::show) {}

private:
    void add_own(option_list& to) override {
        to.argument("NAME", asked_.name, "Name or type:subtype of the template").required();
    }
};

class tasks_match_work final : public tasks_work {
public:
    tasks_match_work() : tasks_work(tasks_action::match) {}

private:
    void add_own(option_list& to) override {
        to.argument("TEXT", asked_.text, "Description of what to do").required();
        to.option("--threshold", asked_.threshold, "Minimum score, from 0 to 1")
            .show_default()
            .value("X")
            .range(0, 1);
        to.option("--limit", asked_.limit, "Maximum number of results")
            .show_default()
            .value("N")
            .range(1, 10'000);
    }
};

class tasks_check_work final : public tasks_work {
public:
    tasks_check_work() : tasks_work(tasks_action::check) {}

private:
    void add_own(option_list& to) override {
        to.argument("FILE", asked_.files, "Files or directories; - for standard input").required();
        to.flag("--strict", asked_.strict, "Treat warnings as errors");
    }
};

class tasks_new_work final : public tasks_work {
public:
    tasks_new_work() : tasks_work(tasks_action::make) {}

private:
    void add_own(option_list& to) override {
        to.argument("NAME", asked_.name, "Name of the template").required();
        to.option("-o,--output", asked_.output,
                  "File to write, which must not exist; default tasks/NAME.xml, - for standard "
                  "output")
            .value("FILE");
    }
};

constexpr command_row rows[] = {
    {.name = "tasks",
     .summary = "List, show, check and create task templates",
     .details =
         R"(Templates are XML files below the directories that --tasks names; without --tasks, below tasks/.
docs/reference/templates.md describes them.

Examples:
  heddle tasks list
  heddle tasks show summarise --tasks library
  heddle tasks match "make this text shorter"
  heddle tasks check tasks/*.xml
  heddle tasks new summarise

Exit codes: 0 success, 1 a template has mistakes, nothing matches, or there is no such template,
2 usage, or a file that cannot be read.)",
     .group = command_group::write},
    {.name = "tasks list",
     .summary = "List task templates",
     .details = {},
     .group = command_group::write,
     .make = &make_command<tasks_list_work>},
    {.name = "tasks show",
     .summary = "Show one template in full",
     .details = {},
     .group = command_group::write,
     .make = &make_command<tasks_show_work>},
    {.name = "tasks match",
     .summary = "List the templates that match a text, best first",
     .details = {},
     .group = command_group::write,
     .make = &make_command<tasks_match_work>},
    {.name = "tasks check",
     .summary = "Find mistakes in files of templates",
     .details = {},
     .group = command_group::write,
     .make = &make_command<tasks_check_work>},
    {.name = "tasks new",
     .summary = "Write a new template",
     .details = {},
     .group = command_group::write,
     .make = &make_command<tasks_new_work>},
};

} // namespace

std::span<const command_row> tasks_commands() noexcept { return rows; }

} // namespace heddle::cli
