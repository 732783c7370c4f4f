#include <heddle/tasks/definition/compiled_task.hpp>
#include <heddle/tasks/definition/template_validation.hpp>

namespace heddle::tasks {

namespace {

/// What the provider is asked for. Services enforce objects only; anything else is asked for in
/// words.
void choose_format(compiled_task& task, const output_schema& asked) {
    if (!task.declared.output.json) return;
    const std::string_view schema = asked.json_schema();
    if (!schema.empty() && asked.describes_object()) {
        task.format.type = ports::response_format::kind::json_schema;
        task.format.schema_name = "answer";
        task.format.schema_json = schema;
        task.format.strict = asked.fits_strict_mode();
        task.format_note = "Answer with JSON that matches the given schema, and nothing else.";
        return;
    }
    if (asked.describes_object()) {
        task.format.type = ports::response_format::kind::json_object;
    }
    task.format_note = "Answer with " + asked.in_words() + ", and nothing else.";
}

} // namespace

result<std::shared_ptr<const compiled_task>> compile_task(task_template declared) {
    lang::free_work work;
    return compile_task(std::move(declared), work);
}

result<std::shared_ptr<const compiled_task>> compile_task(task_template declared,
                                                          lang::work_meter& work) {
    complete_template(declared);
    auto schema = output_schema::compile(declared.output.schema, work);
    if (work.stopped()) return std::move(schema).error();
    validation_options options;
    options.schema_is_read = schema.has_value();
    for (const template_violation& each : validate_template(declared, options)) {
        if (each.level == lang::severity::error) return violation_error(declared, each);
    }
    auto object = std::make_shared<compiled_task>();
    object->input_names.reserve(declared.inputs.size());
    for (const task_input& input : declared.inputs) object->input_names.push_back(input.name);
    const auto* names = declared.declares_inputs ? &object->input_names : nullptr;
    // The description of a task without instructions is its instructions.
    const bool described =
        declared.instructions.empty() && declared.description != task_template::default_description;
    const std::string& asked = described ? declared.description : declared.instructions;
    HEDDLE_TRY(object->instructions, prompt_template::compile(asked, names));
    HEDDLE_TRY(object->system, prompt_template::compile(declared.system, names));
    object->declared = std::move(declared);
    choose_format(*object, *schema);
    object->schema = *std::move(schema);
    if (const std::string& wider = object->declared.output.accepted; !wider.empty()) {
        HEDDLE_TRY(object->schema, output_schema::compile(wider, work));
    }
    return object;
}

std::size_t footprint(const compiled_task& task) noexcept {
    const task_template& declared = task.declared;
    // Prompts and schemas are kept as they were written and as what was made of them.
    std::size_t bytes = 2048 + declared.description.size() +
                        3 * (declared.instructions.size() + declared.system.size()) +
                        8 * declared.output.schema.size();
    for (const task_input& input : declared.inputs) {
        bytes += 2 * sizeof(task_input) + 2 * input.name.size() + input.description.size() +
                 (input.default_json ? input.default_json->size() : 0);
    }
    return bytes;
}

} // namespace heddle::tasks
