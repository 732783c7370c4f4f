#include "batch/steering/opened_run.hpp"

#include "batch/run_folder/run_store_access.hpp"
#include "batch/steering/run_control.hpp"
#include "run_to_end.hpp"

#include <heddle/base/parse_number.hpp>
#include <heddle/fs/local_tree.hpp>
#include <heddle/rows/row.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <vector>

namespace heddle::cli {

bool opened_run::is_going() const {
    if (store::is_run_open(folder)) return true;
    // Where the lock cannot be looked at.
    return !about.is_single() && ask_run(folder, R"({"do":"status"})").has_value();
}

result<void> with_run(const std::string& name, const run_work& work) {
    boost::asio::io_context io{1};
    coro::event_loop loop(io);
    const auto workers = fs::make_worker_pool(loop, 1);
    opened_run run;
    run.loop = &loop;
    HEDDLE_TRY(run.folder, find_run(name));
    HEDDLE_TRY(run.about, read_manifest(run.folder));
    HEDDLE_TRY(run.store, read_journal(*workers, run.folder));
    result<void> ended;
    const auto perform = [](const run_work* what, opened_run* on,
                            result<void>* into) -> coro::task<void> {
        result<void> did = co_await (*what)(*on);
        *into = std::move(did);
    };
    run_to_end(loop, perform(&work, &run, &ended));
    return ended;
}

coro::task<result<store::run_row>> find_row(opened_run* run, std::string id) {
    const ports::digest128 wanted = rows::digest_of_id(id);
    const auto number = parse_number<std::uint64_t>(id);
    result<std::vector<ports::known_row>> rows = co_await run->store->known_rows(run->context());
    if (!rows) co_return std::move(rows).error();
    auto found = std::find_if(rows->begin(), rows->end(),
                              [&](const ports::known_row& row) { return row.id == wanted; });
    if (found == rows->end() && number) {
        found = std::find_if(rows->begin(), rows->end(),
                             [&](const ports::known_row& row) { return row.row == *number; });
    }
    if (found == rows->end()) {
        co_return error(errc::not_found, "the run in " + run->folder + " has no row \"" + id + "\"")
            .with_hint(
                "a row is named by its id, as in the results, or by its number; a row "
                "that has not begun is not known yet");
    }
    result<std::optional<store::run_row>> row =
        co_await run->store->row(found->row, run->context());
    if (!row) co_return std::move(row).error();
    if (!*row) co_return error(errc::not_found, "the row is gone");
    co_return **std::move(row);
}

} // namespace heddle::cli
