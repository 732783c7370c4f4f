#include "batch/reports/run_state.hpp"

#include <heddle/setup/display_text.hpp>
#include <heddle/store/run_store.hpp>

#include <boost/json/value.hpp>

namespace heddle::cli {

namespace json = boost::json;

namespace {

json::value text_or_null(const std::string& text) {
    return text.empty() ? json::value() : json::value(text);
}

json::value count_or_null(const std::optional<std::uint64_t>& count) {
    return count ? json::value(*count) : json::value();
}

/// Of a run of `heddle run`: the journal has all that is known.
std::string name_of_single(const ports::run_totals& totals) {
    if (totals.done != 0) return "done";
    return totals.failed + totals.rejected != 0 ? "failed" : "stopped";
}

} // namespace

std::string run_state::text() const {
    std::string text = name;
    if (!stopped_by.empty() && stopped_by != name) text += " (" + stopped_by + ")";
    if (left && *left != 0)
        text += std::string(left_is_estimate ? ", about " : ", ") + setup::grouped(*left) + " left";
    return text;
}

void run_state::add_to(json::object& members) const {
    members["state"] = text_or_null(name);
    members["stopped_by"] = text_or_null(stopped_by);
    members["total"] = count_or_null(total);
    members["left"] = count_or_null(left);
    members["left_is_estimate"] = left_is_estimate;
}

run_state state_of(const opened_run& run, const ports::run_totals& totals, bool going) {
    run_state state;
    // It may have begun since.
    if (going || store::is_run_open(run.folder)) {
        state.name = "going";
    } else if (run.about.is_single()) {
        state.name = name_of_single(totals);
    } else if (run.about.notes_end) {
        // It may have ended since the manifest was read.
        const auto now =
            run.about.end ? result<run_manifest>(run.about) : read_manifest(run.folder);
        if (!now || !now->end) {
            state.name = "killed";
            return state;
        }
        const batch_end& end = *now->end;
        state.name = end.state;
        state.stopped_by = end.stopped_by;
        state.total = end.total;
        state.left = end.left;
        state.left_is_estimate = end.left_is_estimate;
    }
    return state;
}

} // namespace heddle::cli
