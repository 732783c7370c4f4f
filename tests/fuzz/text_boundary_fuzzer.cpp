// Any bytes through every boundary where they become text: what comes out is valid UTF-8.
#include "text_boundary_check.hpp"

#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static heddle::fuzzing::text_boundary_check check;
    const std::string problem = check.run({data, size});
    if (problem.empty()) return 0;
    std::fprintf(stderr, "%s\n", problem.c_str());
    std::abort();
}
