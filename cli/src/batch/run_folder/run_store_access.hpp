// The journal of a run, opened by its folder.
#pragma once

#include "batch/request/batch_request.hpp"

#include <heddle/base/error.hpp>
#include <heddle/store/run_store.hpp>

#include <memory>
#include <string>

namespace heddle::cli {

/// Opens the journal in the folder for writing: with `is_new` it is made unless it is there, else
/// it must be. `hold`: of the folder; null: the journal takes its own. Errors: as
/// store::open_run_store.
[[nodiscard]] result<std::unique_ptr<store::run_store>> open_journal(
    ports::worker_port& workers, const std::string& folder, journal_durability durability,
    bool is_new, std::shared_ptr<store::run_hold> hold = nullptr);
/// The same for reading, also while the run is going.
[[nodiscard]] result<std::unique_ptr<store::run_store>> read_journal(ports::worker_port& workers,
                                                                     const std::string& folder);

} // namespace heddle::cli
