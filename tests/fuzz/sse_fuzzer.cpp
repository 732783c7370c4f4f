// Any bytes, cut anywhere: the parser finds the same in the whole and in the pieces.
#include "stream_check.hpp"

#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const std::string problem =
        heddle::fuzzing::check_sse(bytes.substr(1), static_cast<unsigned char>(bytes[0]) + 1U);
    if (problem.empty()) return 0;
    std::fprintf(stderr, "%s\n", problem.c_str());
    std::abort();
}
