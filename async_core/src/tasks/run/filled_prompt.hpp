// The texts of one call, before its first request.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/tasks/call/task_call.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::tasks {

/// The system prompt and the instructions of a task, filled with the inputs of a call.
class filled_prompt {
public:
    /// `call` outlives it.
    explicit filled_prompt(const task_call& call) : call_(call) {}

    /// Whether other tasks are called inside the prompt.
    [[nodiscard]] bool has_calls() const noexcept {
        return !call_.task->instructions.calls().empty() || !call_.task->system.calls().empty();
    }
    /// What fill() would refuse, before the calls inside the prompt are made.
    /// Errors: as prompt_template::check.
    [[nodiscard]] result<void> check() const;
    /// `base`: goes before the system prompt. `contents`: of the calls in the system prompt, then
    /// of those in the instructions. Errors: as prompt_template::fill.
    [[nodiscard]] result<void> fill(std::string_view base, std::span<const lang::value> contents);
    /// A further paragraph of the system prompt; an empty one is none.
    void add_to_system(std::string_view text);

    [[nodiscard]] std::size_t bytes() const noexcept { return system_.size() + prompt_.size(); }
    [[nodiscard]] std::size_t prompt_bytes() const noexcept { return prompt_.size(); }
    [[nodiscard]] const std::string& prompt() const noexcept { return prompt_; }
    [[nodiscard]] std::string take_system() noexcept { return std::move(system_); }
    [[nodiscard]] std::string take_prompt() noexcept { return std::move(prompt_); }

private:
    const task_call& call_;
    std::string system_;
    std::string prompt_;
};

} // namespace heddle::tasks
