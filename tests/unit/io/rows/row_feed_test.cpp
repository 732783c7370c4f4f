#include "rows_fixture.hpp"

#include <heddle/rows/row_feed.hpp>

#include <loopback_runner.hpp>

#include <unistd.h>

#include <array>
#include <chrono>

namespace heddle::rows {
namespace {

using namespace std::chrono_literals;
using loopback::runner;

class row_feeding : public rows_fixture {
protected:
    [[nodiscard]] std::unique_ptr<row_feed> feed(row_input input, row_feed_options options = {}) {
        return row_feed::start(test.loop, row_reader::open(std::move(input)).value(), options)
            .value();
    }
    [[nodiscard]] result<std::optional<row_item>> next(row_feed& from,
                                                       coro::cancel_source* cancel = nullptr,
                                                       coro::deadline until = {}) {
        return test.run(from.next(test.context(cancel, until)));
    }
    runner test;
};

TEST_F(row_feeding, rows_come_in_their_order_with_the_end_and_the_error) {
    std::string text;
    for (int i = 0; i < 5000; ++i) text += std::to_string(i) + "\n";
    row_input input;
    input.files = {put("a.jsonl", text), put("b.csv", "a,a\n")};
    const auto from = feed(input, {.max_rows = 7, .max_bytes = 1000});
    for (std::uint64_t i = 0; i < 5000;) {
        const auto batch = test.run(from->next_batch(5, test.context()));
        ASSERT_TRUE(batch);
        ASSERT_FALSE(batch->empty());
        ASSERT_LE(batch->size(), 5U);
        for (const auto& item : *batch) EXPECT_EQ(origin_of(item).number, i++);
    }
    for (int again = 0; again < 2; ++again) {
        const auto failed = next(*from);
        ASSERT_FALSE(failed);
        EXPECT_NE(failed.error().message().find("two columns"), std::string::npos);
    }
    input.files.pop_back();
    const auto whole = feed(input);
    std::size_t count = 0;
    while (true) {
        const auto item = next(*whole);
        ASSERT_TRUE(item);
        if (!*item) break;
        ++count;
    }
    EXPECT_EQ(count, 5000U);
    EXPECT_FALSE(next(*whole).value());
}

TEST_F(row_feeding, reads_no_more_ahead_than_it_may) {
    std::string text;
    for (int i = 0; i < 20'000; ++i) text += std::string(100, '1') + "\n";
    row_input input;
    input.files = {put("a.jsonl", text)};
    const auto by_rows = feed(input, {.max_rows = 10});
    const auto by_bytes = feed(input, {.max_rows = 100'000, .max_bytes = 5000});
    ASSERT_TRUE(next(*by_rows));
    ASSERT_TRUE(next(*by_bytes));
    test.turn(50ms);
    EXPECT_LE(by_rows->progress().rows, 12U);
    EXPECT_LE(by_bytes->progress().rows, 50U);
}

TEST_F(row_feeding, a_silent_standard_input_ends_at_cancellation_and_close) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    row_input input;
    input.files = {"-"};
    input.standard_input = ends[0];
    {
        const auto from = feed(input);
        ASSERT_EQ(::write(ends[1], "1\n2", 3), 3);
        EXPECT_TRUE(next(*from).value());
        const auto late = next(*from, nullptr, runner::in(20ms));
        ASSERT_FALSE(late);
        EXPECT_EQ(late.error().cancelled_because(), cancel_reason::deadline);
        coro::cancel_source stop;
        test.later([&] { stop.request(cancel_reason::user); });
        EXPECT_TRUE(next(*from, &stop).error().is_cancelled());
        // The row that nobody waited for is not lost.
        ASSERT_EQ(::write(ends[1], "3\n", 2), 2);
        const auto item = next(*from);
        ASSERT_TRUE(item);
        EXPECT_EQ(std::get<row>(**item).json, "{\"value\":23}");
        from->close(); // and does not wait for what will never come
        EXPECT_TRUE(next(*from).error().is_cancelled());
    }
    ASSERT_EQ(::write(ends[1], "4\n", 2), 2); // the descriptor is still open
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_F(row_feeding, closes_at_any_time) {
    std::string text;
    for (int i = 0; i < 3000; ++i) text += std::to_string(i) + "\n";
    row_input input;
    input.files = {put("a.jsonl", text)};
    for (int round = 0; round < 100; ++round) {
        const auto from = feed(input, {.max_rows = 16});
        for (int i = 0; i < round % 40; ++i) ASSERT_TRUE(next(*from));
    }
    test.turn();
}

} // namespace
} // namespace heddle::rows
