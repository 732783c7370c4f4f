#include "another_value.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include <string>
#include <vector>

namespace heddle::host {

namespace {

using lang::value;

constexpr unsigned deepest = 100;
constexpr const char* mark = "\xEE\x80\x80"; ///< U+E000, of the private use area

value changed(lang::heap& memory, const value& given, unsigned depth) {
    if (given.is(lang::kind::string)) {
        std::string text(lang::string_bytes(given));
        return lang::make_string(memory, text + mark);
    }
    if (given.is_integer()) return value::integer(given.as_integer() ^ 1);
    if (given.is_real()) return value::real(given.as_real() + 0.5);
    if (depth == deepest) return given;
    if (given.is(lang::kind::list)) {
        std::vector<value> items;
        for (const value& each : lang::list_items(given))
            items.push_back(changed(memory, each, depth + 1));
        return lang::make_list(memory, items);
    }
    if (!given.is(lang::kind::map)) return given;
    const bool of_task = lang::map_find(given, "status") && lang::map_find(given, "content");
    value map = given;
    for (const lang::map_entry& each : lang::map_entries(given)) {
        const bool is_data = !of_task || (each.key.is(lang::kind::string) &&
                                          (lang::string_bytes(each.key) == "content" ||
                                           lang::string_bytes(each.key) == "parsedContent"));
        if (is_data)
            map = lang::map_put(memory, std::move(map), each.key,
                                changed(memory, each.item, depth + 1));
    }
    return map;
}

} // namespace

value another_value(lang::heap& memory, const value& given) { return changed(memory, given, 0); }

} // namespace heddle::host
