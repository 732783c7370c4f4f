#include "batch/run_folder/run_store_access.hpp"

#include <utility>

namespace heddle::cli {

result<std::unique_ptr<store::run_store>> open_journal(ports::worker_port& workers,
                                                       const std::string& folder,
                                                       journal_durability durability, bool is_new,
                                                       std::shared_ptr<store::run_hold> hold) {
    store::run_store_options options;
    options.hold = std::move(hold);
    options.folder = folder;
    options.opening = is_new ? store::run_opening::create_or_resume : store::run_opening::resume;
    switch (durability) {
    case journal_durability::fsync: options.durability = store::run_durability::fsync; break;
    case journal_durability::group: options.durability = store::run_durability::group; break;
    case journal_durability::off: options.durability = store::run_durability::off; break;
    }
    return store::open_run_store(workers, std::move(options));
}

result<std::unique_ptr<store::run_store>> read_journal(ports::worker_port& workers,
                                                       const std::string& folder) {
    store::run_store_options options;
    options.folder = folder;
    options.opening = store::run_opening::read;
    return store::open_run_store(workers, std::move(options));
}

} // namespace heddle::cli
