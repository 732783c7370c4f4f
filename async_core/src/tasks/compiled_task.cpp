#include <heddle/lang/errors.hpp>
#include <heddle/tasks/compiled_task.hpp>
#include <heddle/tasks/effective_context.hpp>

namespace heddle::tasks {

namespace {

[[nodiscard]] error in_clause(const task_template& declared, std::string_view clause,
                              source_span where, error inner) {
    error failure(lang::errc::evaluation,
                  "task " + declared.name + ": " + std::string(clause) + ": " + inner.message());
    if (!inner.info().hint.empty()) failure = std::move(failure).with_hint(inner.info().hint);
    return std::move(failure).with_span(where.known() ? where : declared.span);
}

/// What the provider is asked for. Services enforce objects only; anything else is asked for in
/// words.
void choose_format(compiled_task& task) {
    if (!task.declared.output.json) return;
    const std::string_view schema = task.schema.json_schema();
    if (!schema.empty() && task.schema.describes_object()) {
        task.format.type = ports::response_format::kind::json_schema;
        task.format.schema_name = "answer";
        task.format.schema_json = schema;
        task.format.strict = task.schema.fits_strict_mode();
        task.format_note = "Answer with JSON that matches the given schema, and nothing else.";
        return;
    }
    if (task.schema.describes_object()) {
        task.format.type = ports::response_format::kind::json_object;
    }
    task.format_note = "Answer with " + task.schema.in_words() + ", and nothing else.";
}

} // namespace

result<std::shared_ptr<const compiled_task>> compile_task(task_template declared) {
    auto made = std::make_shared<compiled_task>();
    if (declared.name.empty()) {
        return error(lang::errc::evaluation, "a task must have a name").with_span(declared.span);
    }
    if (!declared.inputs.empty()) declared.declares_inputs = true;
    made->input_names.reserve(declared.inputs.size());
    for (const task_input& input : declared.inputs) made->input_names.push_back(input.name);
    const auto* names = declared.declares_inputs ? &made->input_names : nullptr;

    auto instructions = prompt_template::compile(declared.instructions, names);
    if (!instructions) {
        return in_clause(declared, "instructions", declared.instructions_span,
                         std::move(instructions).error());
    }
    made->instructions = std::move(*instructions);
    auto system = prompt_template::compile(declared.system, names);
    if (!system) {
        return in_clause(declared, "system", declared.system_span, std::move(system).error());
    }
    made->system = std::move(*system);
    auto schema = output_schema::compile(declared.output.schema);
    if (!schema) {
        return in_clause(declared, "output_format", declared.output_span,
                         std::move(schema).error());
    }
    made->schema = std::move(*schema);
    if (auto fits = check_context_layer(declared.subtype, declared.context); !fits) {
        return in_clause(declared, "context_management", {}, std::move(fits).error());
    }
    made->declared = std::move(declared);
    choose_format(*made);
    return made;
}

} // namespace heddle::tasks
