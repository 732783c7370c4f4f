// --show-prompts: requests on standard error, as they are sent.
#pragma once

#include "console.hpp"

#include <heddle/base/redaction.hpp>
#include <heddle/host/session.hpp>
#include <heddle/setup/services/watched_provider.hpp>

#include <string>
#include <utility>
#include <vector>

namespace heddle::cli {

/// Prints every request, or those of one task, before it is sent: as text with long parts
/// truncated, or as one line of JSON. If the reader of standard error falls behind, lines are
/// dropped, as those of the log. Threads: the loop's.
class prompt_printer final : public setup::request_watch {
public:
    /// `task`: the task whose requests are printed; "*" for all. `output` outlives it.
    prompt_printer(console& output, std::string task, bool json)
        : output_(output), task_(std::move(task)), json_(json) {}

    void hide(std::vector<secret> keys) override { secrets_ = redactor(std::move(keys)); }
    [[nodiscard]] std::optional<error> on_request(const setup::seen_request& seen) override;

private:
    console& output_;
    std::string task_;
    bool json_;
    redactor secrets_;
};

/// Whether the task whose requests are shown exists; call it when the program is loaded. "*" and
/// nothing always do. Errors: not_found with similar names.
[[nodiscard]] result<void> check_shown_task(const std::string& task, host::session& session);

} // namespace heddle::cli
