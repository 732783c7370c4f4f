// What must hold for every program.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace heddle::lang::testing {
class lang_harness;
}

namespace heddle::fuzzing {

/// Runs programs under several schedules with small limits and compares.
///
/// Input whose first byte is below 0x80 is the text of a program; otherwise the other bytes are
/// given to generate_program. Properties: nothing crashes (what is compiled passes the verifier, or
/// the process ends); every run ends; a program without effects and races ends alike under every
/// schedule; a cancelled run ends as cancelled or as it would have; memory returns to where it was.
class program_check {
public:
    program_check();
    ~program_check();

    /// What is wrong, with the program; empty when all holds.
    [[nodiscard]] std::string run(std::span<const std::uint8_t> input);

    std::uint64_t programs = 0;  ///< given so far
    std::uint64_t values = 0;    ///< programs that ended with a value
    std::uint64_t compared = 0;  ///< programs whose schedules were compared
    std::uint64_t cancelled = 0; ///< runs that ended as cancelled

private:
    [[nodiscard]] std::string check(const std::string& program, unsigned variation);

    std::unique_ptr<lang::testing::lang_harness> harness_;
    std::size_t globals_ = 0; ///< of a fresh world
};

/// The program that an input encodes.
[[nodiscard]] std::string program_of(std::span<const std::uint8_t> input);

} // namespace heddle::fuzzing
