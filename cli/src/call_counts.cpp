#include "call_counts.hpp"

#include "display_text.hpp"

namespace heddle::cli {

void call_counts::on_task_started(const tasks::task_started&) noexcept { ++running; }

void call_counts::on_task_finished(const tasks::task_finished& event) noexcept {
    --running;
    switch (event.outcome) {
    case tasks::task_outcome::complete: ++done; break;
    case tasks::task_outcome::failed: ++failed; break;
    case tasks::task_outcome::cancelled: ++cancelled; break;
    }
    requests += event.requests;
    input_tokens += event.usage.input;
    output_tokens += event.usage.output;
}

std::string call_counts::summary() const {
    std::string made = counted(done, "call") + " done";
    const auto add = [&](std::uint64_t count, std::string_view word) {
        if (count == 0) return;
        made += ", " + grouped(static_cast<long long>(count)) + " ";
        made += word;
    };
    add(running, "running");
    add(failed, "failed");
    add(cancelled, "cancelled");
    if (input_tokens != 0 || output_tokens != 0) {
        made += ", " + grouped(input_tokens) + " tokens in, " + grouped(output_tokens) + " out";
    }
    return made;
}

} // namespace heddle::cli
