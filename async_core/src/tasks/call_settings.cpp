#include "call_settings.hpp"

#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/task_template.hpp>

namespace heddle::tasks {

call_settings read_call_settings(const lang::dynamic_scope& scope) {
    // `with` has checked the values.
    call_settings read;
    for (const lang::map_entry& entry : lang::map_entries(scope.settings)) {
        const std::string_view name = lang::string_bytes(entry.key);
        const lang::value& item = entry.item;
        if (name == "model") {
            read.model = lang::string_bytes(item);
        } else if (name == "provider") {
            read.provider = lang::string_bytes(item);
        } else if (name == "temperature") {
            read.temperature =
                item.is_integer() ? static_cast<double>(item.as_integer()) : item.as_real();
        } else if (name == "retries") {
            read.retries = static_cast<std::uint32_t>(item.as_integer());
        } else if (name == "on-failure") {
            read.raise_failures =
                (item.is(lang::kind::symbol) ? lang::symbol_name(item)
                                             : lang::string_bytes(item)) == "raise";
        } else if (name == "cache") {
            read.use_cache = item.truthy();
        }
    }
    return read;
}

} // namespace heddle::tasks
