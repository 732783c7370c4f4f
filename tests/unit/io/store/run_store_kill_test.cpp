// Processes that are killed while they write to a run.
#include "run_store_fixture.hpp"

#include <csignal>
#include <map>
#include <random>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace heddle::store {
namespace {

/// An acknowledged record, as the child reports it.
struct kept_record {
    std::uint64_t row;
    std::uint64_t number;
};

class run_store_kill_test : public run_store_fixture {
protected:
    static constexpr std::uint64_t rows = 8;

    static coro::task<result<void>> write_row(run_store& store, std::uint64_t row,
                                              std::uint64_t first, int report,
                                              coro::call_context context) {
        for (std::uint64_t number = first;; ++number) {
            const std::string body(number % 5 == 0 ? 3000 : 20, static_cast<char>('a' + row));
            const auto kept = co_await store.append(row, record_of(number, body), context);
            if (!kept) co_return kept.error();
            const kept_record one{row, number};
            if (::write(report, &one, sizeof one) != sizeof one) ::_exit(3);
        }
    }

    /// Writes until it is killed.
    [[noreturn]] void write_on(const std::vector<std::uint64_t>& first, int report,
                               run_durability durability) {
        const auto store = try_open(options(run_opening::create_or_resume, durability));
        if (!store) ::_exit(4);
        coro::nursery all(loop.context());
        for (std::uint64_t row = 0; row < rows; ++row)
            all.start(write_row(**store, row, first[row], report, all.context()));
        [[maybe_unused]] const auto outcome = loop.run(all.join());
        ::_exit(5);
    }

    void kill_often(run_durability durability, int kills) {
        std::mt19937 random(7);
        std::vector<std::uint64_t> next(rows, 0); // after the last acknowledged one
        std::size_t acknowledged = 0;
        for (int round = 0; round < kills; ++round) {
            int ends[2];
            ASSERT_EQ(::pipe(ends), 0);
            const pid_t child = ::fork();
            ASSERT_GE(child, 0);
            if (child == 0) {
                ::close(ends[0]);
                write_on(next, ends[1], durability);
            }
            ::close(ends[1]);
            kept_record one{};
            // The first round waits for a record, so that not every child dies while it opens.
            if (round % 2 == 0 && ::read(ends[0], &one, sizeof one) == sizeof one) {
                next[one.row] = one.number + 1;
                ++acknowledged;
            }
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
            ::kill(child, SIGKILL);
            while (::read(ends[0], &one, sizeof one) == sizeof one) {
                next[one.row] = one.number + 1;
                ++acknowledged;
            }
            ::close(ends[0]);
            int status = 0;
            ASSERT_EQ(::waitpid(child, &status, 0), child);
            ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
            check(next);
        }
        EXPECT_GE(acknowledged, static_cast<std::size_t>(kills) / 2);
    }

    /// All that was acknowledged is there, in order; one more may be.
    void check(std::vector<std::uint64_t>& next) {
        const auto opened = try_open(options());
        ASSERT_TRUE(opened) << opened.error().message();
        std::uint64_t sum = 0;
        for (std::uint64_t row = 0; row < rows; ++row) {
            const auto kept = records(**opened, row);
            ASSERT_GE(kept.size(), next[row]);
            ASSERT_LE(kept.size(), next[row] + 1);
            for (std::uint64_t i = 0; i < kept.size(); ++i) ASSERT_EQ(kept[i].path.high, i);
            next[row] = kept.size();
            sum += kept.size();
        }
        EXPECT_EQ((*opened)->totals().spent.requests, sum);
    }
};

TEST_F(run_store_kill_test, loses_nothing_with_group) { kill_often(run_durability::group, 20); }
TEST_F(run_store_kill_test, loses_nothing_with_fsync) { kill_often(run_durability::fsync, 10); }

TEST_F(run_store_kill_test, keeps_a_second_process_out) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const auto store = try_open(options());
        if (::write(ends[1], store ? "y" : "n", 1) == 1) ::pause();
        ::_exit(0);
    }
    char ready = 0;
    ASSERT_EQ(::read(ends[0], &ready, 1), 1);
    EXPECT_EQ(ready, 'y');
    const auto second = try_open(options());
    EXPECT_TRUE(try_open(options(run_opening::read)));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message(), ::testing::HasSubstr(std::to_string(child)));
    EXPECT_TRUE(try_open(options()));
    ::close(ends[0]);
    ::close(ends[1]);
}

} // namespace
} // namespace heddle::store
