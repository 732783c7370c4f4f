#include "lang/text/symbol_syntax.hpp"

#include "lang/text/number_text.hpp"

#include <heddle/base/utf8.hpp>

namespace heddle::lang {

bool reads_as_symbol(std::string_view name) noexcept {
    if (name.empty() || name.starts_with("#|") || starts_like_number(name)) return false;
    for (const std::string_view word :
         {"true", "false", "nil", "#t", "#f", "+inf.0", "-inf.0", "+nan.0", "-nan.0"}) {
        if (name == word) return false;
    }
    for (std::size_t at = 0; at < name.size();) {
        const utf8::code_point point = utf8::decode(name, at);
        const char_class c = class_of(name[at]);
        if (c != symbol_char && (c != beyond_ascii || utf8::is_space(point.value))) return false;
        at += point.bytes;
    }
    return true;
}

} // namespace heddle::lang
