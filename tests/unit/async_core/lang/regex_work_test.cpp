// Regular expressions cannot be interrupted: they are counted, bounded, and kept off the loop.
#include "lang_harness.hpp"
#include "watched_work.hpp"

#include <heddle/lang/side_thread.hpp>
#include "lang/builtins/match_feed.hpp"

#include <heddle/lang/builtin.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/text.hpp>

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace heddle::lang::testing {
namespace {

TEST(regex_work, of_matches_that_read_far_beyond_themselves_counts_as_it_takes_time) {
    const heap_owner memory(heap::create());
    std::vector<value> given{make_string(*memory, "a.*b|a"),
                             make_string(*memory, std::string(20'000, 'a'))};
    watched_work work;
    native_call call(*memory, *find_builtin("regex-match-all"), work);
    const double began = seconds_of_processor();
    const value matches = find_builtin("regex-match-all")->run(call, given);
    const double took = seconds_of_processor() - began;
    ASSERT_EQ(matches.length(), 20'000U);
    EXPECT_GE(static_cast<double>(work.done()) * 1e-8, took / 10); // a unit is 10 ns
    EXPECT_GT(work.looks, 1000U);
}

TEST(regex_work, of_all_matches_of_a_call_is_bounded) {
    const std::string much(200'000, 'a');
    const auto pattern = std::make_shared<const RE2>("a.*b|a");
    for (const std::size_t size : {std::size_t{20'000}, much.size()}) { // here, and in a thread
        free_work work;
        match_feed feed(pattern, std::string_view(much).substr(0, size), work, SIZE_MAX,
                        std::chrono::milliseconds(5));
        std::size_t matches = 0;
        while (!feed.next().empty()) ++matches;
        ASSERT_TRUE(feed.failure()) << size;
        EXPECT_EQ(error_kind_name(*feed.failure()), "LimitError");
        EXPECT_LT(matches, size / 2);
    }
    free_work work;
    match_feed feed(pattern, much, work, 1);
    EXPECT_FALSE(feed.next().empty());
    EXPECT_FALSE(feed.failure());
}

TEST(regex_work, of_a_pattern_without_end_is_refused) {
    lang_harness harness;
    EXPECT_TRUE(harness.shown("(regex-match (string-join (range 20000)) \"x\")")
                    .starts_with("LimitError: a pattern of"));
    EXPECT_TRUE(harness.shown("(regex-match \"(\\\\pL{10}){100}\" \"x\")")
                    .starts_with("SexpEvaluationError: regex-match: invalid regular expression"))
        << harness.shown("(regex-match \"(\\\\pL{10}){100}\" \"x\")");
    EXPECT_EQ(harness.shown("(regex-match \"^(\\\\pL{2}){3}$\" \"abcdef\")"),
              "(\"abcdef\" \"ef\")");
}

/// Ends when it is asked to, not when nobody waits for it any more.
class slow_job final : public side_job {
public:
    void run() override {
        while (!ends) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (throws) throw std::bad_alloc();
        ended = true;
    }
    std::size_t bytes() const noexcept override { return size; }
    std::atomic<bool> ends{false};
    std::atomic<bool> ended{false};
    bool throws = false;
    std::size_t size = 1;
};

TEST(regex_work, that_nobody_waits_for_is_bounded_in_number_and_memory) {
    std::vector<std::shared_ptr<slow_job>> abandoned;
    for (int i = 0; i < 4; ++i) {
        abandoned.push_back(std::make_shared<slow_job>());
        watched_work impatient(true);
        EXPECT_EQ(run_beside(abandoned.back(), impatient), side_end::stopped);
        EXPECT_TRUE(abandoned.back()->abandoned());
    }
    const auto fifth = std::make_shared<slow_job>();
    fifth->ends = true;
    watched_work impatient(true);
    EXPECT_EQ(run_beside(fifth, impatient), side_end::stopped);
    EXPECT_FALSE(fifth->ended) << "it never had a thread";
    for (const auto& each : abandoned) each->ends = true;
    free_work work;
    EXPECT_EQ(run_beside(fifth, work), side_end::done);
    EXPECT_TRUE(fifth->ended);

    const auto large = std::make_shared<slow_job>();
    large->size = std::size_t{1} << 30; // alone it may be larger than all together
    for (int i = 0; i < 5000 && !large->abandoned(); ++i) { // until the threads have ended
        watched_work soon(true);
        ASSERT_EQ(run_beside(large, soon), side_end::stopped);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(large->abandoned());
    const auto small = std::make_shared<slow_job>();
    small->ends = true;
    watched_work later(true);
    EXPECT_EQ(run_beside(small, later), side_end::stopped);
    EXPECT_FALSE(small->ended);
    large->ends = true;
    EXPECT_EQ(run_beside(small, work), side_end::done);

    const auto thrower = std::make_shared<slow_job>();
    thrower->ends = thrower->throws = true;
    EXPECT_THROW((void)run_beside(thrower, work), std::bad_alloc);
}

} // namespace
} // namespace heddle::lang::testing
