// `heddle runs`: look at runs of `heddle batch`, and steer those that are going.
#include "batch/reports/run_export.hpp"
#include "batch/reports/run_list.hpp"
#include "batch/reports/run_show.hpp"
#include "batch/reports/run_tail.hpp"
#include "batch/request/run_limits.hpp"
#include "batch/request/run_manifest.hpp"
#include "batch/run_folder/run_command.hpp"
#include "batch/steering/opened_run.hpp"
#include "batch/steering/run_control.hpp"
#include "batch/steering/run_steering.hpp"
#include "command_line/command.hpp"
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "journal/answer_run.hpp"
#include "journal/replay_run.hpp"
#include "journal/run_diff.hpp"
#include "journal/step_trace.hpp"
#include "missing_directory.hpp"
#include "parking/parking_report.hpp"
#include "report_error.hpp"

#include <heddle/setup/json_line.hpp>
#include <heddle/store/run_store.hpp>

#include <boost/json/object.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <unistd.h>

namespace heddle::cli {

namespace {

namespace json = boost::json;

constexpr const char* about_run = "The directory of the run, or its output file";

class list_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("DIR", folders_, "Directories to search (default: the current one)");
        to.flag("--json", json_, "Print JSON");
    }
    exit_code run(command_context context) override {
        for (const std::string& folder : folders_) {
            if (is_missing(folder))
                return report_usage_error(missing_directory(folder), json_, context.output);
        }
        return list_runs(folders_, json_, context.output);
    }

private:
    std::vector<std::string> folders_;
    bool json_ = false;
};

class show_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("RUN", run_, about_run).required();
        to.flag("--json", json_, "Print JSON");
    }
    exit_code run(command_context context) override {
        return show_run(run_, json_, context.output);
    }

private:
    std::string run_;
    bool json_ = false;
};

class tail_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("RUN", run_, about_run).required();
        to.flag("-f,--follow", follow_, "Print rows as they end, until the run is over");
        to.option("-n,--rows", count_, "Number of rows")
            .show_default()
            .value("N")
            .range(1, 100'000);
        to.flag("--json", json_, "Print a JSON object for each row");
    }
    exit_code run(command_context context) override {
        return tail_run(run_, {.count = count_, .follow = follow_, .json = json_}, context.output);
    }

private:
    std::string run_;
    bool follow_ = false;
    bool json_ = false;
    std::uint64_t count_ = 10;
};

class export_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("RUN", asked_.run, about_run).required();
        to.option("-o,--out", asked_.file,
                  "File for the results: .jsonl, .csv, .tsv, .db (SQLite); - for standard output")
            .show_default()
            .value("FILE");
        to.option("--status", asked_.status, "done, failed, rejected or all")
            .show_default()
            .value("STATUS");
        to.flag("--force", asked_.force, "Replace an existing file");
    }
    std::optional<std::string> mistake() override {
        for (const char* known : {"all", "done", "failed", "rejected"}) {
            if (asked_.status == known) return std::nullopt;
        }
        return "--status must be done, failed, rejected or all, not '" + asked_.status + "'";
    }
    exit_code run(command_context context) override { return export_run(asked_, context.output); }

private:
    export_request asked_;
};

/// Starts the command of the run again, in its directory, with more options.
exit_code start_again(const run_manifest& about, const std::string& folder,
                      const command_request& asked, const std::vector<std::string>& more, bool json,
                      command_context& context) {
    auto command = command_of_run(about, folder, asked, context.variables);
    if (!command) return report_usage_error(command.error(), json, context.output);
    std::vector<std::string> arguments = *std::move(command);
    const bool is_known = about.is_single() || (!arguments.empty() && arguments.front() == "batch");
    if (!is_known || ::chdir(about.directory.c_str()) != 0) {
        return report_usage_error(
            error(errc::not_found,
                  "the directory of the run's command, " + about.directory + ", cannot be entered")
                .with_hint("run the command itself again, with " + more.front()),
            json, context.output);
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    if (json && std::find(arguments.begin(), arguments.end(), "--json") == arguments.end())
        arguments.emplace_back("--json");
    return run_program(std::move(arguments), context.variables, context.output);
}

/// Whether a process works on the run. One that is about to end has three seconds for it.
bool is_in_progress(const run_manifest& about, const std::string& folder) {
    if (!about.is_single()) (void)ask_open_run(folder, R"({"do":"status"})");
    return store::is_run_open(folder);
}

/// Whether a service has, or may have, a batch of the run whose results are not taken yet.
coro::task<result<void>> look_for_open_batches(opened_run* run, bool* has_open) {
    result<parking_report> parked = co_await parking_report::read(run->folder, run->context());
    if (!parked) co_return std::move(parked).error();
    *has_open = std::any_of(parked->batches.begin(), parked->batches.end(), [](const auto& each) {
        return each.phase != store::batch_phase::settled;
    });
    co_return result<void>();
}

class retry_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("RUN", run_, about_run).required();
        to.flag("--failed", failed_, "Run all failed rows again");
        to.option("--row", rows_, "Run the failed row with this id again; repeatable").value("ID");
        to.option("-i,--input", asked_.inputs,
                  "Value of an input that the run does not store, such as a token; repeatable")
            .value("NAME=VALUE");
        to.flag("--allow", asked_.allow, "Run the command even though you did not start the run");
        to.flag("--json", json_, "Run the command with --json");
    }
    std::optional<std::string> mistake() override {
        if (failed_ == rows_.empty()) return std::nullopt;
        return failed_ ? "--failed and --row exclude each other"
                       : "--failed or --row ID is required";
    }
    exit_code run(command_context context) override {
        auto folder = find_run(run_);
        if (!folder) return report_usage_error(folder.error(), json_, context.output);
        auto about = read_manifest(*folder);
        if (!about) return report_usage_error(about.error(), json_, context.output);
        if (about->is_single() && !rows_.empty()) {
            return report_usage_error(
                error(errc::invalid_argument, "the run is a single one, without rows")
                    .with_hint("use --failed"),
                json_, context.output);
        }
        std::vector<std::string> more;
        if (failed_) more.emplace_back("--retry-failed");
        for (const std::string& row : rows_) more.push_back("--retry-row=" + row);
        return start_again(*about, *folder, asked_, more, json_, context);
    }

private:
    std::string run_;
    bool failed_ = false;
    bool json_ = false;
    std::vector<std::string> rows_;
    command_request asked_;
};

class replay_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("RUN", asked_.run, about_run).required();
        to.argument("ROW", asked_.row, "The id or number of the row; omit it for a single run");
        to.option("--until", asked_.until,
                  "End after this step: its number, or at least 12 digits of its path")
            .value("STEP");
        to.option("-i,--input", asked_.command.inputs,
                  "Value of an input that the run does not store, such as a token; repeatable")
            .value("NAME=VALUE");
        to.flag("--allow", asked_.command.allow,
                "Replay the workflow even though you did not start the run");
        to.flag("--json", asked_.json, "Print a JSON object for each step");
    }
    std::optional<std::string> mistake() override {
        return asked_.until ? step_trace::problem_of_until(*asked_.until) : std::nullopt;
    }
    exit_code run(command_context context) override {
        return replay_run(asked_, context.variables, context.output);
    }

private:
    replay_request asked_;
};

class diff_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("A", asked_.a, about_run).required();
        to.argument("B", asked_.b, about_run).required();
        to.option("-n,--rows", asked_.most, "Maximum number of rows to print")
            .show_default()
            .value("N")
            .range(0, 1e9);
        to.flag("--steps", asked_.steps, "Compare the steps of rows with the same result too");
        to.flag("--json", asked_.json,
                "Print a JSON object for each row that differs, and a last "
                "one with the counts");
    }
    exit_code run(command_context context) override { return diff_runs(asked_, context.output); }

private:
    diff_request asked_;
};

class answer_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("RUN", asked_.run, about_run).required();
        to.argument("ROW", asked_.row, "The id or number of the row").required();
        to.argument("TEXT", asked_.text,
                    "The answer: any text or, if the question has choices, "
                    "the text or number of one")
            .required();
        to.option("--question", asked_.question,
                  "Number of the question, if the row has several "
                  "open ones")
            .show_default()
            .value("N")
            .range(1, 1e6);
        to.flag("--json", asked_.json, "Print JSON");
    }
    exit_code run(command_context context) override { return answer_run(asked_, context.output); }

private:
    answer_request asked_;
};

template <int What>
class steer_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("RUN", run_, about_run).required();
        to.flag("--json", json_, "Print JSON");
    }
    exit_code run(command_context context) override {
        static constexpr const char* names[] = {"pause", "resume"};
        return steer_run(run_, {{"do", names[What]}}, json_, context.output);
    }

private:
    std::string run_;
    bool json_ = false;
};

/// Also of a run whose requests wait at the services while no process works on it.
class cancel_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("RUN", run_, about_run).required();
        to.option("-i,--input", asked_.inputs,
                  "Value of an input that the run does not store, such as a token; repeatable")
            .value("NAME=VALUE");
        to.flag("--allow", asked_.allow,
                "Cancel batches of the services even though you did not start the run");
        to.flag("--json", json_, "Print JSON");
    }
    exit_code run(command_context context) override {
        const auto folder = find_run(run_);
        const auto about = folder ? read_manifest(*folder) : result<run_manifest>(folder.error());
        if (about && about->has_parked && !is_in_progress(*about, *folder)) {
            bool has_open = false;
            const auto looked = with_run(
                *folder, [&](opened_run& run) { return look_for_open_batches(&run, &has_open); });
            if (!looked)
                return report_error(looked.error(), exit_code::failed, json_, context.output);
            if (has_open) {
                const exit_code code =
                    start_again(*about, *folder, asked_, {"--cancel-batches"}, json_, context);
                return code == exit_code::rows_left ? exit_code::done : code;
            }
        }
        return steer_run(run_, {{"do", "cancel"}}, json_, context.output);
    }

private:
    std::string run_;
    bool json_ = false;
    command_request asked_;
};

class set_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("RUN", run_, about_run).required();
        to.argument("SETTING", settings_, known_limits).required();
        to.flag("--json", json_, "Print JSON");
    }
    std::optional<std::string> mistake() override {
        for (const std::string& each : settings_) {
            auto limit = parse_limit(each);
            if (!limit) return limit.error().message();
            limits_.insert_or_assign(std::move(limit->first), limit->second);
        }
        return std::nullopt;
    }
    exit_code run(command_context context) override {
        const auto folder = find_run(run_);
        const auto about = folder ? read_manifest(*folder) : result<run_manifest>(folder.error());
        if (about && !about->is_single() && !is_in_progress(*about, *folder)) {
            // A command that starts meanwhile writes the manifest as well.
            if (const auto hold = store::hold_run(*folder))
                return set_of_later_command(*folder, context);
        }
        json::object request{{"do", "set"}};
        add_limits(request);
        return steer_run(run_, request, json_, context.output);
    }

private:
    void add_limits(json::object& to) const {
        for (const auto& [name, value] : limits_) {
            std::string member = name;
            std::replace(member.begin(), member.end(), '-', '_');
            if (value == no_limit) to[member] = nullptr;
            else if (std::trunc(value) == value && value < 9e15)
                to[member] = static_cast<std::int64_t>(value);
            else to[member] = value;
        }
    }

    /// No process works on the run, and it is held.
    exit_code set_of_later_command(const std::string& folder, command_context context) const {
        console& output = context.output;
        result<run_manifest> read = read_manifest(folder);
        if (!read) return report_error(read.error(), exit_code::failed, json_, output);
        run_manifest about = *std::move(read);
        if (!is_run_of_user(about, folder, context.variables)) {
            return report_usage_error(
                error(errc::invalid_argument,
                      folder + ": there is no record that you started this run here")
                    .with_hint("pass the limits to its command as options"),
                json_, output);
        }
        if (limits_.contains(deadline_limit)) {
            return report_usage_error(
                error(errc::invalid_argument,
                      "deadline: the run in " + folder + " is not in progress")
                    .with_hint("pass --deadline to its command"),
                json_, output);
        }
        for (const auto& [name, value] : limits_) about.limits.set.insert_or_assign(name, value);
        if (auto wrote = write_manifest(folder, about); !wrote)
            return report_error(wrote.error(), exit_code::failed, json_, output);
        if (json_) {
            json::object set;
            add_limits(set);
            output.out_data(setup::json_line(
                json::object{{"ok", true}, {"progress", nullptr}, {"set", std::move(set)}}));
            return exit_code::done;
        }
        output.out("the run is not in progress; its next command uses " + text_of(limits_) + "\n");
        return exit_code::done;
    }

    std::string run_;
    std::vector<std::string> settings_;
    run_limits limits_;
    bool json_ = false;
};

constexpr command_row rows[] = {
    {.name = "runs",
     .summary = "Inspect and control runs",
     .details = "A run is named by its directory or by its output file.",
     .group = command_group::run},
    {.name = "runs list",
     .summary = "List the runs of a directory",
     .details = "",
     .group = command_group::run,
     .make = &make_command<list_work>},
    {.name = "runs show",
     .summary = "Show the progress, cost and failures of a run",
     .details = "",
     .group = command_group::run,
     .make = &make_command<show_work>},
    {.name = "runs tail",
     .summary = "Print the last rows that ended",
     .details = "",
     .group = command_group::run,
     .make = &make_command<tail_work>},
    {.name = "runs export",
     .summary = "Write the results of a run from its journal",
     .details = "The results are complete even if the output file was lost.",
     .group = command_group::run,
     .make = &make_command<export_work>},
    {.name = "runs retry",
     .summary = "Run failed rows of a run again",
     .details =
         "Starts the last command of the run again, in the directory where it was started. "
         "Without --allow, it must be a command that you have run on this machine: a run may "
         "come from somebody else.",
     .group = command_group::run,
     .make = &make_command<retry_work>},
    {.name = "runs replay",
     .summary = "Run a row again from its journal, and print its steps",
     .details =
         R"(The workflow sends, writes, starts and prints nothing: each step returns its recorded result. If the
records end before the row does, the replay ends there with exit code 1.

Examples:
  heddle runs replay results.jsonl r17
  heddle runs replay results.jsonl 17 --until 3
  heddle runs replay long.run --json)",
     .group = command_group::run,
     .make = &make_command<replay_work>},
    {.name = "runs diff",
     .summary = "Compare the results of two runs of the same rows",
     .details =
         "Rows are matched by their ids. Of a row that differs, the steps are listed whose\n"
         "arguments, request to a model or response differ. With --steps, rows with the same\n"
         "result are listed too if any of their steps differs.\n\n"
         "Exit codes: 0 the results (with --steps, also the steps) are the same, 1 they differ,\n"
         "2 a run cannot be read.",
     .group = command_group::run,
     .make = &make_command<diff_work>},
    {.name = "runs answer",
     .summary = "Answer a question that a row waits for",
     .details =
         R"(A row of a batch that calls system:ask_user is parked, and 'heddle runs show' lists its question.
The answer is stored in the journal, and the command of the batch continues the row with it.

Example:
  heddle runs answer results.jsonl r17 yes)",
     .group = command_group::run,
     .make = &make_command<answer_work>},
    {.name = "runs pause",
     .summary = "Pause a run: start no further row",
     .details = "Rows in progress finish. 'heddle runs resume' continues the run.",
     .group = command_group::run,
     .make = &make_command<steer_work<0>>},
    {.name = "runs resume",
     .summary = "Continue a paused run",
     .details = "",
     .group = command_group::run,
     .make = &make_command<steer_work<1>>},
    {.name = "runs cancel",
     .summary = "Stop a run that is in progress, as Ctrl-C does",
     .details =
         "Rows in progress have 30 seconds to finish. Batches that were submitted (--park) are\n"
         "cancelled, even if no process works on the run; their completed responses are kept. The\n"
         "command of the batch continues the run.",
     .group = command_group::run,
     .make = &make_command<cancel_work>},
    {.name = "runs set",
     .summary = "Change the limits of a run",
     .details =
         "The settings are those of the options of 'heddle batch'. stop-after is that of --on-error;\n"
         "timeout and retry-rows apply to attempts that begin or end from now on; deadline counts from\n"
         "now on. The value none lifts a limit, except concurrency and retry-rows. The settings hold\n"
         "for the process that works on the run and, except deadline, for later commands, until one\n"
         "has another value for the option.\n\n"
         "Example:\n  heddle runs set results.jsonl concurrency=200 budget-usd=5",
     .group = command_group::run,
     .make = &make_command<set_work>},
};

} // namespace

std::span<const command_row> runs_commands() noexcept { return rows; }

} // namespace heddle::cli
