// Reads any bytes as a file of task templates; what is good compiles, and what is wrong has a
// report that can be shown.
#include "templates_check.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    if (!heddle::fuzzing::check_templates(text).empty()) std::abort();
    return 0;
}
