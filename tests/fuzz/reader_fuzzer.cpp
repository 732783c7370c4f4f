// Reads any bytes; what can be read prints to a text that reads again as the same data.
#include <heddle/lang/equality.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/reader.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace heddle::lang;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const heap_owner memory(heap::create());
    memory->set_limit(256 * 1024 * 1024);
    const auto read = read_all(*memory, text, 1);
    if (!read) {
        // An error has a message and a place inside of the text.
        const auto& info = read.error().info();
        if (info.message.empty() || info.span.end > size + 1) std::abort();
        return 0;
    }
    for (const datum& each : *read) {
        if (!each.span.known() || each.span.begin >= each.span.end) std::abort();
        const std::string printed = print_value(each.content);
        const auto again = read_one(*memory, printed);
        if (!again || print_value(again->content) != printed) std::abort();
        // A NaN is not equal to itself.
        if (printed.find("+nan.0") != std::string::npos) continue;
        if (!values_equal(each.content, again->content)) std::abort();
    }
    return 0;
}
