#include "tasks/output/json_types.hpp"

#include "tasks/output/schema_number.hpp"

#define VALIJSON_USE_EXCEPTIONS 1
#include <valijson/internal/adapter.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace heddle::tasks {

namespace {

using valijson::adapters::Adapter;

enum kind : std::uint8_t { array, boolean, integer, null, number, object, string };
constexpr std::array<std::string_view, 7> kinds{"array",  "boolean", "integer", "null",
                                                "number", "object",  "string"};

[[nodiscard]] unsigned bit_of(const Adapter& name) {
    const auto* found = std::find(kinds.begin(), kinds.end(), name.asString());
    if (found == kinds.end()) throw std::invalid_argument("a type is not known");
    return 1U << (found - kinds.begin());
}

} // namespace

json_types::json_types(const Adapter& names) {
    if (names.isString()) {
        allowed_ = bit_of(names);
        return;
    }
    names.applyToArray([this](const Adapter& each) {
        allowed_ |= bit_of(each);
        return true;
    });
}

bool json_types::hold(const Adapter& target) const {
    const auto allows = [this](kind which) { return (allowed_ >> which & 1U) != 0; };
    if (target.isObject()) return allows(object);
    if (target.isArray()) return allows(array);
    if (target.isString()) return allows(string);
    if (target.isBool()) return allows(boolean);
    if (target.isNull()) return allows(null);
    if (!target.isNumber()) return false;
    return allows(number) || (allows(integer) && schema_number::of(target).is_whole());
}

} // namespace heddle::tasks
