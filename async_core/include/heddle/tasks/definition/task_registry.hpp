// Tasks by name, by kind, and by description.
#pragma once

#include <heddle/lang/value.hpp>
#include <heddle/tasks/definition/compiled_task.hpp>
#include <heddle/tasks/definition/task_matcher.hpp>

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

/// A task whose description matches a text.
struct matching_task {
    const registered_task* found = nullptr; ///< valid until the next registration
    double score = 0;                       ///< Jaccard index of text and description, 0 to 1
    bool hinted = false;                    ///< one of the hints names it
};

/// The default threshold of a match.
inline constexpr double default_match_threshold = 0.1;

/// The tasks of one session. Threads: the session's only.
class task_registry {
public:
    task_registry() : content_(std::make_shared<tables>()) {}
    task_registry(const task_registry&) = delete;
    task_registry& operator=(const task_registry&) = delete;
    /// Begins with the tasks of `base` in place of its own. Constant time; the first add()
    /// afterwards is linear in their number.
    void begin_with(const task_registry& base) { content_ = base.content_; }

    /// What a registration replaced.
    struct replaced {
        bool name = false; ///< a task of the same name
        bool kind = false; ///< the task that type:subtype found before
    };

    replaced add(registered_task entry);
    /// By name, then by "type:subtype" (the last registered of that kind). Null if there is none.
    [[nodiscard]] const registered_task* find(std::string_view id) const;
    /// Tasks whose description shares words with the text (task_matcher) and scores at least
    /// `threshold`, best first, ties by name. Those that a hint names (a name in any case, or a
    /// "type:subtype") come before all others, whatever their score. Ten thousand tasks take less
    /// than 10 ms.
    [[nodiscard]] std::vector<matching_task> find_matching_tasks(
        std::string_view text, double threshold = default_match_threshold,
        const std::vector<std::string>& hints = {}) const;
    void collect_names(std::vector<std::string>& names) const;
    [[nodiscard]] std::size_t size() const noexcept { return content_->by_name.size(); }
    /// Calls visit(task) for each.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const auto& [name, one] : content_->by_name) visit(one.entry);
    }

private:
    struct slot {
        registered_task entry;
        std::uint32_t number = 0; ///< of this name; never changes
        bool unread = false;      ///< the matcher does not have the current description
    };
    using name_map = std::map<std::string, slot, std::less<>>;
    struct tables {
        tables() = default;
        explicit tables(const tables& other);
        tables& operator=(const tables&) = delete;
        /// Result: whether its name is new.
        bool put(registered_task entry);
        void read_descriptions();

        name_map by_name;
        std::map<std::string, std::string, std::less<>> by_kind; ///< type:subtype to name
        std::vector<name_map::value_type*> by_number;
        // Descriptions are read by the first search: many programs never search.
        task_matcher matcher;
        std::vector<std::uint32_t> unread;
    };

    std::shared_ptr<tables> content_; ///< of all registries that begin with these
};

} // namespace heddle::tasks
