// `heddle batch`: a workflow for each row of a file.
#include "batch/command/batch_command.hpp"
#include "command_line/command.hpp"
#include "command_line/command_line.hpp"
#include "command_line/option_values.hpp"
#include "command_line/progress_option.hpp"
#include "command_line/workflow_option_reader.hpp"
#include "journal/replay_run.hpp"

#include <heddle/base/parse_number.hpp>
#include <heddle/setup/task_files.hpp>

#include <algorithm>
#include <set>
#include <string_view>

namespace heddle::cli {

namespace {

class batch_work final : public command, public replayable_command {
public:
    void add_options(option_list& to) override {
        to.argument("FILE", asked_.file, "The workflow, which defines main").required();
        add_input_options(to);
        add_output_options(to);
        add_run_options(to);
        limit_texts texts;
        texts.concurrency = "Maximum number of rows in progress; 64 unless heddle.toml sets it";
        texts.timeout = "Maximum time of a row in seconds; a row that takes longer fails";
        texts.budget_usd =
            "Start no row that would make the run cost more US dollars than this, by the mean of "
            "the rows so far, over all its processes; rows in progress end";
        texts.max_calls =
            "Start no row that would make the run send more requests to models than this, retries "
            "included, by the mean of the rows so far, over all its processes; rows in progress end";
        texts.json =
            "Print the summary as one JSON object, on standard output unless the results "
            "go there";
        reader_.add_to(to, asked_.options, texts);
    }

    std::optional<std::string> mistake() override {
        // First: whoever left out the workflow has left out --rows, too.
        if (asked_.file.ends_with(".jsonl") || asked_.file.ends_with(".csv") ||
            asked_.file.ends_with(".tsv"))
            return asked_.file + " is a file of rows: name the workflow, too";
        if (auto wrong = reader_.finish(asked_.options)) return wrong;
        if (auto wrong = read_formats()) return wrong;
        if (auto wrong = read_policy()) return wrong;
        std::optional<std::chrono::milliseconds> grace;
        constexpr auto positive = seconds_from::above_zero;
        if (auto wrong = read_seconds(deadline_, "--deadline", positive, asked_.deadline))
            return wrong;
        if (auto wrong = read_seconds(grace_, "--grace", seconds_from::zero, grace)) return wrong;
        if (grace) asked_.grace = *grace;
        if (auto wrong =
                read_seconds(park_interval_, "--park-interval", positive, asked_.park_interval))
            return wrong;
        if (auto wrong =
                read_seconds(park_settling_, "--park-settling", positive, asked_.park_settling))
            return wrong;
        if (where_ && where_->empty())
            return "--where is empty: it needs an expression, such as '(> stars 3)'";
        asked_.where = where_.value_or("");
        asked_.park = asked_.park || asked_.park_wait;
        if (asked_.park && asked_.run_folder().empty()) return "--park needs the journal of a run";
        if (asked_.park && (asked_.options.record || asked_.options.replay))
            return "--park cannot be used with --record and --replay";
        if (asked_.park && asked_.threads > 1)
            return "--park and --threads exclude each other: the responses of batches are taken on "
                   "one thread";
        if (asked_.park_wait && std::find(asked_.rows.files.begin(), asked_.rows.files.end(),
                                          "-") != asked_.rows.files.end())
            return "--park-wait reads the rows several times, so they must be in files";
        if (asked_.options.stream) return "--stream cannot be used with many rows";
        if (asked_.rows.files.empty()) return "--rows FILE is required; - is standard input";
        if (asked_.sample_rows != 0 && !asked_.dry_run) return "--sample-rows needs --dry-run";
        if (asked_.plan && asked_.dry_run) return "--plan and --dry-run exclude each other";
        if (asked_.plan && asked_.run_folder().empty()) return "--plan needs the journal of a run";
        if (asked_.journal && !asked_.dry_run && asked_.run_folder().empty())
            return "--run DIR is required where the results go to standard output or a device: it "
                   "holds the state of the run; --no-journal keeps none";
        if (!asked_.journal && !asked_.run.empty())
            return "--run and --no-journal exclude each other";
        if (!asked_.journal && asked_.is_retry())
            return "--retry-failed and --retry-row need the journal of a run";
        return std::nullopt;
    }

    exit_code run(command_context context) override {
        take_limits();
        return run_batch(asked_, context.program.arguments(), context.variables, context.output);
    }

    exit_code replay(const replay_request& asked, command_context context) override {
        take_limits();
        return replay_batch_row(asked_, asked, context.variables, context.output);
    }

private:
    void take_limits() {
        workflow_options& options = asked_.options;
        asked_.concurrency = options.concurrency.value_or(asked_.concurrency);
        asked_.row_timeout = options.timeout;
        asked_.budget_usd = options.budget_usd;
        asked_.max_calls = options.max_calls;
        // They bound the run, not each session and its branches.
        options.concurrency.reset();
        options.timeout.reset();
        options.budget_usd.reset();
        options.max_calls.reset();
        options.many_rows = true;
        options.parks_questions = true; // without a journal, they are refused
        // What is on standard output is read by programs: results, or the object of --json.
        options.prints_to_error = asked_.writes_to_standard_output() || options.json;
        options.default_tasks = setup::tasks_beside(asked_.file);
        if ((options.verbosity < 0 || options.json) && asked_.progress == progress_style::automatic)
            asked_.progress = progress_style::none;
        options.progress = asked_.progress;
    }

    void add_input_options(option_list& to) {
        to.group("Rows");
        to.values("--rows", asked_.rows.files,
                  "Files of rows: .jsonl, .csv, .tsv, .txt, also with .gz and .zst; - for standard "
                  "input. The words up to the next option are files, too: --rows *.jsonl")
            .value("FILE");
        to.option("--rows-format", rows_format_,
                  "Format of the rows, regardless of the file name: jsonl, csv, tsv or lines")
            .value("FORMAT");
        to.option("--id", asked_.rows.id_field,
                  "Column with the id of a row; by default, the id is made from its position and "
                  "content")
            .value("COLUMN");
        to.option("--limit", asked_.rows.limit, "Maximum number of rows to process")
            .value("N")
            .range(1, 1e15);
        to.option("--sample", sample_,
                  "Process a random sample of the rows, the same each time: 500, 0.05 or 5%")
            .value("SIZE");
        to.option("--where", where_,
                  "Process only rows for which this expression is true; columns are variables, row "
                  "is the whole row: '(> stars 3)'")
            .value("EXPR");
        to.option("-i,--input", asked_.inputs,
                  "Input of main for all rows: NAME=TEXT, or NAME:=JSON; repeatable")
            .value("NAME=VALUE");
        to.flag("--strict", asked_.strict,
                "Stop at a row that cannot be read, lacks a column, or has a column that neither "
                "main nor --id uses");
    }

    void add_output_options(option_list& to) {
        to.group("Results");
        to.option("-o,--out", asked_.out.target.file,
                  "File for the results: .jsonl, .csv, .tsv, .db (SQLite); - for standard output")
            .show_default()
            .value("FILE");
        to.option("--out-format", out_format_,
                  "Format of the results, regardless of the file "
                  "name: jsonl, csv, tsv or sqlite")
            .value("FORMAT");
        to.option("--columns", columns_,
                  "Members of the value to write as separate columns in CSV and TSV: a,b,c")
            .value("NAMES");
        to.option("--dead-letters", asked_.dead_letters,
                  "File for rows without a result, with their errors (default: FILE.failed.jsonl "
                  "next to the results)")
            .value("FILE");
        to.flag("--errors-in-output", asked_.errors_in_output,
                "Write failed rows to the results too");
        to.flag("--ordered", asked_.ordered, "Write results in the order of the rows");
        to.option("--window", asked_.window,
                  "With --ordered, maximum number of rows ahead of the next one to be written")
            .show_default()
            .value("N")
            .range(1, 1'000'000);
        to.flag("--force", asked_.out.target.force, "Replace an output file of another run");
    }

    void add_run_options(option_list& to) {
        to.group("Run");
        to.option("--run", asked_.run,
                  "Directory for the state of the run; the same command continues from it "
                  "(default: FILE.run next to the results)")
            .value("DIR");
        to.action(
            "--no-journal", [this] { asked_.journal = false; },
            "Keep no state: a stopped batch starts over");
        to.option("--durability", durability_,
                  "When a response is durable: fsync (each one is synced to disk), group (several "
                  "at once), off (a kill or a crash loses the last ones)")
            .value("HOW");
        to.option("--on-error", on_error_,
                  "What to do after a row has failed: skip (continue), stop, or stop-after=N rows; "
                  "by default a batch continues unless the first 100 rows fail")
            .value("POLICY");
        to.option("--retry-rows", asked_.retry_rows,
                  "Maximum number of times to run a failed row again")
            .value("N")
            .range(0, 1000);
        to.flag("--retry-failed", asked_.retry_failed,
                "Run the rows again that failed in earlier processes of the run");
        to.option("--retry-row", asked_.retry_ids,
                  "Run the row with this id again if it failed before; repeatable")
            .value("ID");
        to.option("--threads", asked_.threads,
                  "Number of threads that execute rows, for CPU-bound workflows; they share "
                  "limits and budgets")
            .show_default()
            .value("N")
            .range(1, 256);
        to.option("--deadline", deadline_, "Start no further row after this many seconds")
            .value("S");
        to.option("--grace", grace_,
                  "Seconds for rows in progress to finish after Ctrl-C (default: 30)")
            .value("S");
        to.flag("--park", asked_.park,
                "Send the requests of OpenAI, Anthropic and Gemini models in batches, for half the "
                "price: submit them and exit; the same command takes the responses and continues");
        to.flag("--park-wait", asked_.park_wait,
                "Like --park, but keep running until all batches have ended and all rows are done");
        to.option("--park-interval", park_interval_,
                  "With --park-wait, seconds between checks of the batches (default: 30, growing "
                  "to 300)")
            .value("S");
        to.flag("--cancel-batches", asked_.cancel_batches, "As 'heddle runs cancel' asks").hidden();
        to.option("--park-settling", park_settling_,
                  "Seconds after which a batch is submitted again if its submission was not "
                  "acknowledged and the service does not list it (default: 30)")
            .value("S");
        to.flag("--dry-run", asked_.dry_run,
                "Only read and check the rows; report how many would run and the estimated cost");
        to.flag("--plan", asked_.plan,
                "Only report which requests an edit of the program would repeat, per task, and "
                "their estimated cost");
        to.option("--sample-rows", asked_.sample_rows,
                  "With --dry-run, run this many rows to measure the cost of a row; their results "
                  "are discarded")
            .value("N")
            .range(1, 10'000);
        add_progress_option(to, progress_);
    }

    std::optional<std::string> read_formats() {
        if (rows_format_) {
            const auto format = rows::row_format_of(*rows_format_);
            if (!format)
                return "--rows-format must be auto, jsonl, csv, tsv or lines, not '" +
                       *rows_format_ + "'";
            asked_.rows.format = *format;
        }
        if (out_format_) {
            const auto format = rows::result_format_of(*out_format_);
            if (!format)
                return "--out-format must be auto, jsonl, csv, tsv or sqlite, not '" +
                       *out_format_ + "'";
            asked_.out.format = *format;
        }
        if (sample_) {
            auto sample = rows::parse_row_sample(*sample_, asked_.options.seed);
            if (!sample) return "--sample: " + sample.error().message();
            asked_.rows.sample = *sample;
        }
        for (std::string rest = columns_.value_or(""); !rest.empty();) {
            const std::size_t comma = rest.find(',');
            if (comma != 0) asked_.out.columns.push_back(rest.substr(0, comma));
            rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
        }
        return check_columns();
    }

    /// What is written is to be read again.
    [[nodiscard]] std::optional<std::string> check_columns() const {
        // Where it is not known, opening the file reports that.
        const auto format = rows::resolved_format(asked_.out);
        const bool has_columns =
            !format || *format == rows::result_format::csv || *format == rows::result_format::tsv;
        if (columns_ && !has_columns)
            return "--columns is for results in CSV and TSV: FILE.csv, FILE.tsv or --out-format";
        std::set<std::string_view> taken{"id",       "row",      "status",       "value",
                                         "error",    "requests", "input_tokens", "output_tokens",
                                         "cost_usd", "attempts", "duration_ms",  "maybe_paid"};
        for (const std::string& column : asked_.out.columns) {
            if (!taken.insert(column).second)
                return "--columns: two columns would have the name '" + column + "'";
        }
        return std::nullopt;
    }

    std::optional<std::string> read_policy() {
        constexpr std::string_view after = "stop-after=";
        if (on_error_ == "stop") {
            asked_.max_failed = 1;
        } else if (on_error_ && on_error_->starts_with(after)) {
            const std::string count = on_error_->substr(after.size());
            const auto rows = parse_number<std::int64_t>(count);
            if (!rows || *rows < 1)
                return "--on-error stop-after=N needs a whole number from 1, not '" + count + "'";
            asked_.max_failed = static_cast<std::uint64_t>(*rows);
        } else if (on_error_ == "skip") {
            asked_.skips_all_failures = true;
        } else if (on_error_) {
            return "--on-error must be skip, stop or stop-after=N, not '" + *on_error_ + "'";
        }
        if (durability_ == "fsync") asked_.durability = journal_durability::fsync;
        else if (durability_ == "off") asked_.durability = journal_durability::off;
        else if (durability_ && durability_ != "group")
            return "--durability must be fsync, group or off, not '" + *durability_ + "'";
        return read_progress_option(progress_, asked_.progress);
    }

    static batch_request defaults() {
        batch_request request;
        request.out.target.file = "-";
        return request;
    }

    workflow_option_reader reader_;
    batch_request asked_ = defaults();
    std::optional<std::string> rows_format_;
    std::optional<std::string> out_format_;
    std::optional<std::string> columns_;
    std::optional<std::string> sample_;
    std::optional<std::string> where_;
    std::optional<std::string> durability_;
    std::optional<std::string> on_error_;
    std::optional<std::string> progress_;
    std::optional<double> deadline_;
    std::optional<double> grace_;
    std::optional<double> park_interval_;
    std::optional<double> park_settling_;
};

constexpr command_row rows[] = {{
    .name = "batch",
    .summary = "Run a workflow for each row of a file",
    .details =
        R"(The function main is called for each row. Its parameters take the columns of the same names; a
single parameter named row takes the whole row as a map. The value of main is the result of the row.

The directory of the run holds the state of its rows: after Ctrl-C, a crash or an exhausted budget,
the same command continues the run, and no finished row runs again. After an edit of the program, all
rows run again, but an unchanged request reuses its earlier response without a call; --plan reports
in advance which requests will be sent again. Each row is in the results once. Rows that fail or
cannot be read are in FILE.failed.jsonl with their errors.

Examples:
  heddle batch classify.heddle --rows reviews.jsonl --out results.jsonl --id id
  heddle batch classify.heddle --rows reviews.csv.gz --out results.csv --limit 10
  heddle batch classify.heddle --rows reviews.jsonl --out results.jsonl --budget-usd 2 -c 200
  heddle batch classify.heddle --rows reviews.jsonl --out results.jsonl --retry-failed
  heddle batch classify.heddle --rows reviews.jsonl --out results.jsonl --plan
  heddle batch classify.heddle --rows reviews.jsonl --out results.jsonl --park
  heddle runs show results.jsonl

The first Ctrl-C lets rows in progress finish, the second stops them, the third ends the program at
once. None of them loses the state in the directory of the run.

Exit codes: 0 all rows are done, 3 all rows have ended and some have no result, 4 stopped early
(rows are left), 5 rows wait for batches of their services (--park), 1 failed, 2 usage or syntax error, 130 interrupted.)",
    .group = command_group::run,
    .make = &make_command<batch_work>,
}};

} // namespace

std::span<const command_row> batch_commands() noexcept { return rows; }

} // namespace heddle::cli
