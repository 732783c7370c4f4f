#include "batch/run_folder/found_run.hpp"

#include "batch/run_folder/run_identity.hpp"
#include "batch/run_folder/run_location.hpp"
#include "batch/run_folder/run_store_access.hpp"

#include <filesystem>
#include <utility>

namespace heddle::cli {

bool has_run(const std::string& folder) {
    std::error_code failed;
    const std::string journal = folder + "/run.db";
    return std::filesystem::exists(manifest_file(folder), failed) ||
           (std::filesystem::is_regular_file(journal, failed) &&
            std::filesystem::file_size(journal, failed) != 0);
}

coro::task<result<found_top_levels>> read_top_levels(ports::worker_port* workers,
                                                     const batch_request* asked,
                                                     coro::call_context context) {
    found_top_levels found;
    const std::string folder = asked->run_folder();
    std::error_code failed;
    if (folder.empty() || !std::filesystem::exists(manifest_file(folder), failed)) co_return found;
    auto manifest = read_manifest(folder);
    if (!manifest) co_return std::move(manifest).error();
    found.manifest = *std::move(manifest);
    auto journal = read_journal(*workers, folder);
    if (!journal) co_return std::move(journal).error();
    result<std::vector<store::manifest_entry>> entries = co_await (*journal)->manifest(context);
    if (!entries) co_return std::move(entries).error();
    found.kept = top_level_store(*entries);
    co_return found;
}

coro::task<result<found_run>> read_run(ports::worker_port* workers, const batch_request* asked,
                                       coro::call_context context) {
    const std::string folder = asked->run_folder();
    found_run run;
    std::error_code failed;
    run.continues = std::filesystem::exists(manifest_file(folder), failed);
    auto opened = read_journal(*workers, folder);
    if (!opened) co_return std::move(opened).error();
    run.journal = *std::move(opened);
    result<std::vector<ports::known_row>> known = co_await run.journal->known_rows(context);
    if (!known) co_return std::move(known).error();
    run.known = *std::move(known);
    if (run.continues) {
        auto manifest = read_manifest(folder);
        if (!manifest) co_return std::move(manifest).error();
        run.manifest = *std::move(manifest);
        follow_move(run.manifest, *asked, folder);
        result<output_state> state = co_await state_of_output(*run.journal, *asked, context);
        if (!state) co_return std::move(state).error();
        if (auto here = check_location(run.manifest, *asked, *state); !here)
            co_return std::move(here).error();
    }
    result<void> matched = co_await check_journal(
        {*run.journal, run.manifest, *asked, run.continues}, run.known, context);
    if (matched) matched = check_retried_ids(asked->retry_ids, run.known);
    if (!matched) co_return std::move(matched).error();
    co_return run;
}

} // namespace heddle::cli
