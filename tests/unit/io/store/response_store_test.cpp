#include <heddle/store/response_store.hpp>

#include <heddle/fs/local_tree.hpp>

#include "loopback_runner.hpp"

#include <gmock/gmock.h>

#include "store/response_table.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>

namespace heddle::store {
namespace {

using coro::call_context;
using ports::stored_response;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::system_clock;
using ::testing::HasSubstr;

/// A response waits as long as this to be written while another process keeps the file locked
/// (response_table.cpp). What comes before it has not waited for the lock.
constexpr seconds wait_for_lock{10};

/// How often this thread has slept or waited for something.
long waits_of_this_thread() {
    rusage used{};
    ::getrusage(RUSAGE_THREAD, &used);
    return used.ru_nvcsw;
}

class response_store_test : public ::testing::Test {
protected:
    response_store_test() {
        std::string name =
            (std::filesystem::temp_directory_path() / "heddle-store-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
        folder = name;
    }
    ~response_store_test() override {
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }

    std::unique_ptr<ports::response_store> open(std::uint64_t max_bytes = 1 << 20) {
        response_store_options options;
        options.file = (folder / "cache.db").string();
        options.keep_for = seconds(1000);
        options.max_bytes = max_bytes;
        options.clock = [this] { return system_clock::time_point(seconds(now.load())); };
        return make_response_store(*workers, std::move(options));
    }
    std::optional<std::string> find(ports::response_store& store, const std::string& request) {
        auto found = loop.run(store.find(request, loop.context()));
        EXPECT_TRUE(found) << found.error().message();
        if (!found || !*found) return std::nullopt;
        return (*found)->body;
    }
    void keep(ports::response_store& store, const std::string& request, std::string body) {
        const auto kept = loop.run(
            store.keep(request, stored_response{"openai", "gpt", std::move(body)}, loop.context()));
        EXPECT_TRUE(kept) << kept.error().message();
    }
    result<void> flush(ports::response_store& store, std::chrono::milliseconds limit) {
        return loop.run(store.flush(limit, loop.context()));
    }
    ports::response_store_stats stats(ports::response_store& store) {
        return loop.run(store.stats(loop.context())).value();
    }

    /// The lock of another program on a file that keeps one response.
    sqlite_database locked_after_keeping(const std::string& request, std::string body) {
        auto plain = sqlite_database::open((folder / "cache.db").string()).value();
        keep(*open(), request, std::move(body));
        EXPECT_TRUE(plain.run("PRAGMA journal_mode = DELETE"));
        EXPECT_TRUE(plain.run("BEGIN EXCLUSIVE"));
        return plain;
    }

    std::filesystem::path folder;
    std::atomic<std::int64_t> now{100'000};
    loopback::runner loop;
    std::unique_ptr<ports::worker_port> workers = fs::make_worker_pool(loop.loop, 2);
};

TEST_F(response_store_test, returns_what_was_kept_also_after_it_is_opened_again) {
    const std::string bytes("a\0b\xff", 4);
    {
        const auto store = open();
        EXPECT_EQ(find(*store, "q"), std::nullopt);
        keep(*store, "q", bytes);
        EXPECT_EQ(find(*store, "q"), bytes);
        EXPECT_EQ(find(*store, "Q"), std::nullopt);
    }
    const auto again = open();
    const auto found = loop.run(again->find("q", loop.context())).value();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->body, bytes);
    EXPECT_EQ(found->provider, "openai");
    EXPECT_EQ(found->model, "gpt");
}

TEST_F(response_store_test, replaces_a_response_and_counts_it_once) {
    const auto store = open();
    keep(*store, "q", std::string(100, 'a'));
    keep(*store, "q", std::string(50, 'b'));
    EXPECT_EQ(find(*store, "q"), std::string(50, 'b'));
    EXPECT_EQ(stats(*store).entries, 1U);
    EXPECT_LT(stats(*store).bytes, 150U);
}

TEST_F(response_store_test, forgets_what_is_too_old) {
    const auto store = open();
    keep(*store, "q", "old");
    now += 999;
    EXPECT_EQ(find(*store, "q"), "old");
    now += 1;
    EXPECT_EQ(find(*store, "q"), std::nullopt);
    EXPECT_EQ(stats(*store).expired, 1U);
    keep(*store, "q", "new");
    EXPECT_EQ(find(*store, "q"), "new");
}

TEST_F(response_store_test, makes_room_by_removing_what_was_not_used_for_longest) {
    const auto store = open(100'000);
    const std::string body(9'000, 'x');
    for (int i = 0; i < 10; ++i) {
        keep(*store, "q" + std::to_string(i), body);
        now += 10;
    }
    now += 800; // entries stay, but the first is used again more than an hour's grain later
    EXPECT_EQ(stats(*store).entries, 10U);
    keep(*store, "more", body);
    keep(*store, "still more", body);
    const auto after = stats(*store);
    EXPECT_LE(after.bytes, 100'000U);
    EXPECT_EQ(find(*store, "q0"), std::nullopt);
    EXPECT_EQ(find(*store, "still more"), body);
}

TEST_F(response_store_test, does_not_keep_what_is_larger_than_itself) {
    const auto store = open(1'000);
    keep(*store, "small", "s");
    keep(*store, "big", std::string(2'000, 'x'));
    EXPECT_EQ(find(*store, "big"), std::nullopt);
    EXPECT_EQ(find(*store, "small"), "s");
}

TEST_F(response_store_test, clears_all_or_what_is_old) {
    const auto store = open();
    keep(*store, "a", "1");
    now += 100;
    keep(*store, "b", "2");
    EXPECT_EQ(loop.run(store->clear(seconds(50), loop.context())).value(), 1U);
    EXPECT_EQ(find(*store, "a"), std::nullopt);
    EXPECT_EQ(find(*store, "b"), "2");
    EXPECT_EQ(loop.run(store->clear(std::nullopt, loop.context())).value(), 1U);
    EXPECT_EQ(stats(*store).entries, 0U);
    EXPECT_EQ(stats(*store).bytes, 0U);
}

TEST_F(response_store_test, two_processes_worth_of_connections_share_a_file) {
    const auto one = open();
    const auto other = open();
    for (int i = 0; i < 50; ++i) {
        keep(i % 2 == 0 ? *one : *other, "q" + std::to_string(i), std::to_string(i));
    }
    EXPECT_TRUE(flush(*one, seconds(10)));
    EXPECT_TRUE(flush(*other, seconds(10)));
    for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(find(i % 2 == 0 ? *other : *one, "q" + std::to_string(i)), std::to_string(i));
    }
}

TEST_F(response_store_test, is_readable_by_its_owner_only) {
    const auto store = open();
    keep(*store, "q", "a");
    EXPECT_TRUE(flush(*store, seconds(10)));
    struct stat about {};
    ASSERT_EQ(::stat((folder / "cache.db").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0600U);
    ASSERT_EQ(::stat((folder / "cache.db-wal").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0077, 0U);
}

TEST_F(response_store_test, reports_what_is_wrong_with_a_file_that_is_none) {
    std::ofstream(folder / "cache.db") << std::string(5000, 'x');
    const auto store = open();
    const auto found = loop.run(store->find("q", loop.context()));
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().message(), HasSubstr("cache.db"));
    EXPECT_THAT(found.error().info().hint, HasSubstr("delete it"));
}

TEST_F(response_store_test, refuses_the_database_of_another_program) {
    {
        response_store_options options;
        options.file = (folder / "cache.db").string();
        const auto store = make_response_store(*workers, options);
        keep(*store, "q", "a");
    }
    // The mark of the owner is at offset 68 of the header (SQLite file format, 1.3).
    std::fstream file(folder / "cache.db", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(68);
    file.write("othr", 4);
    file.close();
    std::filesystem::remove(folder / "cache.db-wal");
    std::filesystem::remove(folder / "cache.db-shm");
    const auto store = open();
    const auto found = loop.run(store->find("q", loop.context()));
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().message(), HasSubstr("another program"));
}

TEST_F(response_store_test, many_that_come_first_at_the_same_time_all_get_the_file) {
    constexpr int openers = 8;
    for (int round = 0; round < 20; ++round) {
        response_store_options options;
        options.file = (folder / ("cache" + std::to_string(round) + ".db")).string();
        std::vector<std::string> failures(openers);
        std::vector<std::thread> threads;
        for (int i = 0; i < openers; ++i) {
            threads.emplace_back([&failures, &options, i] {
                response_table mine(options);
                const auto kept = mine.keep("q" + std::to_string(i), {"p", "m", "b"});
                if (!kept) failures[static_cast<std::size_t>(i)] = kept.error().message();
            });
        }
        for (std::thread& each : threads) each.join();
        for (const std::string& each : failures) EXPECT_EQ(each, "");
        EXPECT_EQ(response_table(options).stats().value().entries, 8U);
    }
}

TEST_F(response_store_test, a_file_whose_making_was_cut_off_is_made_anew) {
    keep(*open(), "q", "a");
    {
        auto database = sqlite_database::open((folder / "cache.db").string()).value();
        ASSERT_TRUE(database.run("PRAGMA application_id = 0; PRAGMA user_version = 0"));
    }
    const auto store = open();
    EXPECT_EQ(find(*store, "q"), "a");
    keep(*store, "r", "b");
    // With somebody else's tables in it, a file without a mark stays theirs.
    {
        auto database = sqlite_database::open((folder / "theirs.db").string()).value();
        ASSERT_TRUE(database.run("CREATE TABLE notes (text TEXT)"));
    }
    response_store_options options;
    options.file = (folder / "theirs.db").string();
    const auto refused = response_table(options).find("q");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("another program"));
    auto database = sqlite_database::open(options.file).value();
    auto mode = database.prepare("PRAGMA journal_mode").value();
    ASSERT_TRUE(mode.step().value());
    EXPECT_EQ(mode.bytes(0), "delete"); // nothing of it was changed
}

TEST_F(response_store_test, a_response_that_is_there_is_given_while_another_process_writes) {
    response_store_options options;
    options.file = (folder / "cache.db").string();
    options.clock = [this] { return system_clock::time_point(seconds(now.load())); };
    response_table table(options);
    ASSERT_TRUE(table.keep("q", {"p", "m", "b"}));
    now += 2 * 3600; // its time of use is due
    auto other = sqlite_database::open(options.file).value();
    ASSERT_TRUE(other.run("BEGIN IMMEDIATE"));
    const long before = waits_of_this_thread();
    const auto found = table.find("q");
    const long waits = waits_of_this_thread() - before;
    ASSERT_TRUE(found) << found.error().message();
    ASSERT_TRUE(*found);
    EXPECT_EQ((*found)->body, "b");
    EXPECT_LT(waits, 50) << "a second of waiting for a lock is a hundred sleeps";
}

TEST_F(response_store_test, goes_on_in_a_new_file_when_its_own_was_deleted) {
    const auto remove = [this] {
        for (const char* each : {"cache.db", "cache.db-wal", "cache.db-shm"})
            std::filesystem::remove(folder / each);
    };
    const auto store = open();
    keep(*store, "a", "1");
    ASSERT_TRUE(flush(*store, seconds(5)));
    EXPECT_EQ(find(*store, "a"), "1");
    remove();
    EXPECT_EQ(find(*store, "a"), std::nullopt);
    EXPECT_FALSE(std::filesystem::exists(folder / "cache.db")) << "looking makes no file";
    auto reported = loop.run(store->keep("b", stored_response{"p", "m", "2"}, loop.context()));
    if (const auto flushed = flush(*store, seconds(5)); reported) reported = flushed;
    ASSERT_FALSE(reported);
    EXPECT_THAT(reported.error().message(),
                HasSubstr("cache.db: the file was deleted or replaced"));
    EXPECT_EQ(find(*store, "b"), "2");
    EXPECT_EQ(find(*open(), "b"), "2") << "also for the next run";
    remove();
    keep(*store, "c", "3");
    EXPECT_TRUE(flush(*store, seconds(5))) << "reported once";
    EXPECT_EQ(find(*open(), "c"), "3");
}

TEST_F(response_store_test, a_store_whose_file_was_replaced_leaves_the_log_of_the_new_one) {
    auto old = open();
    keep(*old, "a", "1");
    ASSERT_TRUE(flush(*old, seconds(5)));
    for (const char* each : {"cache.db", "cache.db-wal", "cache.db-shm"})
        std::filesystem::remove(folder / each);
    const auto other = open();
    keep(*other, "b", "2");
    ASSERT_TRUE(flush(*other, seconds(5)));
    ASSERT_TRUE(std::filesystem::exists(folder / "cache.db-wal"));
    old.reset();
    EXPECT_TRUE(std::filesystem::exists(folder / "cache.db-wal"));
    EXPECT_EQ(find(*open(), "b"), "2");
}

TEST_F(response_store_test, reports_once_that_its_file_is_unusable) {
    std::filesystem::create_directory(folder / "cache.db");
    {
        const auto store = open();
        const auto found = loop.run(store->find("q", loop.context()));
        ASSERT_FALSE(found);
        EXPECT_THAT(found.error().message(), HasSubstr("cache.db"));
        (void)loop.run(store->keep("q", stored_response{"p", "m", "b"}, loop.context()));
        EXPECT_TRUE(flush(*store, seconds(5)));
    }
    const auto store = open(); // nobody has looked
    auto reported = loop.run(store->keep("q", stored_response{"p", "m", "b"}, loop.context()));
    if (const auto flushed = flush(*store, seconds(5)); reported) reported = flushed;
    ASSERT_FALSE(reported);
    EXPECT_THAT(reported.error().message(), HasSubstr("cache.db"));
}

TEST_F(response_store_test, reports_that_its_folder_is_missing) {
    response_store_options options;
    options.file = (folder / "none" / "cache.db").string();
    const auto store = make_response_store(*workers, options);
    auto kept = loop.run(store->keep("q", stored_response{"p", "m", "b"}, loop.context()));
    if (const auto flushed = flush(*store, std::chrono::seconds(5)); kept) kept = flushed;
    ASSERT_FALSE(kept);
    EXPECT_EQ(kept.error().code(), make_error_code(errc::io_error));
    EXPECT_THAT(kept.error().message(), HasSubstr("none/cache.db"));
}

TEST_F(response_store_test, takes_responses_while_another_process_keeps_the_file_locked) {
    keep(*open(), "earlier", "0");
    auto other = sqlite_database::open((folder / "cache.db").string()).value();
    ASSERT_TRUE(other.run("BEGIN IMMEDIATE"));
    {
        const auto store = open();
        coro::cancel_source cancel;
        cancel.request(cancel_reason::user);
        for (int i = 0; i < 20; ++i) {
            // Also of a call that has ended: the response has arrived.
            const auto taken = loop.run(store->keep(
                std::to_string(i), stored_response{"p", "m", "b"}, loop.context(&cancel)));
            EXPECT_TRUE(taken) << taken.error().message();
        }
        EXPECT_EQ(find(*store, "7"), "b") << "not written, and found nevertheless";
        EXPECT_EQ(find(*store, "earlier"), "0");
        EXPECT_EQ(find(*store, "none"), std::nullopt);
        std::thread unlocks([&] {
            std::this_thread::sleep_for(milliseconds(300));
            EXPECT_TRUE(other.run("COMMIT"));
        });
        EXPECT_TRUE(flush(*store, seconds(5)));
        unlocks.join();
    }
    EXPECT_EQ(find(*open(), "19"), "b");
}

TEST_F(response_store_test, responses_that_were_reported_as_lost_are_not_written_afterwards) {
    keep(*open(), "earlier", "0");
    auto other = sqlite_database::open((folder / "cache.db").string()).value();
    ASSERT_TRUE(other.run("BEGIN IMMEDIATE"));
    {
        const auto store = open();
        for (int i = 0; i < 20; ++i) keep(*store, std::to_string(i), "b");
        const auto began = std::chrono::steady_clock::now();
        const auto late = flush(*store, milliseconds(200));
        EXPECT_LT(std::chrono::steady_clock::now() - began, wait_for_lock);
        ASSERT_FALSE(late);
        EXPECT_THAT(late.error().message(), HasSubstr("20 responses could not be written"));
        EXPECT_THAT(late.error().info().hint, HasSubstr("locked"));
        ASSERT_TRUE(other.run("COMMIT"));
        EXPECT_TRUE(flush(*store, seconds(5))) << "nothing waits any more";
        keep(*store, "later", "1");
        EXPECT_TRUE(flush(*store, seconds(5)));
    }
    const auto again = open();
    for (int i = 0; i < 20; ++i) EXPECT_EQ(find(*again, std::to_string(i)), std::nullopt) << i;
    EXPECT_EQ(find(*again, "later"), "1");
}

TEST_F(response_store_test, counts_what_is_lost_and_ends_soon_when_the_disk_is_too_slow) {
    constexpr std::size_t responses = 20'000;
    std::size_t reported = 0;
    keep(*open(), "earlier", "0");
    auto other = sqlite_database::open((folder / "cache.db").string()).value();
    ASSERT_TRUE(other.run("BEGIN IMMEDIATE"));
    {
        const auto store = open(1ULL << 30);
        for (std::size_t i = 0; i < responses; ++i) keep(*store, std::to_string(i), "b");
        ASSERT_TRUE(other.run("COMMIT"));
        const auto late = flush(*store, milliseconds(50));
        ASSERT_FALSE(late) << "written in 50 ms";
        (void)std::sscanf(late.error().message().c_str() + late.error().message().rfind(": ") + 2,
                          "%zu", &reported);
    }
    EXPECT_EQ(stats(*open(1ULL << 30)).entries, 1 + responses - reported);
    EXPECT_GT(reported, 0U);
}

TEST_F(response_store_test, a_new_file_that_is_locked_delays_no_look) {
    auto other = sqlite_database::open((folder / "cache.db").string()).value();
    ASSERT_TRUE(other.run("BEGIN IMMEDIATE"));
    const auto began = std::chrono::steady_clock::now();
    {
        const auto store = open();
        for (int i = 0; i < 40; ++i) EXPECT_EQ(find(*store, std::to_string(i)), std::nullopt);
        keep(*store, "q", "a");
        EXPECT_EQ(find(*store, "q"), "a");
    } // what cannot be written at the end is dropped, and nobody waits for it
    EXPECT_LT(std::chrono::steady_clock::now() - began, wait_for_lock);
}

TEST_F(response_store_test, a_file_that_cannot_be_read_now_is_left_alone_for_a_while) {
    {
        const sqlite_database lock = locked_after_keeping("q", "a");
        const auto store = open();
        const auto began = std::chrono::steady_clock::now();
        for (int i = 0; i < 20; ++i) { // the first waits for a second
            const auto found = loop.run(store->find("q", loop.context()));
            ASSERT_FALSE(found);
            EXPECT_THAT(found.error().info().hint, HasSubstr("locked"));
        }
        EXPECT_LT(std::chrono::steady_clock::now() - began, wait_for_lock);
    }
    EXPECT_EQ(find(*open(), "q"), "a");
}

TEST_F(response_store_test, looks_that_are_cancelled_keep_no_worker) {
    const sqlite_database lock = locked_after_keeping("q", "a");
    const auto store = open();
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 50; ++i) { // two workers, of each a second for every look
        call_context brief = loop.context();
        brief = brief.with_deadline(coro::deadline(loop.loop.now() + milliseconds(20)));
        const auto found = loop.run(store->find("q", brief));
        ASSERT_FALSE(found);
        EXPECT_TRUE(found.error().is_cancelled());
    }
    workers.reset(); // joins
    EXPECT_LT(std::chrono::steady_clock::now() - began, wait_for_lock);
}

TEST_F(response_store_test, what_waits_to_be_written_is_bounded) {
    auto other = sqlite_database::open((folder / "cache.db").string()).value();
    ASSERT_TRUE(other.run("BEGIN IMMEDIATE"));
    const auto store = open(1ULL << 30);
    const std::string body(4 << 20, 'x');
    int taken = 0;
    result<void> kept;
    while (kept && taken < 30) {
        kept = loop.run(
            store->keep(std::to_string(taken), stored_response{"p", "m", body}, loop.context()));
        if (kept) ++taken;
    }
    EXPECT_EQ(taken, 15) << "64 MB";
    ASSERT_FALSE(kept);
    EXPECT_THAT(kept.error().message(), HasSubstr("too many responses wait to be written"));
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 10; ++i) { // two seconds for each
        EXPECT_FALSE(
            loop.run(store->keep("more", stored_response{"p", "m", body}, loop.context())));
    }
    EXPECT_LT(std::chrono::steady_clock::now() - began, wait_for_lock)
        << "nothing was written for long: it is not waited for again";
    ASSERT_TRUE(other.run("COMMIT"));
    EXPECT_TRUE(flush(*store, seconds(20)));
    for (int i = 0; i < 20; ++i) keep(*store, "again " + std::to_string(i), body); // waits for room
    EXPECT_TRUE(flush(*store, seconds(20)));
    EXPECT_EQ(find(*store, "again 19"), body);
}

TEST_F(response_store_test, a_cancelled_look_up_ends_at_once_and_harms_nothing) {
    const auto store = open();
    keep(*store, "q", "a");
    coro::cancel_source cancel;
    cancel.request(cancel_reason::user);
    const auto found = loop.run(store->find("q", loop.context(&cancel)));
    ASSERT_FALSE(found);
    EXPECT_TRUE(found.error().is_cancelled());
    EXPECT_EQ(find(*store, "q"), "a");
}

} // namespace
} // namespace heddle::store
