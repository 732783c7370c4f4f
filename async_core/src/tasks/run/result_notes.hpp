// What the notes of a result say of how it came about.
#pragma once

#include "tasks/run/result_builder.hpp"

#include <heddle/ports/llm_port.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::tasks {

/// Warnings, who responded, the tools that were called. Usage is the matter of task_session.
class result_notes {
public:
    /// Both outlive it.
    result_notes(lang::heap& memory, result_builder& results)
        : memory_(memory), results_(results) {}

    void warn(std::string text) { warnings_.push_back(std::move(text)); }
    /// Each once: the turns of a loop say the same.
    void add_warnings(const std::vector<std::string>& further);
    /// The last response is the one that counts.
    void responded(const ports::chat_response& response);
    /// What an executor adds: a map, or nil.
    void set_further(lang::value entries) { further_ = std::move(entries); }
    void add_tool(std::string_view name, bool succeeded, std::chrono::nanoseconds took);

    /// Sets all of this but further(). Views into this object.
    void describe(task_ending& end) const;
    /// What only some tasks have, as task_ending::extra_notes.
    [[nodiscard]] lang::value further() const;

    /// That result, a map with notes, with these warnings before its own; each once.
    [[nodiscard]] lang::value with_warnings(lang::value result) const;

private:
    lang::heap& memory_;
    result_builder& results_;
    std::vector<std::string> warnings_;
    bool answered_ = false;
    ports::finish_reason finish_ = ports::finish_reason::stop;
    std::string model_;
    std::string provider_; ///< empty: nobody chose
    lang::value further_;
    lang::value tools_; ///< notes.tool_calls, or nil
};

} // namespace heddle::tasks
