// The property of sandbox_fuzzer.cpp over a fixed series of inputs: a short run without libFuzzer.
#include "sandbox_check.hpp"
#include "sandbox_generator.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <vector>

namespace heddle::fuzzing {
namespace {

std::vector<std::uint8_t> bytes_of(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint8_t> bytes(1, 0xFF);
    const std::size_t size = 60 + random() % 700;
    for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::uint8_t>(random()));
    return bytes;
}

TEST(sandbox_generator, same_bytes_make_the_same_case) {
    const sandbox_host host;
    const auto first = generate_sandbox_case(bytes_of(3), host.names());
    EXPECT_EQ(first.code, generate_sandbox_case(bytes_of(3), host.names()).code);
    EXPECT_NE(first.code, generate_sandbox_case(bytes_of(4), host.names()).code);
    EXPECT_EQ(first.terms.limits, generate_sandbox_case(bytes_of(3), host.names()).terms.limits);
}

TEST(sandbox_generator, any_bytes_make_a_case_of_bounded_size) {
    const sandbox_host host;
    for (const int byte : {0, 1, 0x7F, 0x80, 0xFF}) {
        const std::vector<std::uint8_t> same(100'000, static_cast<std::uint8_t>(byte));
        EXPECT_LT(generate_sandbox_case(same, host.names()).code.size(), 500'000U);
    }
}

TEST(sandbox_check, holds_for_a_model_that_the_sandbox_allows) {
    sandbox_host host;
    const std::string chooses = "(ask (q \"x\") (model \"m\"))";
    const std::string limits = "(allow (ask)) (steps 46500) (timeout 1)";
    EXPECT_EQ(host.run(chooses, {limits + " (models (m p))", {"ask"}, {"m", "p"}, 0}), "");
    EXPECT_EQ(host.run(chooses, {limits, {"ask"}, {}, 0}), "") << "the sandbox refuses it";
    EXPECT_NE(host.run(chooses, {limits + " (models (m p))", {"ask"}, {}, 0}), "")
        << "it is watched";
}

/// HEDDLE_SANDBOX_SECONDS and HEDDLE_SANDBOX_SEED make a long run of it.
TEST(sandbox_check, holds_for_generated_programs) {
    const char* const seconds = std::getenv("HEDDLE_SANDBOX_SECONDS");
    const char* const first = std::getenv("HEDDLE_SANDBOX_SEED");
    sandbox_check check;
    const auto give_up =
        std::chrono::steady_clock::now() + std::chrono::seconds(seconds ? std::atoi(seconds) : 4);
    for (std::uint64_t seed = first ? std::strtoull(first, nullptr, 10) : 1;
         std::chrono::steady_clock::now() < give_up; ++seed) {
        const std::string problem = check.run(bytes_of(seed));
        ASSERT_EQ(problem, "") << "seed " << seed;
    }
    // The programs do what they are for: some run to a value, some are refused, some go on outside.
    EXPECT_GE(check.programs, 20U);
    EXPECT_GE(check.values * 20, check.programs) << check.values << " of " << check.programs;
    EXPECT_GE(check.refused * 20, check.programs) << check.refused;
    // The last are rare, and how many programs there are depends on the machine.
    EXPECT_TRUE(check.handed != 0 || check.programs < 400) << check.programs;
    RecordProperty("programs", static_cast<int>(check.programs));
}

} // namespace
} // namespace heddle::fuzzing
