// Code that tries to leave its sandbox.
#include "sandbox_check.hpp"

#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static heddle::fuzzing::sandbox_check check;
    const std::string problem = check.run({data, size});
    if (problem.empty()) return 0;
    std::fputs(problem.c_str(), stderr);
    std::abort();
}
