#include <heddle/tasks/definition/given_fields.hpp>

namespace heddle::tasks {

void given_fields::add(const task_field& field, source_span span) {
    for (auto& [known, place] : fields_) {
        if (known != &field) continue;
        place = span;
        return;
    }
    fields_.emplace_back(&field, span);
}

bool given_fields::contains(const task_field& field) const noexcept {
    for (const auto& [known, place] : fields_) {
        if (known == &field) return true;
    }
    return false;
}

source_span given_fields::span_of(const task_field& field) const noexcept {
    for (const auto& [known, place] : fields_) {
        if (known == &field) return place;
    }
    return {};
}

void given_fields::clear_spans() noexcept {
    for (auto& [known, place] : fields_) place = {};
}

} // namespace heddle::tasks
