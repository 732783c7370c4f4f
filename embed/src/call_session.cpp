#include "call_session.hpp"

namespace heddle::embed {

tasks::session_parts call_session::parts() noexcept {
    tasks::session_parts own;
    own.observer = &meter_;
    own.deltas = &receiver_;
    own.budget_usd = budget_usd_;
    own.max_calls = max_calls_;
    return own;
}

result<void> call_session::text_receiver::take(const tasks::task_delta& piece) {
    reader_->add(piece.task, piece.call, piece.text);
    return {};
}

std::string call_tasks::tag_of(host::session& session) {
    const auto* known = dynamic_cast<const call_tasks*>(session.operators());
    return known && known->call_ ? known->call_->tag() : std::string();
}

} // namespace heddle::embed
