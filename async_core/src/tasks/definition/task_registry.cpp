#include <heddle/tasks/definition/task_registry.hpp>

#include <heddle/base/ascii.hpp>

#include <algorithm>
#include <utility>

namespace heddle::tasks {

namespace {

[[nodiscard]] std::string kind_of(const task_template& declared) {
    return declared.type + ":" + declared.subtype;
}

} // namespace

/// A copy with its own entries.
task_registry::tables::tables(const tables& other) : by_kind(other.by_kind) {
    for (const name_map::value_type* each : other.by_number) (void)put(each->second.entry);
}

bool task_registry::tables::put(registered_task entry) {
    const std::string name = entry.task->declared.name;
    auto [place, added] = by_name.try_emplace(name);
    slot& result = place->second;
    result.entry = std::move(entry);
    if (added) {
        result.number = static_cast<std::uint32_t>(by_number.size());
        by_number.push_back(&*place);
    }
    if (!result.unread) {
        result.unread = true;
        unread.push_back(result.number);
    }
    return added;
}

task_registry::replaced task_registry::add(registered_task entry) {
    if (content_.use_count() != 1) content_ = std::make_shared<tables>(std::as_const(*content_));
    replaced before;
    const std::string name = entry.task->declared.name;
    std::string kind = kind_of(entry.task->declared);
    before.name = !content_->put(std::move(entry));
    auto [kind_place, fresh] = content_->by_kind.try_emplace(std::move(kind), name);
    if (!fresh) {
        before.kind = kind_place->second != name;
        kind_place->second = name;
    }
    return before;
}

const registered_task* task_registry::find(std::string_view id) const {
    if (const auto found = content_->by_name.find(id); found != content_->by_name.end())
        return &found->second.entry;
    const auto kind = content_->by_kind.find(id);
    if (kind == content_->by_kind.end()) return nullptr;
    const auto found = content_->by_name.find(kind->second);
    // A task that was replaced under its name may have become one of another kind.
    const bool still =
        found != content_->by_name.end() && kind_of(found->second.entry.task->declared) == id;
    return still ? &found->second.entry : nullptr;
}

void task_registry::tables::read_descriptions() {
    for (const std::uint32_t number : unread) {
        slot& one = by_number[number]->second;
        one.unread = false;
        matcher.put(number, one.entry.task->declared.description);
    }
    unread.clear();
}

std::vector<matching_task> task_registry::find_matching_tasks(
    std::string_view text, double threshold, const std::vector<std::string>& hints) const {
    content_->read_descriptions();
    std::vector<matching_task> tasks;
    std::vector<bool> raised;
    if (!hints.empty()) {
        raised.resize(content_->by_number.size());
        std::vector<std::string> wanted;
        for (const std::string& hint : hints) wanted.push_back(ascii::to_lower(hint));
        std::sort(wanted.begin(), wanted.end());
        const auto names_it = [&](std::string_view name) {
            return std::binary_search(wanted.begin(), wanted.end(), ascii::to_lower(name));
        };
        for (const auto& [name, one] : content_->by_name) {
            raised[one.number] = names_it(name) || names_it(kind_of(one.entry.task->declared));
        }
    }
    // With hints every score counts, since what they name needs no words in common.
    const auto scored = content_->matcher.find(text, hints.empty() ? threshold : 0);
    std::vector<double> scores(hints.empty() ? 0 : content_->by_number.size());
    for (const task_matcher::match& each : scored) {
        if (!raised.empty() && raised[each.number]) scores[each.number] = each.score;
        else if (each.score >= threshold) {
            tasks.push_back({&content_->by_number[each.number]->second.entry, each.score, false});
        }
    }
    for (std::uint32_t number = 0; number < raised.size(); ++number) {
        if (!raised[number]) continue;
        tasks.push_back({&content_->by_number[number]->second.entry, scores[number], true});
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
    for (const auto& [name, one] : content_->by_name) names.push_back(name);
}

} // namespace heddle::tasks
