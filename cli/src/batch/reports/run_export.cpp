#include "batch/reports/run_export.hpp"

#include "batch/reports/run_rows.hpp"
#include "batch/steering/opened_run.hpp"

#include <heddle/rows/result_writer.hpp>
#include <heddle/setup/display_text.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace heddle::cli {

namespace {

using ports::row_status;

struct exported_rows {
    std::uint64_t written = 0;
    std::uint64_t marked = 0;     ///< of those: of an earlier version of the program
    std::uint64_t left_out = 0;   ///< of an earlier version, where the format has no mark for them
    std::uint64_t of_same_id = 0; ///< that a table has no room for: another row has their id
};

/// Results that are written together: a database makes each write durable.
class result_group {
public:
    /// `into` outlives the group.
    explicit result_group(rows::result_writer& into) : into_(into) {}

    [[nodiscard]] result<void> add(rows::row_result one) {
        constexpr std::size_t max_rows = 1000;
        constexpr std::size_t max_bytes = std::size_t{8} << 20;
        bytes_ += one.id.size() + one.end.value_json.size() + one.end.error_json.size();
        rows_.push_back(std::move(one));
        return rows_.size() < max_rows && bytes_ < max_bytes ? result<void>() : write();
    }
    [[nodiscard]] result<void> write() {
        bytes_ = 0;
        const std::vector<rows::row_result> all = std::exchange(rows_, {});
        return all.empty() ? result<void>() : into_.write(all);
    }

private:
    rows::result_writer& into_;
    std::vector<rows::row_result> rows_;
    std::size_t bytes_ = 0;
};

coro::task<result<void>> export_rows(opened_run* run, const export_request* asked,
                                     exported_rows* exported) {
    rows::result_output to;
    to.target.file = asked->file;
    to.target.force = asked->force;
    auto writer = rows::result_writer::open(std::move(to));
    if (!writer) co_return std::move(writer).error();
    rows::result_writer* const into = writer->get();
    result_group group(*into);
    std::optional<row_status> status;
    for (const row_status each : {row_status::done, row_status::failed, row_status::rejected}) {
        if (asked->status == name_of(each)) status = each;
    }
    result<void> ok = co_await for_each_row(
        run, status,
        [&](store::run_row row) -> result<void> {
            if (!row.ended) return {};
            if (row.known.outdated && !into->marks_outdated()) {
                ++exported->left_out;
                return {};
            }
            if (row.known.outdated) ++exported->marked;
            ++exported->written;
            return group.add({std::move(row.id), *std::move(row.ended), row.known.outdated});
        },
        UINT64_MAX);
    if (ok) ok = group.write();
    if (ok) ok = into->flush();
    if (ok && into->keeps_one_per_id()) {
        exported->of_same_id = exported->written - into->size();
        exported->written = into->size();
    }
    co_return ok;
}

} // namespace

exit_code export_run(const export_request& asked, console& output) {
    exported_rows exported;
    const auto ended =
        with_run(asked.run, [&](opened_run& on) { return export_rows(&on, &asked, &exported); });
    if (ended && asked.file != "-")
        output.err(setup::counted(exported.written, "row") + " written to " + asked.file + "\n");
    const std::string earlier = " of an earlier version of the program ";
    if (ended && exported.marked != 0)
        output.err(setup::counted(exported.marked, "result") + earlier + "marked \"outdated\"\n");
    if (ended && exported.left_out != 0)
        output.err(setup::counted(exported.left_out, "result") + earlier +
                   "left out; an export as JSONL has and marks them\n");
    if (ended && exported.of_same_id != 0)
        output.err(setup::counted(exported.of_same_id, "row") +
                   " left out, since another row has the same id; an export as JSONL or CSV has "
                   "all\n");
    return report_outcome(ended, asked.json, output);
}

} // namespace heddle::cli
