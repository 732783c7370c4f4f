// `heddle index`: what get_context would know of a directory, and find in it.
#include "command_line/command.hpp"
#include "command_line/workflow_option_reader.hpp"
#include "interrupts.hpp"
#include "logging.hpp"
#include "missing_directory.hpp"
#include "report_error.hpp"
#include "run_to_end.hpp"
#include "table.hpp"

#include <heddle/fs/local_tree.hpp>
#include <heddle/memory/memory_system.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <cstdio>
#include <filesystem>
#include <optional>

namespace heddle::cli {

namespace {

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

namespace json = boost::json;

/// One run of the command.
struct index_run {
    index_run(const index_request& request, console& target)
        : asked(request), output(target),
          log(make_console_log(target, level_for(request.verbosity))) {}

    const index_request& asked;
    console& output;
    std::unique_ptr<log_port> log;
    boost::asio::io_context context{1};
    coro::event_loop loop{context};
    coro::cancel_source cancel;
    std::unique_ptr<ports::worker_port> workers = fs::make_worker_pool(loop, 2);
    memory::memory_system memory{*workers, fs::make_local_tree(), with(log.get())};
    memory::index_report report;
    std::optional<ports::memory_response> response;
    result<void> ended;

    [[nodiscard]] static memory::memory_options with(log_port* log) {
        memory::memory_options options;
        options.log = log;
        return options;
    }
};

coro::task<result<void>> index_and_ask(index_run* run) {
    const coro::call_context context{&run->loop, &run->cancel, {}};
    const index_request& asked = run->asked;
    if (is_missing(asked.folder)) co_return missing_directory(asked.folder);
    memory::index_options options;
    std::error_code failed;
    options.root = std::filesystem::absolute(asked.folder, failed).string();
    std::size_t dropped_count = 0;
    if (asked.index_file && std::filesystem::exists(*asked.index_file)) {
        const result<void> opened = co_await run->memory.load(*asked.index_file, context);
        if (!opened && !memory::is_unusable_index(opened.error())) co_return opened;
        if (!opened) {
            run->log->write(log_level::warn, "memory",
                            opened.error().message() + "; a new one is created");
        }
        std::vector<std::string> roots{options.root};
        const result<std::size_t> dropped =
            co_await run->memory.keep_below(std::move(roots), context);
        if (!dropped) co_return dropped.error();
        dropped_count = *dropped;
    }
    options.include = asked.include;
    options.exclude = asked.exclude;
    options.on_progress = [run](const memory::index_progress& now) {
        run->output.show_status("indexing: " + std::to_string(now.files_done) + " of " +
                                std::to_string(now.files_total) + " files");
    };
    result<memory::index_report> indexed =
        co_await run->memory.index_directory(std::move(options), context);
    run->output.clear_status();
    if (!indexed) co_return std::move(indexed).error();
    run->report = *std::move(indexed);
    run->report.removed += dropped_count;
    if (asked.index_file) {
        const result<void> saved = co_await run->memory.save(*asked.index_file, context);
        if (!saved) co_return saved;
    }
    if (!asked.query) co_return result<void>();
    ports::memory_request request;
    request.query = *asked.query;
    request.limit = asked.limit;
    if (asked.by_metadata) request.strategy = ports::matching_strategy::metadata;
    result<ports::memory_response> found =
        co_await run->memory.relevant_files(std::move(request), context);
    if (!found) co_return std::move(found).error();
    run->response = *std::move(found);
    co_return result<void>();
}

coro::task<void> perform(index_run* run) {
    result<void> ended = co_await index_and_ask(run);
    run->ended = std::move(ended);
}

[[nodiscard]] std::string report_text(const memory::index_report& report,
                                      const std::string& folder) {
    std::string text = "indexed " + folder + ": " +
                       setup::counted(report.added + report.updated + report.unchanged, "file");
    if (report.skipped_binary != 0) {
        text += ", left out " + std::to_string(report.skipped_binary) + " binary";
    }
    if (report.skipped_large != 0) {
        text += ", left out " + std::to_string(report.skipped_large) + " too large";
    }
    return text + (report.complete ? "\n" : "; not everything could be looked at\n");
}

[[nodiscard]] json::object report_json(const memory::index_report& report) {
    return {{"root", report.root},
            {"added", report.added},
            {"updated", report.updated},
            {"unchanged", report.unchanged},
            {"removed", report.removed},
            {"skipped_binary", report.skipped_binary},
            {"skipped_large", report.skipped_large},
            {"complete", report.complete},
            {"warnings", json::array(report.warnings.begin(), report.warnings.end())}};
}

[[nodiscard]] json::object response_json(const ports::memory_response& response) {
    json::array matches;
    for (const ports::memory_match& match : response.matches) {
        matches.push_back(json::object{{"path", match.path},
                                       {"relevance_score", match.relevance},
                                       {"content_type", match.content_type},
                                       {"metadata", match.metadata}});
    }
    return {{"context_summary", response.context_summary}, {"matches", std::move(matches)}};
}

[[nodiscard]] std::string response_text(const ports::memory_response& response,
                                        const std::string& root, unsigned columns) {
    if (response.matches.empty()) return response.context_summary + "\n";
    table rows;
    (void)rows.column("score");
    (void)rows.column("path");
    (void)rows.column("about");
    for (const ports::memory_match& match : response.matches) {
        char score[16];
        std::snprintf(score, sizeof score, "%.3f", match.relevance);
        const std::filesystem::path path(match.path);
        rows.add({score, path.lexically_relative(root).string(), match.metadata});
    }
    return rows.text(columns);
}

} // namespace

static exit_code index_folder(const index_request& asked, console& output) {
    index_run run(asked, output);
    interrupts signals(run.context, [&] { run.cancel.request(cancel_reason::user); });
    run_to_end(run.loop, perform(&run), [&] { signals.stop(); });
    if (!run.ended) {
        output.clear_status();
        return report_error(run.ended.error(),
                            signals.came() ? exit_code::interrupted : exit_code::failed, asked.json,
                            output);
    }
    if (asked.json) {
        const json::object members =
            run.response ? response_json(*run.response) : report_json(run.report);
        output.out_data(setup::json_line(members));
        return exit_code::done;
    }
    const console_traits& traits = output.traits();
    output.out(run.response ? response_text(*run.response, run.report.root,
                                            traits.out_is_terminal ? traits.columns : 0)
                            : report_text(run.report, asked.folder));
    return exit_code::done;
}

namespace {

class index_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("DIR", asked_.folder, "The directory").required();
        to.option("--query", asked_.query, "List the files that match, best first").value("TEXT");
        add_patterns(to, "--include", asked_.include,
                     "Index only files that match PATTERN (.gitignore syntax); repeatable");
        add_patterns(to, "--exclude", asked_.exclude,
                     "Skip files that match PATTERN (.gitignore syntax); repeatable");
        to.option("--limit", asked_.limit, "Maximum number of matches")
            .show_default()
            .value("N")
            .range(1, 10'000);
        to.flag("--metadata", asked_.by_metadata,
                "Match paths and descriptions, not the text of files");
        to.option("--index-file", asked_.index_file,
                  "Keep the index in FILE; later runs read only what has changed")
            .value("FILE");
        to.group("Output");
        to.flag("--json", asked_.json, "Print a JSON object on standard output");
        verbosity_.add_to(to);
    }
    std::optional<std::string> mistake() override {
        asked_.verbosity = verbosity_.verbosity();
        return verbosity_.mistake();
    }
    exit_code run(command_context context) override { return index_folder(asked_, context.output); }

private:
    static void add_patterns(option_list& to, const char* name, std::vector<std::string>& into,
                             const char* what) {
        to.option(name, into, what).value("PATTERN");
    }
    verbosity_options verbosity_;
    index_request asked_;
};

constexpr command_row rows[] = {{
    .name = "index",
    .summary = "Search a directory as get_context does",
    .details = R"(Indexes the text files below DIR, except those that .gitignore files name. See
docs/reference/memory.md.

Examples:
  heddle index src --query "where are connections reused"
  heddle index . --include '*.cpp' --exclude build/ --index-file .cache/heddle.index
  heddle index . --query limiter --metadata --json)",
    .group = command_group::other,
    .make = &make_command<index_work>,
}};

} // namespace

std::span<const command_row> index_commands() noexcept { return rows; }

} // namespace heddle::cli
