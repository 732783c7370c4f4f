#include "lang/print/described.hpp"

#include <heddle/lang/builtin.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/printer.hpp>

namespace heddle::lang {

std::string described(const value& given) {
    const auto written = [&] { return print_value(given, {.max_bytes = 60, .max_depth = 4}); };
    switch (given.type()) {
    case kind::nil: return "nil";
    case kind::closure: {
        const std::string& name = closure_of(given)->code->name;
        return name.empty() ? "a function" : "the function " + name;
    }
    case kind::builtin: return "the function " + std::string(given.as_builtin().name);
    case kind::host: return written(); // which names what it is
    default: return "the " + std::string(kind_name(given.type())) + " " + written();
    }
}

} // namespace heddle::lang
