// What a template implies, and what it takes from the template that it refers to.
#include <heddle/tasks/definition/field_values.hpp>
#include <heddle/tasks/definition/template_validation.hpp>

#include <algorithm>

namespace heddle::tasks {

namespace {

/// The rows whose member has a form of its own.
struct special_row {
    std::string_view name;
    bool (*is_set)(const task_template& in);
    void (*copy)(task_template& into, const task_template& from);
};

constexpr special_row specials[] = {
    {"inputs", [](const task_template& in) { return in.declares_inputs || !in.inputs.empty(); },
     [](task_template& into, const task_template& from) {
         into.inputs = from.inputs;
         into.declares_inputs = from.declares_inputs;
     }},
    {"output_format",
     [](const task_template& in) { return in.output.json || !in.output.schema.empty(); },
     [](task_template& into, const task_template& from) { into.output = from.output; }},
    {"file_paths", [](const task_template& in) { return in.files.has_value(); },
     [](task_template& into, const task_template& from) { into.files = from.files; }},
    {"context_relevance", [](const task_template& in) { return !in.relevance.empty(); },
     [](task_template& into, const task_template& from) { into.relevance = from.relevance; }},
};

[[nodiscard]] const special_row* special_of(const task_field& field) noexcept {
    const auto found = std::find_if(std::begin(specials), std::end(specials), [&](const auto& row) {
        return field.group.empty() && row.name == field.name;
    });
    return found == std::end(specials) ? nullptr : found;
}

/// A definition that was read notes what it sets; of one that a program put together, only the
/// values are known.
[[nodiscard]] bool is_given(const task_field& field, const task_template& in) {
    if (in.given.contains(field)) return true;
    const special_row* special = special_of(field);
    return special ? special->is_set(in) : is_said(field, in);
}

void copy_field(const task_field& field, task_template& into, const task_template& from) {
    if (const special_row* special = special_of(field)) return special->copy(into, from);
    if (auto given = value_of(field, from))
        store(field.member.of_template(into), *std::move(given));
}

} // namespace

void complete_template(task_template& declared) {
    if (!declared.inputs.empty()) declared.declares_inputs = true;
    if (declared.description.empty()) declared.description = declared.name;
    const bool text = declared.returns.empty() || declared.returns == "text" ||
                      declared.returns == "string" || !is_result_type(declared.returns);
    if (!text && !declared.output.json && declared.output.schema.empty()) {
        declared.output = {true, declared.returns};
    }
    if (!declared.declares_inputs || declared.inputs.empty() || !is_aider_subtype(declared.subtype))
        return;
    const bool there =
        std::any_of(declared.inputs.begin(), declared.inputs.end(),
                    [](const task_input& input) { return input.name == task_description_input; });
    if (there) return;
    task_input implied;
    implied.name = task_description_input;
    implied.description = "what is to be done; the first input where it is left out";
    implied.optional = true;
    declared.inputs.push_back(std::move(implied));
}

void fill_absent(task_template& declared, const task_template& base) {
    std::vector<const task_field*> open;
    for (const task_field& field : task_fields()) {
        // Half of a pair from elsewhere could contradict the other half.
        const task_field* partner =
            field.partner.empty() ? nullptr : find_clause(field.group, field.partner);
        if (!is_given(field, declared) && !(partner && is_given(*partner, declared)))
            open.push_back(&field);
    }
    for (const task_field* field : open) copy_field(*field, declared, base);
    fill_absent(declared.parameters, base.parameters);
}

} // namespace heddle::tasks
