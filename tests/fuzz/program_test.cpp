// The property of program_fuzzer.cpp over a fixed series of inputs: a short run without libFuzzer.
#include "program_check.hpp"
#include "program_generator.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <vector>

namespace heddle::fuzzing {
namespace {

std::vector<std::uint8_t> bytes_of(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint8_t> bytes(1, 0xFF);
    const std::size_t size = 40 + random() % 600;
    for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::uint8_t>(random()));
    return bytes;
}

TEST(program_generator, same_bytes_make_the_same_program) {
    EXPECT_EQ(generate_program(bytes_of(3)), generate_program(bytes_of(3)));
    EXPECT_NE(generate_program(bytes_of(3)), generate_program(bytes_of(4)));
}

TEST(program_generator, any_bytes_make_a_program_of_bounded_size) {
    EXPECT_FALSE(generate_program({}).empty());
    for (const int byte : {0, 1, 0x7F, 0x80, 0xFF}) {
        const std::vector<std::uint8_t> same(100'000, static_cast<std::uint8_t>(byte));
        EXPECT_LT(generate_program(same).size(), 200'000U);
    }
}

TEST(program_check, holds_for_generated_programs) {
    program_check check;
    // The same programs each time; how many of them depends on the machine and the build.
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    std::uint64_t seed = 1;
    for (; seed <= 3000 && std::chrono::steady_clock::now() < give_up; ++seed) {
        const std::string problem = check.run(bytes_of(seed));
        ASSERT_EQ(problem, "") << "seed " << seed;
    }
    // The programs do what they are for: a good part runs to a value, is compared, can be
    // cancelled.
    EXPECT_GE(check.programs, 20U);
    EXPECT_GE(check.values * 5, check.programs) << check.values << " of " << check.programs;
    EXPECT_GE(check.compared * 15, check.programs) << check.compared; // about a tenth of them
    EXPECT_GE(check.cancelled * 10, check.programs) << check.cancelled;
    RecordProperty("programs", static_cast<int>(check.programs));
}

} // namespace
} // namespace heddle::fuzzing
