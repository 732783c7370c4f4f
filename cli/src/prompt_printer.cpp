#include "prompt_printer.hpp"

#include "request_text.hpp"
#include "request_view.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/json_line.hpp>
#include <heddle/tasks/run/token_estimate.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

namespace heddle::cli {

std::optional<error> prompt_printer::on_request(const setup::seen_request& seen) {
    const ports::request_origin& origin = seen.request.origin;
    if (task_ != "*" && origin.task != task_) return std::nullopt;
    const ports::chat_request shown = without_secrets(seen.request, secrets_);
    const std::string service(seen.service.provider_name());
    if (json_) {
        output_.err_log(
            setup::json_line("{\"event\":\"request\"," + request_members(shown, service) + "}"));
        return std::nullopt;
    }
    std::string text = "--- " + std::string(origin.task.empty() ? "request" : origin.task);
    if (!origin.work.empty()) text.append(", ").append(origin.work);
    const auto tokens = static_cast<unsigned long long>(tasks::estimated_tokens(shown));
    text += ": " + service + ":" + shown.model + ", about " + setup::counted(tokens, "token");
    if (const std::string settings = settings_text(shown); !settings.empty())
        text += ", " + settings;
    text += "\n" + request_text(shown, {});
    output_.err_log(utf8::printable(text));
    return std::nullopt;
}

result<void> check_shown_task(const std::string& task, host::session& session) {
    if (task.empty() || task == "*") return {};
    const auto* known = dynamic_cast<const tasks::session_tasks*>(session.operators());
    if (!known || known->registry().find(task)) return {};
    std::vector<std::string> names;
    known->collect_names(names);
    const std::string near = lang::suggest_names(task, names);
    return error(errc::not_found, "--show-prompts: there is no task \"" + task + "\"")
        .with_hint(near.empty()
                       ? "a task is named as in its definition; --show-prompts alone shows "
                         "the requests of all"
                       : near);
}

} // namespace heddle::cli
