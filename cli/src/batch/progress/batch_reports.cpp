#include "batch/progress/batch_reports.hpp"

#include "interrupts.hpp"
#include "report_error.hpp"

#include <heddle/setup/display_text.hpp>

#include <chrono>

namespace heddle::cli {

void batch_reports::report_begin(const batch_counts& counts) {
    if (asked_.options.verbosity < 0 || asked_.options.json) return;
    if (counts.kept == 0 && counts.spent.requests == 0) return;
    const std::string spent = setup::dollars(counts.spent.cost_usd);
    output_.err("heddle: continues the run in " + asked_.run_folder() + ": " +
                setup::counted(counts.kept, "row") + " finished" +
                (spent.empty() ? "" : ", " + spent + " spent") + "\n");
}

void batch_reports::report_interruption(std::uint64_t rows_in_progress) {
    if (asked_.options.verbosity < 0 || asked_.options.json) return;
    const auto seconds = std::chrono::duration<double>(asked_.grace).count();
    output_.err("\nno further row starts; " + setup::counted(rows_in_progress, "row") +
                (rows_in_progress == 1 ? " in progress ends within " : " in progress end within ") +
                setup::duration_text(seconds) + "; Ctrl-C again stops them now\n");
}

exit_code batch_reports::report_early_end(const early_end& end) {
    const bool as_json = asked_.options.errors_as_json();
    if (end.cause == early_stop::interrupted) {
        return report_error(error::cancelled(cancel_reason::user), exit_code::interrupted, as_json,
                            output_);
    }
    if (end.cause == early_stop::cancelled) {
        const std::string what =
            "'heddle runs cancel' has ended the batch while " + asked_.file + " was loaded";
        return report_error(error(errc::cancelled, what).with_hint("the same command starts again"),
                            exit_code::rows_left, as_json, output_);
    }
    if (end.rendered.empty() || as_json) return report_usage_error(end.why, as_json, output_);
    output_.err_styled(end.rendered);
    return exit_code::usage;
}

exit_code batch_reports::report_end(const batch_summary& end, const failure_table& failures) {
    const exit_code code = end.code();
    if (asked_.options.json) {
        end_is_reported();
        const std::string json = summary_json(end, failures, asked_);
        if (asked_.writes_to_standard_output()) output_.err_data(json);
        else output_.out_data(json);
        return code;
    }
    if (asked_.options.errors_as_json()) {
        end_is_reported();
        const std::string json = summary_json(end, failures, asked_);
        output_.err_data(R"({"event":"summary",)" + json.substr(1));
        return code;
    }
    if (end.failure) (void)report_error(*end.failure, code, false, output_);
    if (asked_.options.verbosity >= 0 || code != exit_code::done) {
        const unsigned columns = output_.traits().err_is_terminal ? output_.columns() : 0;
        output_.err(summary_text(end, failures, asked_, columns));
    }
    return code;
}

} // namespace heddle::cli
