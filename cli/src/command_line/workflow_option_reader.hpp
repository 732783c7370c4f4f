// The options of the commands that run workflows.
#pragma once

#include "command_line/option_list.hpp"
#include "workflow_options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

/// Adds -v and -q. Result of verbosity(): see workflow_options::verbosity.
class verbosity_options {
public:
    void add_to(option_list& command);
    [[nodiscard]] int verbosity() const noexcept;
    /// The mistake of their combination; nothing if there is none.
    [[nodiscard]] std::optional<std::string> mistake() const;

private:
    std::int64_t verbose_ = 0;
    bool quiet_ = false;
};

/// What --help shows of the limits, which differ in what they bound.
struct limit_texts {
    std::string concurrency =
        "Maximum number of concurrent branches; 64 unless heddle.toml sets it";
    std::string timeout = "End the run after this many seconds";
    std::string budget_usd =
        "Maximum cost of the run's model calls in US dollars; further calls return FAILED results";
    std::string max_calls =
        "Maximum number of the run's model calls, each with all its attempts; further calls "
        "return FAILED results";
    std::string json =
        "Print the result as JSON on standard output, an error as JSON on standard error";
};

/// Reads workflow_options.
class workflow_option_reader {
public:
    /// Declares the options; they are stored in `into`, which outlives the parsing.
    /// Result: --json, for a command that refuses it.
    option_ref add_to(option_list& command, workflow_options& into, const limit_texts& texts = {});
    /// Takes over what needs a look at the value. Result: what is wrong with it.
    [[nodiscard]] std::optional<std::string> finish(workflow_options& into) const;

private:
    verbosity_options verbosity_;
    std::optional<double> timeout_;
    std::optional<std::string> memory_limit_;
};

/// Adds --base-url.
void add_base_url_option(option_list& command, std::optional<std::string>& into);
/// Adds --config.
void add_config_option(option_list& command, std::optional<std::string>& into);
/// Adds --tasks, which may be repeated.
void add_tasks_option(option_list& command, std::vector<std::string>& into);

} // namespace heddle::cli
