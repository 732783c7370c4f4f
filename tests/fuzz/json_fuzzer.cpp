// Reads any bytes as JSON; what can be read is written to a text that reads again as the same
// value.
#include <heddle/lang/equality.hpp>
#include <heddle/lang/json_bridge.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace heddle::lang;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const heap_owner memory(heap::create());
    memory->set_limit(256 * 1024 * 1024);
    const auto read = json_to_value(*memory, text);
    if (!read) {
        if (read.error().message().empty()) std::abort();
        return 0;
    }
    for (const unsigned indent : {0U, 2U}) {
        const auto written = value_to_json(*read, {.indent = indent});
        if (!written) std::abort();
        const auto again = json_to_value(*memory, *written);
        if (!again || !values_equal(*read, *again)) std::abort();
    }
    return 0;
}
