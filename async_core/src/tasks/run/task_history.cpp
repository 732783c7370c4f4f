#include "tasks/run/task_history.hpp"

#include <heddle/lang/map.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace heddle::tasks {

bool task_history::begin(const history_config& wanted, bool open) {
    constexpr auto most = static_cast<std::int64_t>(conversation::max_turns);
    const bool uses = wanted.use_session_history.value_or(open);
    records_ = wanted.record_in_session_history.value_or(open);
    if (uses) {
        max_turns_ = static_cast<std::size_t>(
            std::clamp<std::int64_t>(wanted.history_turns_to_include.value_or(most), 0, most));
    }
    return uses || records_;
}

void task_history::join(std::shared_ptr<conversation> said) {
    said_ = std::move(said);
    if (said_) return;
    max_turns_ = 0;
    records_ = false;
}

std::vector<const conversation_turn*> task_history::turns_that_fit(const task_session& session,
                                                                   std::size_t request_bytes,
                                                                   std::size_t prompt_bytes) const {
    std::vector<const conversation_turn*> turns = said_->last(max_turns_);
    if (const auto room = session.room()) {
        std::int64_t left =
            *room - session.estimate(request_bytes) - session.estimate(prompt_bytes);
        std::size_t fit = 0;
        while (fit < turns.size() && (left -= session.estimate(turns[fit]->bytes())) >= 0) ++fit;
        turns.resize(fit);
    }
    return turns;
}

void task_history::record(model_dialog& dialog, const lang::value& result) {
    if (!records_) return;
    const lang::value* content = lang::map_find(result, "content");
    if (!content || !content->is(lang::kind::string)) return;
    said_->record(std::move(dialog.prompt()), *content);
}

} // namespace heddle::tasks
