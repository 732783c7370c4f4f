#include "batch/reports/run_list.hpp"

#include "batch/reports/run_rows.hpp"
#include "batch/reports/run_state.hpp"
#include "batch/request/run_manifest.hpp"
#include "batch/steering/opened_run.hpp"
#include "cost_report.hpp"
#include "report_error.hpp"
#include "table.hpp"

#include <heddle/setup/display_text.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/array.hpp>

#include <utility>

namespace heddle::cli {

namespace json = boost::json;

namespace {

/// What is listed of a run.
struct listed_run {
    ports::run_totals totals;
    std::string program;
    std::string started;
    bool going = false;
    run_state state;
};

coro::task<result<void>> list(opened_run* run, listed_run* into) {
    into->program = run->about.program;
    into->started = run->about.started;
    into->going = run->is_going();
    result<ports::run_totals> totals = co_await totals_of(run, into->going);
    if (!totals) co_return std::move(totals).error();
    into->totals = *totals;
    into->state = state_of(*run, *totals, into->going);
    co_return result<void>();
}

} // namespace

exit_code list_runs(const std::vector<std::string>& folders, bool as_json, console& output) {
    std::vector<std::string> found;
    for (const std::string& folder : folders.empty() ? std::vector<std::string>{"."} : folders) {
        auto below = runs_below(folder);
        if (!below) return report_usage_error(below.error(), as_json, output);
        found.insert(found.end(), below->begin(), below->end());
    }
    table lines;
    for (const char* heading :
         {"run", "program", "state", "done", "failed", "rejected", "begun", "cost", "started"})
        lines.column(heading);
    json::array all;
    for (const std::string& folder : found) {
        listed_run one;
        const auto listed = with_run(folder, [&](opened_run& run) { return list(&run, &one); });
        if (listed && as_json) {
            json::object members{{"run", folder},
                                 {"program", one.program},
                                 {"going", one.going},
                                 {"started", one.started},
                                 {"rows", totals_json(one.totals)}};
            one.state.add_to(members);
            all.push_back(std::move(members));
        } else if (listed) {
            lines.add({folder, one.program, one.state.text(), setup::grouped(one.totals.done),
                       setup::grouped(one.totals.failed), setup::grouped(one.totals.rejected),
                       setup::grouped(one.totals.begun),
                       cost_text(one.totals.spent.cost_usd, one.totals.spent.unpriced),
                       one.started});
        }
        if (!listed) {
            if (as_json) {
                all.push_back(json::object{{"run", folder}, {"error", listed.error().message()}});
            } else {
                lines.add({folder, listed.error().message()});
            }
        }
    }
    if (as_json) output.out_data(setup::json_line(json::value(std::move(all))));
    else if (found.empty()) output.out("no runs here\n");
    else output.out(lines.text(output.traits().out_is_terminal ? output.columns() : 0));
    return exit_code::done;
}

} // namespace heddle::cli
