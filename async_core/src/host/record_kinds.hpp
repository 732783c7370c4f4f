// What the records of a row are, as far as several readers of this folder ask: see also
// heddle/ports/run_journal.hpp.
#pragma once

#include <heddle/host/row_history.hpp>
#include <heddle/ports/run_journal.hpp>

namespace heddle::host {

/// Kept by a step under way: a response, a result of a tool, or a failure of one of them.
[[nodiscard]] inline bool is_part(ports::step_kind kind) noexcept {
    using ports::step_kind;
    return kind == step_kind::request || kind == step_kind::reused || kind == step_kind::tool ||
           kind == step_kind::unanswered || kind == step_kind::refused;
}
/// Of a part of a step: of a request, a tool, a function, or the end of a task's time.
[[nodiscard]] inline bool is_failure(const ports::step_record& record) noexcept {
    return record.kind == ports::step_kind::refused || record.kind == ports::step_kind::unanswered;
}
/// A failure because a budget was used up.
[[nodiscard]] inline bool is_of_budget(const ports::step_record& record) noexcept {
    return record.kind == ports::step_kind::unanswered && record.name.starts_with(budget_of);
}
/// A failure that a later attempt asks for again, in a step that had not ended.
[[nodiscard]] inline bool is_forgotten(const ports::step_record& record) noexcept {
    return record.kind == ports::step_kind::unanswered && record.content.is_zero();
}

} // namespace heddle::host
