#include "call_settings.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/task_template.hpp>

#include <string>

namespace heddle::tasks {

result<call_settings> read_call_settings(const lang::value& settings, source_span where) {
    call_settings read;
    for (const lang::map_entry& entry : lang::map_entries(settings)) {
        const std::string_view name = lang::string_bytes(entry.key);
        const lang::value& item = entry.item;
        const auto refuse = [&](const char* expected) {
            return error(lang::errc::type, "with: " + std::string(name) + " must be " + expected)
                .with_span(where);
        };
        if (name == "model" || name == "provider") {
            if (!item.is(lang::kind::string)) return refuse("a string");
            (name == "model" ? read.model : read.provider) = lang::string_bytes(item);
        } else if (name == "temperature") {
            if (!item.is_integer() && !item.is_real()) return refuse("a number");
            read.temperature =
                item.is_integer() ? static_cast<double>(item.as_integer()) : item.as_real();
            if (!(*read.temperature >= 0 && *read.temperature <= 10)) {
                return refuse("from 0 to 10");
            }
        } else if (name == "retries") {
            if (!item.is_integer() || item.as_integer() < 0 ||
                item.as_integer() > template_limits::max_retries) {
                return refuse("a whole number from 0 to 100");
            }
            read.retries = static_cast<std::uint32_t>(item.as_integer());
        } else if (name == "on-failure") {
            const bool known = item.is(lang::kind::symbol) || item.is(lang::kind::string);
            const std::string_view choice = !known ? std::string_view()
                                            : item.is(lang::kind::symbol)
                                                ? lang::symbol_name(item)
                                                : lang::string_bytes(item);
            if (choice != "raise" && choice != "return") return refuse("'raise or 'return");
            read.raise_failures = choice == "raise";
        } else if (name == "cache") {
            read.use_cache = item.truthy();
        }
    }
    return read;
}

} // namespace heddle::tasks
