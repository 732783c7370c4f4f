#include "batch/plan_log.hpp"

#include <algorithm>

namespace heddle::cli {

using ports::step_kind;

plan_log::plan_log(std::vector<ports::step_record> records, std::uint64_t seed, bool alters)
    : seed_(seed), alters_(alters) {
    for (ports::step_record& each : records) {
        switch (each.kind) {
        case step_kind::request:
        case step_kind::reused: each.kind = step_kind::spare; [[fallthrough]];
        case step_kind::spare:
        case step_kind::due: spares_.push_back(std::move(each)); break;
        case step_kind::answer:
        case step_kind::composed:
            answers_.push_back({each.path, std::move(each.name), std::move(each.body)});
            break;
        default: break;
        }
    }
}

std::optional<std::string> plan_log::stand_in(const ports::digest128& path, std::string_view name) {
    asked_.emplace(path, name);
    // Its own, or else, where the program has other steps now, the next one of that name.
    const auto is_own = [&](const answer& each) { return each.path == path && each.name == name; };
    const auto is_like = [&](const answer& each) { return !each.used && each.name == name; };
    auto found = std::find_if(answers_.begin(), answers_.end(), is_own);
    if (found == answers_.end()) found = std::find_if(answers_.begin(), answers_.end(), is_like);
    if (found == answers_.end()) return std::nullopt;
    found->used = true;
    return found->body;
}

} // namespace heddle::cli
