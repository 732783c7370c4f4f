#include <heddle/tasks/task_registry.hpp>

namespace heddle::tasks {

task_registry::replaced task_registry::add(registered_task entry) {
    replaced before;
    const task_template& declared = entry.task->declared;
    std::string kind = declared.type + ":" + declared.subtype;
    const std::string name = declared.name;
    before.name = !by_name_.insert_or_assign(name, std::move(entry)).second;
    auto [place, fresh] = by_kind_.try_emplace(std::move(kind), name);
    if (!fresh) {
        before.kind = place->second != name;
        place->second = name;
    }
    return before;
}

const registered_task* task_registry::find(std::string_view id) const {
    if (const auto found = by_name_.find(id); found != by_name_.end()) return &found->second;
    const auto kind = by_kind_.find(id);
    if (kind == by_kind_.end()) return nullptr;
    const auto found = by_name_.find(kind->second);
    // A task that was replaced under its name may have become one of another kind.
    if (found == by_name_.end()) return nullptr;
    const task_template& declared = found->second.task->declared;
    const bool still = id.size() == declared.type.size() + 1 + declared.subtype.size() &&
                       id.ends_with(declared.subtype);
    return still ? &found->second : nullptr;
}

void task_registry::collect_names(std::vector<std::string>& names) const {
    for (const auto& [name, entry] : by_name_) names.push_back(name);
}

} // namespace heddle::tasks
