#include "sandbox_check.hpp"

#include "sandbox_generator.hpp"

#include <utility>

namespace heddle::fuzzing {

namespace {

constexpr std::size_t programs_of_a_host = 100; ///< texts and turns of conversations stay behind

} // namespace

std::string sandbox_check::run(std::span<const std::uint8_t> input) {
    if (input.empty()) return {};
    if (!host_ || programs % programs_of_a_host == 0) host_ = std::make_unique<sandbox_host>();
    ++programs;
    sandbox_case result;
    if (input[0] >= 0x80) {
        result = generate_sandbox_case(input.subspan(1), host_->names());
    } else {
        result.terms = generate_sandbox_terms(input.first(std::min<std::size_t>(input.size(), 12)));
        result.code.assign(input.begin() + 1, input.end());
    }
    const std::size_t before[] = {host_->values, host_->refused, host_->limited, host_->handed};
    std::string problem = host_->run(result.code, result.terms);
    values += host_->values - before[0];
    refused += host_->refused - before[1];
    limited += host_->limited - before[2];
    handed += host_->handed - before[3];
    if (problem.empty()) return {};
    host_.reset(); // whatever state it is in
    return problem + "\nwith (sandbox (" + result.terms.limits + ") …) of\n" + result.code + "\n";
}

} // namespace heddle::fuzzing
