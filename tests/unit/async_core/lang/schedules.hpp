// What every form of concurrency has to stand.
#pragma once

#include "lang_harness.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/printer.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heddle::lang::testing {

/// Nothing is left over after a program: no branch, no permit.
inline void expect_tidy(const lang_harness& harness, const std::string& what) {
    EXPECT_FALSE(harness.stuck) << what;
    EXPECT_EQ(harness.permits, 0U) << what;
}

/// The program ends with `expected` (a written value, or "Kind: message") with big slices, with a
/// slice of one step, with branches that are split off at every step, and with one branch at a
/// time.
inline void expect_everywhere(const std::string& program, const std::string& expected) {
    for (const bool tight : {false, true}) {
        for (const bool split : {false, true}) {
            for (const std::size_t concurrency : {std::size_t{64}, std::size_t{1}}) {
                schedule how;
                how.slice = tight ? 1 : 2000;
                how.split = split;
                how.concurrency = concurrency;
                lang_harness harness;
                const std::string what = program + (tight ? " [slice 1]" : "") +
                                         (split ? " [split]" : "") + " [" +
                                         std::to_string(concurrency) + "]";
                EXPECT_EQ(harness.shown(program, how), expected) << what;
                expect_tidy(harness, what);
            }
        }
    }
}

/// Cancels the program before each of its steps in turn. It always comes to an end, at once as
/// virtual time goes, with nothing left over; `check` holds after each.
/// The program must define no globals beside those of `before`.
template <class Check>
void expect_cancellable(const std::string& before, const std::string& program, Check check) {
    for (const bool split : {false, true}) {
        lang_harness harness;
        harness.run(before);
        schedule how;
        how.slice = 1;
        how.split = split;
        (void)harness.run(program, how); // what is made once, is made
        harness.harness.memory().collect_cycles();
        const std::size_t objects = harness.harness.memory().live_objects();
        bool completed = false;
        for (std::int64_t k = 0; !completed; ++k) {
            ASSERT_LT(k, 20'000) << program;
            how.cancel_at = k;
            const std::string what =
                program + " cancelled at " + std::to_string(k) + (split ? " [split]" : "");
            const double began = harness.clock();
            {
                const outcome ended = harness.run(program, how);
                completed = harness.runs <= k;
                EXPECT_NE(ended.kind, outcome_kind::failed)
                    << what << ": " << (ended.failure ? ended.failure->message() : "");
                EXPECT_TRUE(!completed || ended.kind == outcome_kind::done) << what;
            }
            expect_tidy(harness, what);
            EXPECT_LE(harness.clock(), began + 1000) << what;
            check(harness, what);
            harness.harness.memory().collect_cycles();
            EXPECT_LE(harness.harness.memory().live_objects(), objects) << what;
            if (::testing::Test::HasFailure()) return;
        }
    }
}

inline void expect_cancellable(const std::string& program) {
    expect_cancellable("1", program, [](lang_harness&, const std::string&) {});
}

} // namespace heddle::lang::testing
