#include "batch/batch_request.hpp"

#include <algorithm>

namespace heddle::cli {

bool batch_request::retries(const std::string& id) const {
    return retry_failed || std::find(retry_ids.begin(), retry_ids.end(), id) != retry_ids.end();
}

std::string batch_request::run_folder() const {
    if (!journal) return {};
    if (!run.empty()) return run;
    return writes_to_standard_output() ? std::string() : out.target.file + ".run";
}

std::string batch_request::dead_letter_file() const {
    if (!dead_letters.empty()) return dead_letters;
    if (writes_to_standard_output()) {
        const std::string folder = run_folder();
        return folder.empty() ? std::string() : folder + "/failed.jsonl";
    }
    return out.target.file + ".failed.jsonl";
}

} // namespace heddle::cli
