// What every form of concurrency has to stand.
#pragma once

#include "lang_world.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/printer.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heddle::lang::testing {

/// Nothing is left over after a program: no branch, no permit.
inline void expect_tidy(const lang_world& world, const std::string& what) {
    EXPECT_FALSE(world.stuck) << what;
    EXPECT_EQ(world.permits, 0U) << what;
}

/// The program gives `expected` (a written value, or "Kind: message") with big slices, with a slice
/// of one step, with branches that are split off at every step, and with one branch at a time.
inline void expect_everywhere(const std::string& program, const std::string& expected) {
    for (const bool tight : {false, true}) {
        for (const bool split : {false, true}) {
            for (const std::size_t concurrency : {std::size_t{64}, std::size_t{1}}) {
                schedule how;
                how.slice = tight ? 1 : 2000;
                how.split = split;
                how.concurrency = concurrency;
                lang_world world;
                const std::string what = program + (tight ? " [slice 1]" : "") +
                                         (split ? " [split]" : "") + " [" +
                                         std::to_string(concurrency) + "]";
                EXPECT_EQ(world.shown(program, how), expected) << what;
                expect_tidy(world, what);
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
        lang_world world;
        world.run(before);
        schedule how;
        how.slice = 1;
        how.split = split;
        (void)world.run(program, how); // what is made once, is made
        world.world.memory().collect_cycles();
        const std::size_t objects = world.world.memory().live_objects();
        bool completed = false;
        for (std::int64_t k = 0; !completed; ++k) {
            ASSERT_LT(k, 20'000) << program;
            how.cancel_at = k;
            const std::string what =
                program + " cancelled at " + std::to_string(k) + (split ? " [split]" : "");
            const double began = world.clock();
            {
                const outcome ended = world.run(program, how);
                completed = world.runs <= k;
                EXPECT_NE(ended.kind, outcome_kind::failed)
                    << what << ": " << (ended.failure ? ended.failure->message() : "");
                EXPECT_TRUE(!completed || ended.kind == outcome_kind::done) << what;
            }
            expect_tidy(world, what);
            EXPECT_LE(world.clock(), began + 1000) << what;
            check(world, what);
            world.world.memory().collect_cycles();
            EXPECT_LE(world.world.memory().live_objects(), objects) << what;
            if (::testing::Test::HasFailure()) return;
        }
    }
}

inline void expect_cancellable(const std::string& program) {
    expect_cancellable("1", program, [](lang_world&, const std::string&) {});
}

} // namespace heddle::lang::testing
