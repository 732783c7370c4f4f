// Streamed responses of any service, cut anywhere. The first byte chooses the codec, the second the
// cuts (stream_check.hpp).
#include "stream_check.hpp"

#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static heddle::fuzzing::chat_stream_check check;
    const std::string problem =
        check.run(std::string_view(reinterpret_cast<const char*>(data), size));
    if (problem.empty()) return 0;
    std::fprintf(stderr, "%s\n", problem.c_str());
    std::abort();
}
