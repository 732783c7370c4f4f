// The command line as data.
#pragma once

#include "exit_code.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace heddle::cli {

/// What `run` and `eval` share.
struct workflow_options {
    std::optional<std::string> model; ///< PROVIDER:MODEL
    std::optional<std::string> base_url;
    std::optional<std::size_t> concurrency;           ///< absent: as configured, else 64
    std::optional<std::chrono::milliseconds> timeout; ///< of the whole run
    std::optional<std::uint64_t> memory_limit; ///< bytes; absent: as configured, else 256 MiB
    std::optional<std::uint64_t> step_limit;   ///< absent: as configured, else none
    std::optional<double> budget_usd;          ///< of all model calls together; absent: no bound
    std::optional<std::uint64_t> max_calls;    ///< of all together; absent: no bound
    bool json = false;
    bool stream = false; ///< the text of tasks is shown as it arrives
    int verbosity = 0;   ///< -1 with -q, else how often -v was given
    std::uint64_t seed = 0;
    std::string workspace = ".";
    std::vector<std::string> index;        ///< directories that get_context knows; empty: workspace
    std::optional<std::string> index_file; ///< where that index is kept between runs
    std::optional<std::string> config;     ///< in place of the files that are found
    std::optional<bool> cache;             ///< answers of models are kept and found again
    std::optional<std::string> cache_file;
    std::optional<std::string> record; ///< a file for the calls of the run
    std::optional<std::string> replay; ///< a file with recorded calls, in place of services
    bool replay_leniently = false;
    bool allow_shell = false;          ///< workflows may run programs
    std::vector<std::string> pass_env; ///< variables that those programs inherit as well
    std::optional<std::string> aider;  ///< what runs for the subtypes of Aider: words
    bool match_with_model = false;     ///< a model chooses among the files of a look-up
    std::vector<std::string> tasks;    ///< folders and files of task templates
    std::string default_tasks; ///< the folder that is read if it is there and `tasks` is empty
};

struct run_request {
    workflow_options options;
    std::string file;                      ///< "-": standard input
    std::vector<std::string> inputs;       ///< NAME=TEXT or NAME:=JSON
    std::optional<std::string> input_json; ///< a file with an object, "-": standard input
};

/// Runs a workflow, template or tool by what it is called.
struct call_request {
    workflow_options options;
    std::string identifier;
    std::vector<std::string> inputs;       ///< NAME=TEXT or NAME:=JSON
    std::optional<std::string> input_json; ///< a file with an object, "-": standard input
    std::vector<std::string> files;        ///< context of a template
};

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

struct eval_request {
    workflow_options options;
    std::string expression; ///< "-": standard input
};

struct serve_request {
    std::string rules;
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;
    bool allow_remote = false;
    std::optional<std::string> print_port; ///< a file, "-": standard output
    bool json = false;
    int verbosity = 0;
};

struct format_request {
    std::vector<std::string> files; ///< "-": standard input, to standard output
    bool check = false;             ///< write nothing, name what would change
    std::size_t width = 100;
};

enum class dump_kind : std::uint8_t { ast, ir };

struct dump_request {
    std::string file; ///< "-": standard input
    dump_kind what = dump_kind::ast;
    bool json = false;
};

struct check_request {
    std::vector<std::string> files;   ///< "-": standard input
    std::vector<std::string> externs; ///< names that the host will provide
    bool json = false;
    bool strict = false;            ///< warnings count as errors
    std::vector<std::string> tasks; ///< folders of task templates; empty: that beside each file
};

struct repl_request {
    workflow_options options;       ///< the timeout is that of each evaluation
    std::vector<std::string> files; ///< evaluated before the first line is read
};

/// Indexes a directory as get_context does, and asks it.
struct index_request {
    std::string folder;
    std::vector<std::string> include;
    std::vector<std::string> exclude;
    std::optional<std::string> query;
    std::optional<std::string> index_file;
    std::size_t limit = 20;
    bool by_metadata = false;
    bool json = false;
    int verbosity = 0;
};

/// What is configured, and whether it answers.
struct models_request {
    std::optional<std::string> config;
    std::optional<std::string> base_url;
    bool ping = false;
    std::chrono::milliseconds timeout{10'000}; ///< of each ping
    bool json = false;
    int verbosity = 0;
};

enum class cache_action : std::uint8_t { stats, clear };

struct cache_request {
    cache_action what = cache_action::stats;
    std::optional<std::string> config;
    std::optional<std::string> file;
    std::optional<double> older_than_days; ///< clear: only these
    bool json = false;
};

enum class trust_action : std::uint8_t { show, allow, revoke, list };

/// What a project's heddle.toml asks for, and what the user allows it.
struct trust_request {
    trust_action what = trust_action::show;
    std::string place = "."; ///< the folder, or its file
    bool json = false;
};

/// Writes the pages of docs/reference/language.
struct reference_request {
    std::string directory;
};

using request =
    std::variant<run_request, eval_request, call_request, tasks_request, repl_request,
                 serve_request, format_request, dump_request, check_request, index_request,
                 reference_request, models_request, cache_request, trust_request>;

/// The command line asks for no work: help, the version, or it has a mistake.
struct early_end {
    exit_code code = exit_code::done;
    std::string text;    ///< for standard output when done, else for standard error
    std::string mistake; ///< the same in parts: what is wrong,
    std::string hint;    ///< and where to look; empty when there is none
    std::string json{};  ///< in place of `text` with --json; empty: the same
};

/// Whether the arguments ask for JSON, also where they cannot be read.
[[nodiscard]] bool wants_json(const std::vector<std::string>& arguments);

/// Reads the arguments (without the program's name). Pure.
[[nodiscard]] std::variant<request, early_end> parse_arguments(std::vector<std::string> arguments);

} // namespace heddle::cli
