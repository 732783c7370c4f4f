#include "options.hpp"

#include "quantity.hpp"

#include "usage_text.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/lang/realm.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::cli {

namespace {

/// CLI11 takes an empty text for no option at all: the bound would be left out.
std::string needs_a_number(const std::string& text) { return text.empty() ? "needs a number" : ""; }

std::string is_a_count(const std::string& text) {
    constexpr std::size_t max_digits = 19; // of what fits into 64 bits
    const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), ascii::is_digit);
    return digits && text.size() <= max_digits ? "" : "needs a whole number that is not negative";
}

/// Holds CLI11's view of the program and the requests that it fills.
class command_line {
public:
    command_line() : app_("Runs workflows of LLM calls.", "heddle") {
        app_.set_version_flag("--version", std::string("heddle ") + HEDDLE_VERSION);
        app_.require_subcommand(1);
        app_.footer(std::string(program_footer));
        set_up_run();
        set_up_eval();
        set_up_call();
        set_up_tasks();
        set_up_check();
        set_up_fmt();
        set_up_dump();
        set_up_repl();
        set_up_model();
        set_up_index();
        set_up_models();
        set_up_cache();
        set_up_trust();
        set_up_reference();
    }

    std::variant<request, early_end> parse(std::vector<std::string> arguments) {
        if (arguments.empty()) return early_end{exit_code::usage, app_.help(), {}, {}};
        std::reverse(arguments.begin(), arguments.end()); // as CLI11 wants them
        try {
            app_.parse(std::move(arguments));
        } catch (const CLI::CallForVersion& asked) {
            return early_end{exit_code::done,
                             std::string(asked.what()) + "\n",
                             {},
                             {},
                             std::string(R"({"version":")") + HEDDLE_VERSION + "\"}\n"};
        } catch (const CLI::Success&) { // --help
            CLI::App& asked = innermost();
            return early_end{exit_code::done, asked.help(full_name(asked.get_parent())), {}, {}};
        } catch (const CLI::ExtrasError&) {
            return mistake(about_extras());
        } catch (const CLI::RequiredError& wrong) {
            // `heddle evl`: the word that was not understood is the better message.
            return mistake(app_.remaining(true).empty() ? wrong.what() : about_extras());
        } catch (const CLI::ConversionError& wrong) {
            return mistake(about_conversion(wrong.what()));
        } catch (const CLI::ParseError& wrong) {
            return mistake(wrong.what());
        }
        if (quiet_ && verbose_ > 0) return mistake("--quiet and --verbose exclude each other");
        if (run_->parsed()) return finish(run_request_);
        if (eval_->parsed()) return finish(eval_request_);
        if (call_->parsed()) return finish(call_request_);
        if (tasks_->parsed()) return finish_tasks();
        if (check_->parsed()) return request(std::move(check_request_));
        if (fmt_->parsed()) return request(std::move(format_request_));
        if (dump_ast_->parsed()) return request(std::move(dump_request_));
        if (dump_ir_->parsed()) {
            dump_request_.what = dump_kind::ir;
            return request(std::move(dump_request_));
        }
        if (repl_->parsed()) return finish(repl_request_);
        if (index_->parsed()) {
            index_request_.verbosity = verbosity();
            return request(index_request_);
        }
        if (reference_->parsed()) return request(reference_request_);
        if (trust_->parsed()) return request(trust_request_);
        if (models_->parsed()) {
            models_request_.verbosity = verbosity();
            return request(models_request_);
        }
        if (cache_stats_->parsed()) return request(cache_request_);
        if (cache_clear_->parsed()) {
            cache_request_.what = cache_action::clear;
            return request(cache_request_);
        }
        serve_request_.verbosity = verbosity();
        return request(serve_request_);
    }

private:
    void set_up_run() {
        run_ = app_.add_subcommand("run", "Run the workflow in a file");
        run_->footer(std::string(run_footer));
        run_->add_option("FILE", run_request_.file, "The workflow; - for standard input")
            ->required();
        run_->add_option("-i,--input", run_request_.inputs,
                         "An input of main: NAME=TEXT, or NAME:=JSON for other values")
            ->type_name("NAME=VALUE")
            ->type_size(1)
            ->allow_extra_args(false);
        run_->add_option("--input-json", run_request_.input_json,
                         "A JSON object with inputs of main; - for standard input")
            ->type_name("FILE");
        add_workflow_options(*run_, run_request_.options);
    }

    void set_up_eval() {
        eval_ = app_.add_subcommand("eval", "Evaluate an expression and print its written form");
        eval_->footer(std::string(eval_footer));
        eval_->add_option("EXPR", eval_request_.expression, "The program; - for standard input")
            ->required();
        add_workflow_options(*eval_, eval_request_.options);
    }

    void set_up_call() {
        call_ = app_.add_subcommand("call", "Run a workflow, a template or a tool by its name");
        call_->footer(std::string(call_footer));
        call_
            ->add_option("IDENTIFIER", call_request_.identifier,
                         "A template, type:subtype, a tool, or a workflow in brackets")
            ->required();
        call_->add_option("INPUT", call_request_.inputs,
                          "NAME=TEXT, or NAME:=JSON for other values");
        call_
            ->add_option("--input-json", call_request_.input_json,
                         "A JSON object with inputs; - for standard input")
            ->type_name("FILE");
        call_->add_option("-f,--file", call_request_.files, "A file for the context of a template")
            ->type_name("PATH")
            ->type_size(1)
            ->allow_extra_args(false);
        add_workflow_options(*call_, call_request_.options);
    }

    void set_up_tasks() {
        tasks_ = app_.add_subcommand("tasks", "Look at task templates");
        tasks_->require_subcommand(1);
        tasks_->footer(std::string(tasks_footer));
        const auto add = [this](const char* name, const char* what) {
            CLI::App* made = tasks_->add_subcommand(name, what);
            made->add_flag("--json", tasks_request_.json, "JSON on standard output");
            return made;
        };
        CLI::App* list = add("list", "The templates that there are");
        CLI::App* show = add("show", "All that one template says");
        show->add_option("NAME", tasks_request_.name, "Its name or type:subtype")->required();
        CLI::App* match = add("match", "The templates that a text speaks of, best first");
        match->add_option("TEXT", tasks_request_.text, "What is to be done, in words")->required();
        match->add_option("--threshold", tasks_request_.threshold, "Least score, from 0 to 1")
            ->capture_default_str()
            ->type_name("X")
            ->check(CLI::Range(0.0, 1.0).description(""));
        match->add_option("--limit", tasks_request_.limit, "At most so many")
            ->capture_default_str()
            ->type_name("N")
            ->check(CLI::Range(std::size_t{1}, std::size_t{10'000}).description(""));
        tasks_check_ = add("check", "Find mistakes in files of templates");
        tasks_check_
            ->add_option("FILE", tasks_request_.files, "Files or folders; - for standard input")
            ->required();
        tasks_check_->add_flag("--strict", tasks_request_.strict, "Warnings count as errors");
        tasks_new_ = add("new", "Write a template to begin with");
        tasks_new_->add_option("NAME", tasks_request_.name, "What it is called")->required();
        tasks_new_
            ->add_option("-o,--output", tasks_request_.output,
                         "The file, which must not be there; tasks/NAME.xml without it, - for "
                         "standard output")
            ->type_name("FILE");
        tasks_show_ = show;
        tasks_match_ = match;
        for (CLI::App* each : {list, show, match, tasks_check_}) {
            add_tasks(*each, tasks_request_.folders);
        }
    }

    std::variant<request, early_end> finish_tasks() {
        tasks_request& made = tasks_request_;
        if (tasks_show_->parsed()) made.what = tasks_action::show;
        if (tasks_match_->parsed()) made.what = tasks_action::match;
        if (tasks_check_->parsed()) made.what = tasks_action::check;
        if (tasks_new_->parsed()) made.what = tasks_action::make;
        return request(std::move(made));
    }

    static void add_tasks(CLI::App& command, std::vector<std::string>& into) {
        command.add_option("--tasks", into, "A folder (or file) of task templates")
            ->type_name("DIR")
            ->type_size(1)
            ->allow_extra_args(false);
    }

    void set_up_fmt() {
        fmt_ = app_.add_subcommand("fmt", "Lay out source files in the canonical way");
        fmt_->footer(std::string(fmt_footer));
        fmt_->add_option("FILE", format_request_.files,
                         "Files to lay out in place; - for standard input to standard output")
            ->required();
        fmt_->add_flag("--check", format_request_.check,
                       "Write nothing, name the files that would change, exit with 1 if any");
        fmt_->add_option("--width", format_request_.width, "Longest line, in characters")
            ->capture_default_str()
            ->type_name("N")
            ->check(CLI::Range(std::size_t{20}, std::size_t{1000}).description(""));
    }

    void set_up_check() {
        check_ = app_.add_subcommand("check", "Find mistakes in source files without running them");
        check_->footer(std::string(check_footer));
        check_->add_option("FILE", check_request_.files, "Files to check; - for standard input")
            ->required();
        check_->add_flag("--strict", check_request_.strict, "Warnings count as errors");
        check_
            ->add_option("--extern", check_request_.externs,
                         "A name that is defined elsewhere, as a task or a global")
            ->type_name("NAME")
            ->type_size(1)
            ->allow_extra_args(false);
        add_tasks(*check_, check_request_.tasks);
        check_->add_flag("--json", check_request_.json, "One JSON object a line for each problem");
    }

    void set_up_dump() {
        dump_ = app_.add_subcommand("dump", "Show what the compiler makes of a program");
        dump_->require_subcommand(1);
        dump_->footer(std::string(dump_footer));
        dump_ast_ = dump_->add_subcommand("ast", "The resolved program as a tree");
        dump_ir_ = dump_->add_subcommand("ir", "The listing of its code");
        for (CLI::App* each : {dump_ast_, dump_ir_}) {
            each->add_option("FILE", dump_request_.file, "The program; - for standard input")
                ->required();
        }
        dump_ast_->add_flag("--json", dump_request_.json, "The tree as one JSON object");
    }

    void set_up_repl() {
        repl_ = app_.add_subcommand("repl", "Evaluate expressions line by line");
        repl_->footer(std::string(repl_footer));
        repl_->add_option("FILE", repl_request_.files, "Programs to evaluate first");
        add_workflow_options(*repl_, repl_request_.options,
                             "End each evaluation after this many seconds");
    }

    void set_up_models() {
        models_ = app_.add_subcommand("models", "List the services and models that are configured");
        models_->footer(std::string(models_footer));
        models_->add_flag("--ping", models_request_.ping, "Ask each service whether it answers");
        models_
            ->add_option("--base-url", models_request_.base_url,
                         "Where a service that speaks OpenAI's format listens [OPENAI_BASE_URL]")
            ->type_name("URL");
        add_config_option(*models_, models_request_.config);
        models_->add_flag("--json", models_request_.json, "One JSON object on standard output");
        add_verbosity(*models_);
    }

    void set_up_cache() {
        cache_ = app_.add_subcommand("cache", "Look at kept answers of models, or remove them");
        cache_->require_subcommand(1);
        cache_->footer(std::string(cache_footer));
        cache_stats_ = cache_->add_subcommand("stats", "How much is kept");
        cache_clear_ = cache_->add_subcommand("clear", "Remove kept answers");
        cache_clear_
            ->add_option("--older-than", cache_request_.older_than_days,
                         "Only what was kept so many days ago or before")
            ->type_name("DAYS")
            ->check(CLI::Range(0.0, 36'500.0).description(""));
        for (CLI::App* each : {cache_stats_, cache_clear_}) {
            each->add_option("--cache-file", cache_request_.file, "The file with the answers")
                ->type_name("FILE");
            add_config_option(*each, cache_request_.config);
            each->add_flag("--json", cache_request_.json, "One JSON object on standard output");
        }
    }

    void set_up_trust() {
        trust_ =
            app_.add_subcommand("trust", "Show and allow what a project's heddle.toml asks for");
        trust_->footer(std::string(trust_footer));
        trust_
            ->add_option("DIR", trust_request_.place,
                         "The project's folder, default the current one")
            ->type_name("");
        const auto action = [this](const char* flag, trust_action what, const char* help) {
            return trust_->add_flag_callback(
                flag, [this, what] { trust_request_.what = what; }, help);
        };
        CLI::Option* allow = action("--allow", trust_action::allow, "Allow what it asks for now");
        CLI::Option* revoke =
            action("--revoke", trust_action::revoke, "Take back all that it was allowed");
        CLI::Option* list =
            action("--list", trust_action::list, "List what is allowed, for all projects");
        allow->excludes(revoke)->excludes(list);
        revoke->excludes(list);
        trust_->add_flag("--json", trust_request_.json, "One JSON object on standard output");
    }

    static void add_config_option(CLI::App& command, std::optional<std::string>& into) {
        command
            .add_option("--config", into,
                        "Read this file, in place of the heddle.toml of the project and of the "
                        "user")
            ->type_name("FILE");
    }

    void set_up_index() {
        index_ = app_.add_subcommand("index", "Look through a directory as get_context does");
        index_->footer(std::string(index_footer));
        index_->add_option("DIR", index_request_.folder, "The directory")->required();
        index_->add_option("--query", index_request_.query, "List the files that match, best first")
            ->type_name("TEXT");
        const auto patterns = [this](const char* name, std::vector<std::string>& into,
                                     const char* what) {
            index_->add_option(name, into, what)
                ->type_name("PATTERN")
                ->type_size(1)
                ->allow_extra_args(false);
        };
        patterns("--include", index_request_.include,
                 "Only these, as a .gitignore would name them");
        patterns("--exclude", index_request_.exclude, "Not these");
        index_->add_option("--limit", index_request_.limit, "At most so many matches")
            ->capture_default_str()
            ->type_name("N")
            ->check(CLI::Range(std::size_t{1}, std::size_t{10'000}).description(""));
        index_->add_flag("--metadata", index_request_.by_metadata,
                         "Match paths and descriptions, not the text of files");
        index_
            ->add_option("--index-file", index_request_.index_file,
                         "Keep the index in FILE; read again only what has changed")
            ->type_name("FILE");
        index_->add_flag("--json", index_request_.json, "A JSON object on standard output");
        add_verbosity(*index_);
    }

    /// For those who work on heddle itself.
    void set_up_reference() {
        reference_ = app_.add_subcommand("reference", "Write the reference of the language");
        reference_->group(""); // not in the list of commands
        reference_->add_option("DIR", reference_request_.directory, "Where to")->required();
    }

    void set_up_model() {
        model_ = app_.add_subcommand("model", "Models for development and tests");
        model_->require_subcommand(1);
        serve_ = model_->add_subcommand("serve", "Serve a scripted model over HTTP until Ctrl-C");
        serve_->footer(std::string(serve_footer));
        serve_->add_option("--rules", serve_request_.rules, "What it answers to which prompt")
            ->required()
            ->type_name("FILE");
        serve_->add_option("--port", serve_request_.port, "0: any that is free")
            ->capture_default_str();
        serve_->add_option("--host", serve_request_.host, "The address to listen on")
            ->capture_default_str();
        serve_->add_flag("--allow-remote", serve_request_.allow_remote,
                         "Permit a --host that other machines can reach");
        serve_
            ->add_option("--print-port", serve_request_.print_port,
                         "Write the port to FILE once it is open; - for standard output, in "
                         "place of the URL")
            ->type_name("FILE");
        serve_->add_flag("--json", serve_request_.json, "The first line is a JSON object");
        add_verbosity(*serve_);
    }

    void add_workflow_options(
        CLI::App& command, workflow_options& options,
        const std::string& about_timeout = "End the run after this many seconds") {
        command
            .add_option("-m,--model", options.model,
                        "For tasks that name no model: openai:NAME, anthropic:NAME, an alias, "
                        "scripted:RULES.json, … [HEDDLE_MODEL]")
            ->type_name("PROVIDER:MODEL");
        command
            .add_option("--base-url", options.base_url,
                        "Where a service that speaks OpenAI's format listens [OPENAI_BASE_URL]")
            ->type_name("URL");
        command
            .add_option("-c,--concurrency", options.concurrency,
                        "Branches at a time; 64 unless heddle.toml says otherwise")
            ->type_name("N")
            ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}).description(""));
        command.add_option("-t,--timeout", timeout_, about_timeout)
            ->type_name("S")
            ->check(needs_a_number);
        command
            .add_option("--memory-limit", memory_limit_,
                        "Maximum memory of the workflow's values and branches, such as 1GiB; "
                        "256MiB unless heddle.toml says otherwise")
            ->type_name("SIZE");
        command
            .add_option("--step-limit", options.step_limit,
                        "Maximum number of calls and turns of loops; unlimited unless heddle.toml "
                        "says otherwise")
            ->type_name("N")
            ->check(CLI::PositiveNumber.description(""));
        command
            .add_option("--budget-usd", options.budget_usd,
                        "Maximum cost of the run's model calls in US dollars; further calls give "
                        "FAILED results")
            ->type_name("X")
            ->check(needs_a_number);
        command
            .add_option("--max-calls", options.max_calls,
                        "Maximum number of the run's model calls; further ones give FAILED results")
            ->check(is_a_count)
            ->type_name("N");
        command.add_option("--seed", options.seed, "Makes random and retry waits repeatable")
            ->type_name("N")
            ->check(needs_a_number);
        command
            .add_option("-w,--workspace", options.workspace,
                        "The directory whose files a workflow may use")
            ->capture_default_str()
            ->type_name("DIR");
        command
            .add_option("--index", options.index,
                        "A directory that get_context looks through, in place of the workspace; "
                        "may be given several times")
            ->type_name("DIR")
            ->type_size(1)
            ->allow_extra_args(false);
        command
            .add_option("--index-file", options.index_file,
                        "Keep the index of get_context in FILE between runs")
            ->type_name("FILE");
        command
            .add_flag("--cache,!--no-cache", options.cache,
                      "Keep the answers of models, and take those that were kept")
            ->default_str("");
        command
            .add_option("--cache-file", options.cache_file,
                        "The file with the answers; see "
                        "heddle cache --help")
            ->type_name("FILE");
        auto* record =
            command.add_option("--record", options.record, "Write all calls of models to FILE")
                ->type_name("FILE");
        auto* replay = command
                           .add_option("--replay", options.replay,
                                       "Take the calls that --record wrote, and ask no service")
                           ->type_name("FILE")
                           ->excludes(record);
        command
            .add_flag("--replay-leniently", options.replay_leniently,
                      "Match what is said only: models and settings may differ")
            ->needs(replay);
        add_config_option(command, options.config);
        add_program_options(command, options);
        command.add_flag("--match-with-model", options.match_with_model,
                         "Let a model choose among the files that a look-up finds");
        add_tasks(command, options.tasks);
        command.add_flag("--json", options.json,
                         "The result as JSON on standard output, an error as JSON on standard "
                         "error");
        command.add_flag("--stream", options.stream,
                         "Show the text of tasks on standard error as it arrives");
        add_verbosity(command);
    }

    static void add_program_options(CLI::App& command, workflow_options& options) {
        command.add_flag("--allow-shell", options.allow_shell,
                         "The workflow may run programs in the workspace, with your rights: "
                         "system:run_script, commands that list files, Aider");
        command
            .add_option(
                "--pass-env", options.pass_env,
                "A variable that those programs inherit besides the usual ones (PATH, HOME, "
                "LANG, ...), or a pattern such as MY_*; may be given several times")
            ->type_name("NAME")
            ->type_size(1)
            ->allow_extra_args(false);
        command
            .add_option("--aider", options.aider,
                        "The program for tasks that Aider does, with its options; aider unless "
                        "heddle.toml says otherwise")
            ->type_name("COMMAND");
    }

    void add_verbosity(CLI::App& command) {
        command.add_flag("-v,--verbose", verbose_, "Log more; -vv for debugging");
        command.add_flag("-q,--quiet", quiet_, "Errors only, no progress");
    }

    [[nodiscard]] int verbosity() const { return quiet_ ? -1 : static_cast<int>(verbose_); }

    template <class Request>
    std::variant<request, early_end> finish(Request& made) {
        made.options.verbosity = verbosity();
        if (timeout_) {
            constexpr double longest = 365.0 * 24 * 3600;
            if (!(*timeout_ > 0) || *timeout_ > longest) {
                return mistake("--timeout must be a number of seconds above 0, at most a year");
            }
            made.options.timeout = std::chrono::milliseconds(std::llround(*timeout_ * 1000));
        }
        if (made.options.budget_usd &&
            !(std::isfinite(*made.options.budget_usd) && *made.options.budget_usd >= 0)) {
            return mistake("--budget-usd must be a number of dollars from 0");
        }
        if (memory_limit_) {
            made.options.memory_limit = bytes_of(*memory_limit_);
            if (!made.options.memory_limit)
                return mistake("--memory-limit must be a size, such as 500MB or 1GiB");
        }
        return request(std::move(made));
    }

    /// The subcommand that the arguments have reached.
    [[nodiscard]] CLI::App& innermost() {
        CLI::App* at = &app_;
        while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
        return *at;
    }

    /// "heddle model serve"; empty for null.
    [[nodiscard]] static std::string full_name(const CLI::App* command) {
        std::string name;
        for (; command; command = command->get_parent()) {
            if (!name.empty()) name.insert(0, " ");
            name.insert(0, command->get_name());
        }
        return name;
    }

    [[nodiscard]] early_end mistake(std::string what) {
        CLI::App& command = innermost();
        std::string hint = "see: " + full_name(&command) + " --help";
        std::string text = "heddle: " + what + "\n" + hint + "\n";
        return {exit_code::usage, std::move(text), std::move(what), std::move(hint)};
    }

    [[nodiscard]] std::string about_extras() {
        const CLI::App& command = innermost();
        const std::vector<std::string> left = app_.remaining(true);
        const std::string first = left.empty() ? std::string() : left.front();
        std::vector<std::string> known;
        std::string what;
        if (first.starts_with("-")) {
            what = "unknown option " + first;
            for (const CLI::Option* option : command.get_options()) {
                for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
            }
        } else {
            const auto commands = command.get_subcommands([](const CLI::App*) { return true; });
            what = (commands.empty() ? "unexpected argument " : "unknown command ") + first;
            for (const CLI::App* one : commands) known.push_back(one->get_name());
        }
        const std::string hint = lang::suggest_names(first, known);
        return hint.empty() ? what : what + "; " + hint;
    }

    /// "Could not convert: --timeout = abc", in words of ours.
    [[nodiscard]] std::string about_conversion(std::string_view what) {
        constexpr std::string_view before = "Could not convert: ";
        constexpr std::string_view between = " = ";
        const std::size_t at = what.find(between);
        if (!what.starts_with(before) || at == std::string_view::npos) return std::string(what);
        const std::string name(what.substr(before.size(), at - before.size()));
        const std::string value(what.substr(at + between.size()));
        std::string text = name + " does not take '" + value + "'";
        const CLI::Option* option = innermost().get_option_no_throw(name);
        if (!option) option = app_.get_option_no_throw(name);
        if (option && !option->get_description().empty()) {
            text += "; it is: " + option->get_description();
        }
        return text;
    }

    CLI::App app_;
    CLI::App* run_ = nullptr;
    CLI::App* eval_ = nullptr;
    CLI::App* check_ = nullptr;
    CLI::App* call_ = nullptr;
    CLI::App* tasks_ = nullptr;
    CLI::App* tasks_show_ = nullptr;
    CLI::App* tasks_match_ = nullptr;
    CLI::App* tasks_check_ = nullptr;
    CLI::App* tasks_new_ = nullptr;
    CLI::App* fmt_ = nullptr;
    CLI::App* dump_ = nullptr;
    CLI::App* dump_ast_ = nullptr;
    CLI::App* dump_ir_ = nullptr;
    CLI::App* repl_ = nullptr;
    CLI::App* index_ = nullptr;
    CLI::App* reference_ = nullptr;
    CLI::App* models_ = nullptr;
    CLI::App* cache_ = nullptr;
    CLI::App* cache_stats_ = nullptr;
    CLI::App* cache_clear_ = nullptr;
    CLI::App* trust_ = nullptr;
    CLI::App* model_ = nullptr;
    CLI::App* serve_ = nullptr;
    run_request run_request_;
    eval_request eval_request_;
    call_request call_request_;
    tasks_request tasks_request_;
    repl_request repl_request_;
    index_request index_request_;
    reference_request reference_request_;
    models_request models_request_;
    cache_request cache_request_;
    trust_request trust_request_;
    serve_request serve_request_;
    format_request format_request_;
    dump_request dump_request_;
    check_request check_request_;
    std::optional<double> timeout_;
    std::optional<std::string> memory_limit_;
    std::int64_t verbose_ = 0;
    bool quiet_ = false;
};

} // namespace

bool wants_json(const std::vector<std::string>& arguments) {
    const auto end = std::find(arguments.begin(), arguments.end(), "--");
    return std::find(arguments.begin(), end, "--json") != end;
}

std::variant<request, early_end> parse_arguments(std::vector<std::string> arguments) {
    return command_line().parse(std::move(arguments));
}

} // namespace heddle::cli
