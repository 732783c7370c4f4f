// Code that tries to leave its sandbox.
#include "sandbox_check.hpp"

#include <sanitizer/lsan_interface.h>

#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static heddle::fuzzing::sandbox_check check;
    const std::string problem = check.run({data, size});
    if (!problem.empty()) {
        std::fputs(problem.c_str(), stderr);
        std::abort();
    }
    // libFuzzer stops to look for leaks where inputs keep memory, as this check does. With this, a
    // leak is of one of the last programs.
    static unsigned programs = 0;
    if (++programs % 500 == 0 && __lsan_do_recoverable_leak_check() != 0) std::abort();
    return 0;
}
