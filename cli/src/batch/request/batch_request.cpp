#include "batch/request/batch_request.hpp"

#include <algorithm>
#include <filesystem>

namespace heddle::cli {

bool batch_request::is_retry() const noexcept {
    return retry_failed || !retry_ids.empty() || has_retried;
}

bool batch_request::retries(const std::string& id) const {
    return retry_failed || std::find(retry_ids.begin(), retry_ids.end(), id) != retry_ids.end();
}

bool batch_request::has_place_beside_results() const {
    if (writes_to_standard_output()) return false;
    std::error_code failed;
    const auto about = std::filesystem::status(out.target.file, failed);
    return about.type() != std::filesystem::file_type::character &&
           about.type() != std::filesystem::file_type::fifo;
}

parking_request batch_request::parking(bool has_parked) const {
    parking_request how;
    how.folder = run_folder();
    how.parks = park;
    how.has_parked = has_parked;
    how.waits = park_wait;
    how.quiet = options.verbosity < 0 || options.json;
    how.interval = park_interval;
    how.settling = park_settling;
    return how;
}

std::string batch_request::run_folder() const {
    if (!journal) return {};
    if (!run.empty()) return run;
    return has_place_beside_results() ? out.target.file + ".run" : std::string();
}

std::string batch_request::dead_letter_file() const {
    if (!dead_letters.empty()) return dead_letters;
    if (!has_place_beside_results()) {
        const std::string folder = run_folder();
        return folder.empty() ? std::string() : folder + "/failed.jsonl";
    }
    return out.target.file + ".failed.jsonl";
}

} // namespace heddle::cli
