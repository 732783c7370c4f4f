#include "batch/plan/other_answer.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/lang/value_codec.hpp>
#include <heddle/ports/error_categories.hpp>
#include <heddle/tasks/output/task_result.hpp>

#include <vector>

namespace heddle::cli {

namespace {

using lang::value;

constexpr unsigned deepest = 100;
constexpr const char* other_text = "\xEE\x80\x81"; ///< U+E001, of the private use area

value other(lang::heap& memory, const value& given, unsigned depth) {
    if (given.is(lang::kind::string)) return lang::make_string(memory, other_text);
    if (given.is_boolean()) return value::boolean(!given.as_boolean());
    if (given.is_integer()) return value::integer(~given.as_integer());
    if (given.is_real()) return value::real(-1 - given.as_real());
    if (depth == deepest) return given;
    if (given.is(lang::kind::list)) {
        std::vector<value> items;
        for (const value& each : lang::list_items(given))
            items.push_back(other(memory, each, depth + 1));
        return lang::make_list(memory, items);
    }
    if (!given.is(lang::kind::map)) return given;
    const bool of_task = lang::map_find(given, "status") && lang::map_find(given, "content");
    value map = given;
    for (const lang::map_entry& each : lang::map_entries(given)) {
        const bool is_text = each.key.is(lang::kind::string);
        const std::string_view key = is_text ? lang::string_bytes(each.key) : std::string_view();
        if (of_task && key != "content" && key != "parsedContent") continue;
        map = lang::map_put(memory, std::move(map), each.key, other(memory, each.item, depth + 1));
    }
    return map;
}

} // namespace

std::string other_answer(lang::heap& memory, const std::string& body) {
    const result<value> answer = lang::decode_answer(memory, body, ports::find_category);
    if (!answer || tasks::is_failed_result(*answer)) return body;
    auto changed = lang::encode_value(other(memory, *answer, 0));
    return changed ? *std::move(changed) : body;
}

} // namespace heddle::cli
