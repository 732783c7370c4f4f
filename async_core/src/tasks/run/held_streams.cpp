#include "tasks/run/held_streams.hpp"

namespace heddle::tasks {

std::int64_t held_streams::add(held_stream& stream) {
    streams_.emplace(++last_, &stream);
    return last_;
}

void held_streams::let_go(const lang::scope_ref& scope) noexcept {
    const auto found = streams_.find(scope->stream);
    if (found != streams_.end()) found->second->let_go();
}

} // namespace heddle::tasks
