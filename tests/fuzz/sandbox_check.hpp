// The property that sandbox_fuzzer.cpp holds sandboxes to.
#pragma once

#include "sandbox_host.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace heddle::fuzzing {

/// Bytes from 0x80 on make a program (sandbox_generator); others are one, behind a byte for its
/// terms. Whatever it is, it changes nothing outside, uses nothing that it was not allowed, and
/// keeps to its limits. Empty, or what went wrong and the program.
class sandbox_check {
public:
    [[nodiscard]] std::string run(std::span<const std::uint8_t> input);

    [[nodiscard]] const sandbox_host& host() const noexcept { return *host_; }
    std::size_t programs = 0;
    std::size_t values = 0;
    std::size_t refused = 0;
    std::size_t limited = 0;
    std::size_t handed = 0;

private:
    std::unique_ptr<sandbox_host> host_;
};

} // namespace heddle::fuzzing
