#include <heddle/tasks/definition/task_registry.hpp>

#include <heddle/base/ascii.hpp>

#include <algorithm>

namespace heddle::tasks {

namespace {

[[nodiscard]] std::string kind_of(const task_template& declared) {
    return declared.type + ":" + declared.subtype;
}

} // namespace

task_registry::replaced task_registry::add(registered_task entry) {
    replaced before;
    const task_template& declared = entry.task->declared;
    const std::string name = declared.name;
    std::string kind = kind_of(declared);
    auto [place, added] = by_name_.try_emplace(name);
    slot& result = place->second;
    before.name = !added;
    result.entry = std::move(entry);
    if (added) {
        result.number = static_cast<std::uint32_t>(by_number_.size());
        by_number_.push_back(&*place);
    }
    if (!result.unread) {
        result.unread = true;
        unread_.push_back(result.number);
    }
    auto [kind_place, fresh] = by_kind_.try_emplace(std::move(kind), name);
    if (!fresh) {
        before.kind = kind_place->second != name;
        kind_place->second = name;
    }
    return before;
}

const registered_task* task_registry::find(std::string_view id) const {
    if (const auto found = by_name_.find(id); found != by_name_.end()) return &found->second.entry;
    const auto kind = by_kind_.find(id);
    if (kind == by_kind_.end()) return nullptr;
    const auto found = by_name_.find(kind->second);
    // A task that was replaced under its name may have become one of another kind.
    const bool still = found != by_name_.end() && kind_of(found->second.entry.task->declared) == id;
    return still ? &found->second.entry : nullptr;
}

void task_registry::read_descriptions() const {
    for (const std::uint32_t number : unread_) {
        slot& one = by_number_[number]->second;
        one.unread = false;
        matcher_.put(number, one.entry.task->declared.description);
    }
    unread_.clear();
}

std::vector<matching_task> task_registry::find_matching_tasks(
    std::string_view text, double threshold, const std::vector<std::string>& hints) const {
    read_descriptions();
    std::vector<matching_task> tasks;
    std::vector<bool> raised;
    if (!hints.empty()) {
        raised.resize(by_number_.size());
        std::vector<std::string> wanted;
        for (const std::string& hint : hints) wanted.push_back(ascii::to_lower(hint));
        std::sort(wanted.begin(), wanted.end());
        const auto names_it = [&](std::string_view name) {
            return std::binary_search(wanted.begin(), wanted.end(), ascii::to_lower(name));
        };
        for (const auto& [name, one] : by_name_) {
            raised[one.number] = names_it(name) || names_it(kind_of(one.entry.task->declared));
        }
    }
    // With hints every score counts, since what they name needs no words in common.
    const auto scored = matcher_.find(text, hints.empty() ? threshold : 0);
    std::vector<double> scores(hints.empty() ? 0 : by_number_.size());
    for (const task_matcher::match& each : scored) {
        if (!raised.empty() && raised[each.number]) scores[each.number] = each.score;
        else if (each.score >= threshold) {
            tasks.push_back({&by_number_[each.number]->second.entry, each.score, false});
        }
    }
    for (std::uint32_t number = 0; number < raised.size(); ++number) {
        if (!raised[number]) continue;
        tasks.push_back({&by_number_[number]->second.entry, scores[number], true});
    }
    std::sort(tasks.begin(), tasks.end(),
              [](const matching_task& left, const matching_task& right) {
                  if (left.hinted != right.hinted) return left.hinted;
                  if (left.score != right.score) return left.score > right.score;
                  return left.found->task->declared.name < right.found->task->declared.name;
              });
    return tasks;
}

void task_registry::collect_names(std::vector<std::string>& names) const {
    for (const auto& [name, one] : by_name_) names.push_back(name);
}

} // namespace heddle::tasks
