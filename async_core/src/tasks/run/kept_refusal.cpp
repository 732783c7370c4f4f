#include "tasks/run/kept_refusal.hpp"

#include <heddle/tasks/output/task_failure_reason.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

namespace heddle::tasks {

namespace {

constexpr std::string_view head = "refused by a budget\n"; // no other body begins with it
constexpr std::array<std::string_view, 3> resources{"cost", "calls", "tokens"};

} // namespace

const stopped_call* stopped_by(const error& failure) noexcept {
    return dynamic_cast<const stopped_call*>(failure.info().payload.get());
}

error request_refusal::note(spent_budget over) {
    error failure = task_failed(task_failure_reason::llm_error, over.message);
    over_ = std::move(over);
    return failure;
}

void request_refusal::mark(result<ports::chat_response>& ended) const {
    if (!over_ || ended || stopped_by(ended.error())) return;
    error failure = std::move(ended).error();
    // Providers put their name in front of it.
    if (!failure.message().ends_with(over_->message)) {
        ended = std::move(failure);
        return;
    }
    const auto* sent = dynamic_cast<const ports::partial_response*>(failure.info().payload.get());
    spent_budget over = *over_;
    for (const trace_entry& each : failure.info().trace) over.message += ", " + each.what;
    auto payload = std::make_shared<stopped_call>(
        sent ? *sent : ports::partial_response(ports::begun_response()), std::move(over));
    ended = std::move(failure).with_payload(std::move(payload));
}

std::string encode_refusal(const spent_budget& over) {
    std::array<char, 80> figures{};
    const auto which =
        std::find(resources.begin(), resources.end(), over.resource) - resources.begin();
    std::snprintf(figures.data(), figures.size(), "%d %.17g %.17g\n",
                  static_cast<int>(which % std::ssize(resources)), over.used, over.limit);
    return std::string(head) + figures.data() + over.message;
}

std::optional<spent_budget> decode_refusal(std::string_view body) {
    if (!body.starts_with(head)) return std::nullopt;
    const std::string rest(body.substr(head.size()));
    std::size_t which = 0;
    int length = 0;
    spent_budget over;
    const int read =
        std::sscanf(rest.c_str(), "%zu %lg %lg\n%n", &which, &over.used, &over.limit, &length);
    if (read != 3 || which >= resources.size()) return std::nullopt;
    over.resource = resources[which];
    over.message = rest.substr(static_cast<std::size_t>(length));
    return over;
}

} // namespace heddle::tasks
