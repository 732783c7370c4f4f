// Tasks by name and by kind.
#pragma once

#include <heddle/lang/value.hpp>
#include <heddle/tasks/compiled_task.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// A registered task and its value in the session.
struct registered_task {
    std::shared_ptr<const compiled_task> task;
    lang::value callable;
};

/// The tasks of one session. Threads: the session's only.
class task_registry {
public:
    /// What a registration took the place of.
    struct replaced {
        bool name = false; ///< a task of the same name
        bool kind = false; ///< the task that type:subtype found until now
    };

    replaced add(registered_task entry);
    /// By name, then by "type:subtype" (the last registered of that kind). Null when there is none.
    [[nodiscard]] const registered_task* find(std::string_view id) const;
    void collect_names(std::vector<std::string>& names) const;
    [[nodiscard]] std::size_t size() const noexcept { return by_name_.size(); }

private:
    std::map<std::string, registered_task, std::less<>> by_name_;
    std::map<std::string, std::string, std::less<>> by_kind_; ///< type:subtype to name
};

} // namespace heddle::tasks
