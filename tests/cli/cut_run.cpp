#include "cut_run.hpp"

#include "store/sqlite_database.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace heddle::cli_test {

namespace fs = std::filesystem;
using store::sqlite_database;

namespace {

/// What cut_run changes: `?` is the last record that stays.
constexpr const char* cut_records = "DELETE FROM records WHERE row = 0 AND seq > ?";
constexpr const char* row_under_way =
    "UPDATE rows SET status = 1, emitted = 0;"
    "DELETE FROM ends;"
    "UPDATE meta SET value = 0 WHERE name IN"
    " ('done', 'failed', 'ended', 'requests', 'input_tokens', 'output_tokens');"
    "UPDATE meta SET value = 1 WHERE name = 'begun';";

sqlite_database opened(const std::string& folder) {
    auto database = sqlite_database::open(folder + "/run.db", sqlite_database::if_absent::fail);
    return std::move(database).value();
}

} // namespace

std::vector<run_record> records_of(const std::string& folder) {
    sqlite_database database = opened(folder);
    auto chosen = database.prepare(
        "SELECT seq, kind, name, substr(path, 1, 8) = x'0000000000000001'"
        " FROM records WHERE row = 0 AND name NOT LIKE '\\%%' ESCAPE '\\'"
        " ORDER BY seq");
    std::vector<run_record> records;
    if (!chosen) {
        ADD_FAILURE() << chosen.error().message();
        return records;
    }
    for (auto has_row = chosen->step(); has_row && *has_row; has_row = chosen->step()) {
        const auto kind = static_cast<ports::step_kind>(chosen->number(1));
        records.push_back({chosen->number(0), kind, std::string(chosen->bytes(2)),
                           kind == ports::step_kind::clock && chosen->number(3) == 1});
    }
    EXPECT_FALSE(records.empty()) << folder;
    return records;
}

void cut_run(const std::string& folder, const std::string& copy, std::int64_t last) {
    fs::remove_all(copy);
    fs::copy(folder, copy, fs::copy_options::recursive);
    sqlite_database database = opened(copy);
    auto cut = database.prepare(cut_records);
    ASSERT_TRUE(cut) << cut.error().message();
    const auto is_cut = store::done(cut->begin().bind(last));
    ASSERT_TRUE(is_cut) << is_cut.error().message();
    const auto goes_on = database.run(row_under_way);
    ASSERT_TRUE(goes_on) << goes_on.error().message();
}

} // namespace heddle::cli_test
