#include "batch/plan/plan_log.hpp"

#include <utility>

namespace heddle::cli {

using ports::step_kind;

plan_log::plan_log(std::vector<ports::step_record> records, std::uint64_t seed, bool alters,
                   std::function<bool(const std::string&)> is_failure, bool replays)
    : is_failure_(std::move(is_failure)), seed_(seed), alters_(alters) {
    for (ports::step_record& each : records) {
        if (replays) {
            if (!ports::is_of_earlier_program(each.kind)) known_usd_ += each.spent.cost_usd;
            earlier_.push_back(each);
        }
        switch (each.kind) {
        case step_kind::request:
        case step_kind::reused:
            if (replays) break;
            each.kind = step_kind::spare;
            [[fallthrough]];
        case step_kind::spare:
        case step_kind::due:
            if (each.spent.cost_usd != 0) costs_.emplace(each.number, each.spent.cost_usd);
            if (!replays) earlier_.push_back(std::move(each));
            break;
        case step_kind::answer:
        case step_kind::composed: add_answer(std::move(each)); break;
        default: break;
        }
    }
}

void plan_log::add_answer(ports::step_record record) {
    // A step that was repeated has the answer that it got last.
    const auto [own, is_first] =
        by_step_.try_emplace(std::pair(record.path, record.name), answers_.size());
    if (!is_first) {
        answers_[own->second].used = true;
        own->second = answers_.size();
    }
    by_name_[std::move(record.name)].push_back(answers_.size());
    answers_.push_back({std::move(record.body)});
}

void plan_log::use_spare(const ports::spare_use& use) {
    if (const auto cost = costs_.find(use.number); cost != costs_.end()) known_usd_ += cost->second;
}

std::optional<std::string> plan_log::stand_in(const ports::digest128& path, std::string_view name) {
    asked_.emplace(path, name);
    // Its own, or else, where the program has other steps now, the next one of that name.
    if (const auto own = by_step_.find({path, std::string(name)}); own != by_step_.end())
        return use(own->second, name);
    const auto alike = by_name_.find(name);
    if (alike == by_name_.end()) return std::nullopt;
    std::deque<std::size_t>& next = alike->second;
    while (!next.empty() && answers_[next.front()].used) next.pop_front();
    if (next.empty()) return std::nullopt;
    return use(next.front(), name);
}

std::string plan_log::use(std::size_t index, std::string_view name) {
    answer& found = answers_[index];
    found.used = true;
    // A program may expect that a file is missing, say: what a model answers nobody knows.
    lost_ = lost_ || (name.starts_with("task ") && is_failure_(found.body));
    return replaces_ ? replaces_(found.body) : found.body;
}

} // namespace heddle::cli
