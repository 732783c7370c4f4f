#include "lang/print/described.hpp"

#include <heddle/lang/printer.hpp>

namespace heddle::lang {

std::string described(const value& given) {
    const auto written = [&] { return print_value(given, {.max_bytes = 60, .max_depth = 4}); };
    switch (given.type()) {
    case kind::nil: return "nil";
    // Their written form says what they are.
    case kind::closure:
    case kind::builtin:
    case kind::host: return written();
    default: return "the " + std::string(kind_name(given.type())) + " " + written();
    }
}

} // namespace heddle::lang
