// The file of a run: who may open it, and what happens when it is damaged, gone or out of space.
#include "run_store_fixture.hpp"

#include "store/sqlite_database.hpp"

#include <fstream>
#include <random>

#include <sys/stat.h>
#include <unistd.h>

namespace heddle::store {
namespace {

using ::testing::HasSubstr;

class run_store_file_test : public run_store_fixture {};

TEST_F(run_store_file_test, is_open_in_one_place_at_a_time) {
    auto store = open();
    const auto second = try_open(options());
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message(), HasSubstr("(" + std::to_string(::getpid()) + ")"));
    EXPECT_FALSE(second.error().info().hint.empty());
    store.reset();
    EXPECT_TRUE(try_open(options()));
}

TEST_F(run_store_file_test, is_for_its_owner_only) {
    const auto store = open();
    struct stat about {};
    ASSERT_EQ(::stat(folder.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0700U);
    for (const char* name : {"/run.db", "/lock"}) {
        ASSERT_EQ(::stat((folder + name).c_str(), &about), 0) << name;
        EXPECT_EQ(about.st_mode & 0777, 0600U) << name;
    }
}

TEST_F(run_store_file_test, follows_the_mode_of_the_opening) {
    EXPECT_FALSE(try_open(options(run_opening::resume)));
    EXPECT_FALSE(try_open(options(run_opening::read)));
    EXPECT_FALSE(std::filesystem::exists(folder));
    { const auto store = open(run_opening::create); }
    const auto twice = try_open(options(run_opening::create));
    ASSERT_FALSE(twice);
    EXPECT_THAT(twice.error().message(), HasSubstr("already"));
    folder += "/none/run";
    EXPECT_FALSE(try_open(options()));
}

TEST_F(run_store_file_test, refuses_files_that_are_none_of_its) {
    { const auto store = open(); }
    const std::string file = folder + "/run.db";
    const auto refusal = [&](const std::string& statement) {
        {
            auto database = sqlite_database::open(file).value();
            EXPECT_TRUE(database.run(statement.c_str()));
        }
        const auto opened = try_open(options());
        EXPECT_FALSE(opened);
        const auto read = try_open(options(run_opening::read));
        EXPECT_FALSE(read);
        return opened ? "" : opened.error().message();
    };
    EXPECT_THAT(refusal("PRAGMA user_version = 99"), HasSubstr("newer version"));
    EXPECT_THAT(refusal("PRAGMA application_id = 5"), HasSubstr("another program"));

    std::filesystem::resize_file(file, 0);
    std::ofstream(file) << std::string(20'000, 'z');
    const auto foreign = try_open(options());
    ASSERT_FALSE(foreign);
    EXPECT_THAT(foreign.error().message(), HasSubstr(file));
    EXPECT_THAT(foreign.error().info().hint, HasSubstr("damaged"));
}

TEST_F(run_store_file_test, notices_a_damaged_file) {
    {
        const auto store = open();
        for (int i = 0; i < 50; ++i) {
            std::string body(900, '\0');
            std::mt19937 random(static_cast<unsigned>(i));
            for (char& each : body) each = static_cast<char>(random());
            ASSERT_TRUE(append(*store, 1, record_of(1, body)));
        }
    }
    {
        std::fstream file(folder + "/run.db", std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(3 * 4096);
        for (int i = 0; i < 20; ++i) file << std::string(4096, '\x5a');
    }
    // Not at once, but no later than where the damage is read.
    const auto opened = try_open(options());
    if (!opened) {
        EXPECT_THAT(opened.error().info().hint, HasSubstr("damaged"));
        return;
    }
    const auto read = loop.run((*opened)->records_of(1, loop.context()));
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().info().hint, HasSubstr("damaged"));
}

TEST_F(run_store_file_test, fails_for_good_when_the_disk_is_full) {
    auto chosen = options();
    chosen.max_pages = 60;
    std::size_t kept = 0;
    {
        const auto store = *try_open(chosen);
        std::string body(3000, '\0');
        std::mt19937 random(1);
        result<void> outcome;
        for (; outcome && kept < 1000; ++kept) {
            for (char& each : body) each = static_cast<char>(random());
            outcome = append(*store, 1, record_of(kept, body));
        }
        --kept;
        ASSERT_FALSE(outcome);
        EXPECT_THAT(outcome.error().message(), HasSubstr(folder));
        EXPECT_EQ(outcome.error().info().hint, "the disk is full");
        EXPECT_FALSE(append(*store, 2, record_of(1, "")));
        EXPECT_FALSE(store->begin_row(row_of(2), "i", "{}"));
        EXPECT_FALSE(loop.run(store->flush(loop.context())));
    }
    const auto store = open();
    EXPECT_EQ(records(*store, 1).size(), kept);
    EXPECT_TRUE(append(*store, 1, record_of(1)));
}

TEST_F(run_store_file_test, notices_that_its_file_is_gone) {
    const auto store = open();
    ASSERT_TRUE(append(*store, 1, record_of(1)));
    std::filesystem::remove_all(folder);
    const auto outcome = append(*store, 1, record_of(2));
    ASSERT_FALSE(outcome);
    EXPECT_THAT(outcome.error().message(), HasSubstr("deleted"));
}

// 'heddle runs show' failed where nothing can be written.
TEST_F(run_store_file_test, is_read_where_nothing_can_be_written) {
    {
        const auto store = open();
        ASSERT_TRUE(store->begin_row(row_of(0), "a", "{}"));
        ASSERT_TRUE(end(*store, 0));
    }
    // SQLite cannot make the file that it shares with others, as on a medium that is read only.
    std::filesystem::create_symlink("nowhere", folder + "/run.db-shm");
    const auto read = try_open(options(run_opening::read));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ((*read)->totals().done, 1U);
    const auto known = loop.run((*read)->known_rows(loop.context()));
    ASSERT_TRUE(known) << known.error().message();
    EXPECT_EQ(known->size(), 1U);

    // What is in a log is not left out.
    std::ofstream(folder + "/run.db-wal") << "records";
    const auto refused = try_open(options(run_opening::read));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("its last records are in run.db-wal"));
    EXPECT_THAT(refused.error().info().hint, HasSubstr("copy"));
}

} // namespace
} // namespace heddle::store
