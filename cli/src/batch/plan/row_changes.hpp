// What other responses change in a row.
#pragma once

#include "batch/plan/plan_log.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace heddle::cli {

inline constexpr std::string_view task_prefix = "task ";
inline constexpr std::string_view tool_prefix = "tool ";

/// Whether a step of that name is one of those that a plan lists.
[[nodiscard]] inline bool is_call(std::string_view name) noexcept {
    return name.starts_with(task_prefix) || name.starts_with(tool_prefix);
}

/// Compares executions of a row with altered answers to the calls that are made again with the
/// first execution, in which these have the answers that they had.
class row_changes {
public:
    /// `has_ended`: the altered one has, by itself and with a value.
    void add(const plan_log& first, const plan_log& altered, bool has_ended);
    /// Calls of the first execution that ask something else, or may do so.
    [[nodiscard]] const plan_log::steps& changed() const noexcept { return changed_; }
    /// The maximum number of calls that are sent besides those of the first one, by their names.
    [[nodiscard]] const std::map<std::string, std::uint64_t>& most() const noexcept {
        return most_;
    }
    /// Whether calls are made that the first one does not make.
    [[nodiscard]] bool makes_others() const noexcept { return makes_others_; }

private:
    plan_log::steps changed_;
    std::map<std::string, std::uint64_t> most_;
    bool makes_others_ = false;
};

} // namespace heddle::cli
