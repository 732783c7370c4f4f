#include "command_line/workflow_option_reader.hpp"

#include "command_line/option_values.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/parse_number.hpp>
#include <heddle/setup/quantity.hpp>

namespace heddle::cli {

namespace {

/// CLI11 takes an empty text for no option at all: the bound would be left out.
std::string needs_a_number(const std::string& text) { return text.empty() ? "needs a number" : ""; }

std::string is_a_count(const std::string& text) {
    constexpr std::size_t max_digits = 19; // of what fits into 64 bits
    return ascii::is_all_digits(text) && text.size() <= max_digits
               ? ""
               : "needs a whole number that is not negative";
}

/// CLI11 takes a negative number for a large one, and one that does not fit for the largest.
std::string is_a_seed(const std::string& text) {
    if (parse_number<std::uint64_t>(text)) return {};
    return "must be a whole number from 0 to 18446744073709551615, not '" + text + "'";
}

void add_model_options(option_list& command, workflow_options& options) {
    command.group("Model");
    command
        .option("-m,--model", options.model,
                "Model for tasks that name none: openai:NAME, anthropic:NAME, an alias, "
                "scripted:RULES.json, ... [HEDDLE_MODEL]")
        .value("PROVIDER:MODEL");
    add_base_url_option(command, options.base_url);
    command.flag("--match-with-model", options.match_with_model,
                 "Let a model choose among the files that a look-up finds");
}

void add_limits(option_list& command, workflow_options& options, std::optional<double>& timeout,
                std::optional<std::string>& memory_limit, const limit_texts& texts) {
    command.group("Limits");
    command.option("-c,--concurrency", options.concurrency, texts.concurrency)
        .value("N")
        .range(1, 1'000'000);
    command.option("-t,--timeout", timeout, texts.timeout).value("S").check(needs_a_number);
    command
        .option("--memory-limit", memory_limit,
                "Maximum memory of the workflow's values and branches, such as 1GiB; 256MiB "
                "unless heddle.toml sets it")
        .value("SIZE");
    command
        .option(
            "--step-limit", options.step_limit,
            "Maximum number of function calls and loop iterations; unlimited unless heddle.toml "
            "sets it")
        .value("N")
        .range(1, 1e18);
    command.option("--budget-usd", options.budget_usd, texts.budget_usd)
        .value("X")
        .check(needs_a_number);
    command.option("--max-calls", options.max_calls, texts.max_calls).check(is_a_count).value("N");
}

void add_file_options(option_list& command, workflow_options& options) {
    command.group("Files");
    command.option("-w,--workspace", options.workspace, "Directory whose files a workflow may use")
        .show_default()
        .value("DIR");
    add_tasks_option(command, options.tasks);
    command
        .option("--index", options.index,
                "Directory that get_context searches instead of the workspace; repeatable")
        .value("DIR");
    command
        .option("--index-file", options.index_file,
                "Keep the index of get_context in FILE between runs")
        .value("FILE");
    add_config_option(command, options.config);
}

void add_cache_options(option_list& command, workflow_options& options) {
    command.group("Cache and recordings");
    command.flag("--cache,!--no-cache", options.cache,
                 "Store model responses and reuse stored ones");
    command.option("--cache-file", options.cache_file, "File of the cache; see heddle cache --help")
        .value("FILE");
    const option_ref record =
        command.option("--record", options.record, "Record all model calls in FILE").value("FILE");
    const option_ref replay =
        command
            .option("--replay", options.replay, "Replay model calls from a recording; send nothing")
            .value("FILE")
            .excludes(record);
    command
        .flag("--replay-leniently", options.replay_leniently,
              "Match recorded calls by their messages only: models and settings may differ")
        .needs(replay);
}

void add_program_options(option_list& command, workflow_options& options) {
    command.group("Programs");
    command.flag("--allow-shell", options.allow_shell,
                 "Let the workflow run programs in the workspace with your permissions: "
                 "system:run_script, commands that list files, Aider");
    command
        .option("--pass-env", options.pass_env,
                "Variable that those programs inherit in addition to PATH, HOME, LANG and "
                "similar, or a pattern such as MY_*; repeatable")
        .value("NAME");
    command
        .option("--aider", options.aider, "Command line of Aider; aider unless heddle.toml sets it")
        .value("COMMAND");
}

} // namespace

void verbosity_options::add_to(option_list& command) {
    command.group("Output");
    command.flag("-v,--verbose", verbose_,
                 "Log more; -vv for debugging, -vvv with prompts and responses");
    command.flag("-q,--quiet", quiet_, "Print errors only, no progress");
}

int verbosity_options::verbosity() const noexcept {
    return quiet_ ? -1 : static_cast<int>(verbose_);
}

std::optional<std::string> verbosity_options::mistake() const {
    if (quiet_ && verbose_ > 0) return "--quiet and --verbose exclude each other";
    return std::nullopt;
}

option_ref workflow_option_reader::add_to(option_list& command, workflow_options& into,
                                          const limit_texts& texts) {
    add_model_options(command, into);
    add_limits(command, into, timeout_, memory_limit_, texts);
    add_file_options(command, into);
    add_cache_options(command, into);
    add_program_options(command, into);
    command.group("Output");
    const option_ref json = command.flag("--json", into.json, texts.json);
    command.flag("--stream", into.stream,
                 "Print the text of tasks on standard error as it arrives");
    command.flag_or_value("--show-prompts", "*", into.show_prompts,
                          "Print each request to a model on standard error as it is sent; "
                          "--show-prompts=TASK: those of one task");
    verbosity_.add_to(command);
    command
        .option("--seed", into.seed, "Seed of random numbers and retry delays, for repeatable runs")
        .value("N")
        .check(is_a_seed);
    return json;
}

std::optional<std::string> workflow_option_reader::finish(workflow_options& into) const {
    if (auto wrong = verbosity_.mistake()) return wrong;
    into.verbosity = verbosity_.verbosity();
    if (auto wrong = read_seconds(timeout_, "--timeout", seconds_from::above_zero, into.timeout))
        return wrong;
    if (auto wrong = mistake_of_budget(into.budget_usd)) return wrong;
    if (memory_limit_) {
        into.memory_limit = setup::bytes_of(*memory_limit_);
        if (!into.memory_limit) return "--memory-limit must be a size, such as 500MB or 1GiB";
    }
    return std::nullopt;
}

void add_base_url_option(option_list& command, std::optional<std::string>& into) {
    command
        .option("--base-url", into,
                "Base URL of the service of --model, or of an OpenAI-compatible server "
                "[OPENAI_BASE_URL]")
        .value("URL");
}

void add_config_option(option_list& command, std::optional<std::string>& into) {
    command
        .option("--config", into, "Read FILE instead of the project's and the user's heddle.toml")
        .value("FILE");
}

void add_tasks_option(option_list& command, std::vector<std::string>& into) {
    command.option("--tasks", into, "Directory or file of task templates; repeatable").value("DIR");
}

} // namespace heddle::cli
