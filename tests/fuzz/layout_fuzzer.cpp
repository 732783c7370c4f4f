// Lays out any bytes: what can be read keeps its tokens, its comments and its data, and does not
// change a second time.
#include <heddle/lang/layout.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/reader.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace heddle::lang;
    if (size == 0) return 0;
    layout_options options;
    options.width = 1 + data[0] % 120;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const heap_owner memory(heap::create());
    const auto before = read_all(*memory, text);
    const auto once = lay_out(text, 0, options);
    if (before.has_value() != once.has_value()) std::abort();
    if (!once) return 0;
    const auto after = read_all(*memory, *once);
    if (!after || after->size() != before->size()) std::abort();
    for (std::size_t i = 0; i < after->size(); ++i) {
        if (print_value((*before)[i].content) != print_value((*after)[i].content)) std::abort();
    }
    if (!same_but_for_blanks(text, *once)) std::abort();
    const auto twice = lay_out(*once, 0, options);
    if (!twice || *twice != *once) std::abort();
    return 0;
}
