#include "batch/run_folder/run_identity.hpp"

#include "batch/request/batch_files.hpp"
#include "sources/digest_text.hpp"

#include <heddle/rows/row.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/task_files.hpp>

#include <algorithm>
#include <filesystem>
#include <random>

namespace heddle::cli {

namespace {

constexpr const char* id_entry = "run"; ///< of the journal's manifest

[[nodiscard]] bool is_done(const ports::known_row& row) noexcept {
    return row.status == ports::row_status::done;
}

} // namespace

std::vector<setup::template_place> templates_of(const application& tools) {
    auto files = setup::template_files(tools.template_places());
    return files ? *std::move(files) : std::vector<setup::template_place>();
}

std::string new_run_id() {
    std::random_device source;
    const auto half = [&source] { return std::uint64_t{source()} << 32U | source(); };
    return hex_of({half(), half()});
}

coro::task<result<void>> check_journal(opened_files files, std::vector<ports::known_row> known,
                                       coro::call_context context) {
    const std::string folder = files.asked.run_folder();
    if (files.continues) {
        if (files.manifest.run_id.empty()) co_return result<void>();
        result<std::vector<store::manifest_entry>> entries =
            co_await files.journal.manifest(context);
        if (!entries) co_return std::move(entries).error();
        const bool matches =
            std::any_of(entries->begin(), entries->end(), [&](const store::manifest_entry& each) {
                return each.name == id_entry && each.digest == files.manifest.run_id;
            });
        if (matches) co_return result<void>();
        co_return error(errc::invalid_argument,
                        folder + ": run.db and run.json are of different runs")
            .with_hint("restore both from one copy, or name another directory with --run");
    }
    if (!known.empty() || files.journal.totals().spent.requests != 0) {
        co_return error(errc::invalid_argument, folder + " has a journal with " +
                                                    setup::counted(known.size(), "row") +
                                                    ", but its run.json is missing")
            .with_hint("restore run.json, or name another directory with --run");
    }
    co_return result<void>();
}

coro::task<result<void>> match_journal(opened_files files, std::vector<ports::known_row> known,
                                       coro::call_context context) {
    result<void> checked = co_await check_journal(files, std::move(known), context);
    if (!checked || files.continues) co_return checked;
    files.manifest.run_id = new_run_id();
    if (auto noted = files.journal.set_manifest({{id_entry, files.manifest.run_id, {}}}); !noted)
        co_return noted;
    result<void> kept = co_await files.journal.flush(context);
    co_return kept;
}

bool writes_output_again(const opened_files& files, const std::string& output,
                         const std::vector<ports::known_row>& known) {
    if (!files.continues || files.asked.writes_to_standard_output() ||
        files.journal.emitted_size() == 0) {
        return false;
    }
    std::error_code failed;
    const auto about = std::filesystem::status(output, failed);
    if (about.type() == std::filesystem::file_type::not_found) return true;
    const bool differs = files.asked.errors_in_output != files.manifest.errors_in_output;
    const bool has_errors = files.asked.errors_in_output || differs;
    if (!has_errors || !std::filesystem::is_regular_file(about)) return false;
    const bool retries = files.asked.is_retry();
    return std::any_of(known.begin(), known.end(), [=](const ports::known_row& row) {
        if (!row.emitted || row.status == ports::row_status::begun || is_done(row)) return false;
        if (differs) return true; // the file is to have the errors now, or is not any more
        // A row that was rejected runs again as soon as its line is mended.
        return retries || row.status == ports::row_status::rejected;
    });
}

result<void> check_retried_ids(const std::vector<std::string>& ids,
                               const std::vector<ports::known_row>& known) {
    for (const std::string& id : ids) {
        const ports::digest128 digest = rows::digest_of_id(id);
        const bool is_known = std::any_of(known.begin(), known.end(),
                                          [&](const auto& row) { return row.id == digest; });
        if (is_known) continue;
        return error(errc::not_found, "--retry-row: no row of the run has the id \"" + id + "\"")
            .with_hint("the rows without a result, with their ids, are in the dead letters");
    }
    return {};
}

std::vector<std::string> without_retries(const std::vector<std::string>& arguments) {
    std::vector<std::string> kept;
    for (auto each = arguments.begin(); each != arguments.end(); ++each) {
        if (*each == "--retry-failed" || each->starts_with("--retry-row=")) continue;
        if (*each == "--retry-row") {
            if (each + 1 != arguments.end()) ++each;
            continue;
        }
        kept.push_back(*each);
    }
    return kept;
}

} // namespace heddle::cli
