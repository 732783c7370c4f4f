#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/task_result.hpp>

namespace heddle::tasks {

namespace {

[[nodiscard]] std::string_view text_of(const lang::value& map, std::string_view key) noexcept {
    const lang::value* found = lang::map_find(map, key);
    return found && found->is(lang::kind::string) ? lang::string_bytes(*found) : std::string_view();
}

} // namespace

bool is_failed_result(const lang::value& v) noexcept {
    return v.is(lang::kind::map) && text_of(v, "status") == "FAILED" && lang::map_find(v, "notes");
}

error task_error_of(const lang::value& failed) {
    auto payload = std::make_shared<lang::script_payload>();
    payload->result = failed;
    std::string message;
    const lang::value* details = nullptr;
    const lang::value* notes = lang::map_find(failed, "notes");
    if (notes && notes->is(lang::kind::map)) {
        const lang::value* what = lang::map_find(*notes, "error");
        if (what && what->is(lang::kind::map)) {
            payload->reason = text_of(*what, "reason");
            if (payload->reason.empty()) payload->reason = text_of(*what, "type");
            message = text_of(*what, "message");
            details = lang::map_find(*what, "details");
        }
        const std::string_view task = text_of(*notes, "template_used");
        if (!task.empty()) message = "task '" + std::string(task) + "' failed: " + message;
    }
    if (payload->reason.empty()) payload->reason = "unexpected_error";
    if (message.empty()) message = "a task failed: " + std::string(text_of(failed, "content"));
    error made = error(lang::errc::task, std::move(message)).with_payload(std::move(payload));
    const lang::value* causes =
        details && details->is(lang::kind::map) ? lang::map_find(*details, "causes") : nullptr;
    if (!causes || !causes->is(lang::kind::list)) return made;
    for (const lang::value& cause : lang::list_items(*causes)) {
        if (!cause.is(lang::kind::string)) continue;
        made = std::move(made).with_last_cause(
            error(lang::errc::task, std::string(lang::string_bytes(cause))));
    }
    return made;
}

} // namespace heddle::tasks
