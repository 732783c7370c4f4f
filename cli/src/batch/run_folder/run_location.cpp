#include "batch/run_folder/run_location.hpp"

#include "batch/request/batch_files.hpp"
#include "batch/results/batch_outputs.hpp"
#include "batch/results/output_mark.hpp"

#include <filesystem>

namespace heddle::cli {

namespace {

namespace paths = std::filesystem;

/// `file` as seen from `before`, seen from `now`.
std::string moved(const std::string& file, const std::string& before, const std::string& now) {
    if (file.empty() || file == "-") return file;
    return (paths::path(now) / paths::path(file).lexically_relative(before))
        .lexically_normal()
        .string();
}

} // namespace

void follow_move(run_manifest& manifest, const batch_request& asked, const std::string& folder) {
    const std::string now = absolute_path(folder);
    if (manifest.folder.empty() || manifest.folder == now) return;
    const auto follow = [&](std::string& file, const std::string& wanted) {
        const std::string there = moved(file, manifest.folder, now);
        if (there.empty() || !is_same_path(there, wanted)) return;
        // A file that was left behind: the directory alone was moved.
        std::error_code failed;
        if (paths::exists(there, failed) || !paths::exists(file, failed)) file = there;
    };
    follow(manifest.output, asked.out.target.file);
    follow(manifest.dead_letters, asked.dead_letter_file());
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
coro::task<result<output_state>> state_of_output(store::run_store& journal,
                                                 // NOLINTNEXTLINE(cppcoreguidelines-*)
                                                 const batch_request& asked,
                                                 coro::call_context context) {
    if (asked.writes_to_standard_output() || journal.emitted_size() == 0 ||
        journal.phase() == store::output_phase::replacing) {
        co_return output_state::unknown;
    }
    result<std::vector<store::manifest_entry>> entries = co_await journal.manifest(context);
    if (!entries) co_return std::move(entries).error();
    const std::string file = journal.phase() == store::output_phase::beside
                                 ? file_beside(asked.out.target.file)
                                 : asked.out.target.file;
    for (const store::manifest_entry& each : *entries) {
        if (each.name != output_mark_entry) continue;
        // A crash may have left a mark of results that are written again.
        if (std::strtoull(each.digest.c_str(), nullptr, 10) > journal.emitted_size()) break;
        if (const auto fits = fits_mark(file, each.digest))
            co_return *fits ? output_state::own : output_state::foreign;
    }
    co_return output_state::unknown;
}

result<void> check_location(const run_manifest& manifest, const batch_request& asked,
                            output_state output) {
    const std::string& file = asked.out.target.file;
    if (!is_same_path(manifest.output, file) && output != output_state::own) {
        return error(errc::invalid_argument, "the run in " + asked.run_folder() + " writes to " +
                                                 manifest.output + ", not to " + file)
            .with_hint(
                "name the same --out, or another directory with --run; after a move, move "
                "the results to " +
                file + " as well");
    }
    if (manifest.id_field != asked.rows.id_field) {
        return error(
                   errc::invalid_argument,
                   "the run in " + asked.run_folder() + " names its rows by " +
                       (manifest.id_field.empty() ? "their position" : "--id " + manifest.id_field))
            .with_hint("use the same --id, or another folder with --run");
    }
    if (output == output_state::foreign && !asked.out.target.force) {
        return error(errc::invalid_argument,
                     file + " is not the file that this run has written: it holds something else")
            .with_hint(
                "put that back, or move this one away: all results are written again; "
                "--force replaces it");
    }
    return {};
}

} // namespace heddle::cli
