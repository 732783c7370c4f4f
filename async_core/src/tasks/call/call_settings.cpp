#include "tasks/call/call_settings.hpp"
#include "tasks/output/message_json.hpp"

#include <heddle/lang/map.hpp>
#include <heddle/lang/sandbox_policy.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/definition/task_template.hpp>

namespace heddle::tasks {

namespace {

std::string_view word(const lang::value& item) {
    return item.is(lang::kind::symbol) ? lang::symbol_name(item) : lang::string_bytes(item);
}

void read_parameter(call_settings& read, std::string_view name, const lang::value& item) {
    const lang::request_setting* setting = lang::find_request_setting(name);
    const auto json = setting ? message_json(item) : result<std::string>(std::string());
    if (setting && json) (void)set_parameter(read.parameters, *setting, *json);
}

} // namespace

call_settings read_call_settings(const lang::dynamic_scope& scope) {
    // `with` has checked the values.
    using ports::cache_use;
    call_settings read;
    bool uses_cache = true;
    for (const lang::map_entry& entry : lang::map_entries(scope.settings)) {
        const std::string_view name = lang::string_bytes(entry.key);
        const lang::value& item = entry.item;
        if (name == "model") {
            read.model = lang::string_bytes(item);
        } else if (name == "provider") {
            read.provider = lang::string_bytes(item);
        } else if (name == "retries") {
            read.retries = static_cast<std::uint32_t>(item.as_integer());
        } else if (name == "on-failure") {
            read.raise_failures = word(item) == "raise";
        } else if (name == "cache") {
            uses_cache = item.truthy();
        } else if (name == "conversation") {
            auto* const opened = lang::host_as<lang::conversation_extent>(item);
            read.no_conversation = !opened;
            // One that was opened outside of a sandbox is not seen inside.
            const auto* const sandbox = scope.sandbox.get();
            const lang::value mark = sandbox ? sandbox->own().as_value() : lang::value();
            if (opened && opened->sandbox().identical(mark)) read.conversation = opened;
        } else if (name == "%repeats") {
            // What has failed is not to be found again; a hedge is to overtake, not to wait.
            read.cache = word(item) == "retry" ? cache_use::renewed : cache_use::apart;
        } else {
            read_parameter(read, name, item);
        }
    }
    if (!uses_cache) read.cache = cache_use::none;
    return read;
}

} // namespace heddle::tasks
