// Places inside the text of a JSON Schema, as places of the file that holds it.
#pragma once

#include "tasks/definition/source_form.hpp"

#include <heddle/tasks/output/output_schema.hpp>

#include <string_view>

namespace heddle::tasks {

/// How a file writes a text.
enum class text_writing : std::uint8_t {
    quoted, ///< a string of the language, with its quotes
    xml     ///< an attribute or the inside of an element; blanks around it do not count
};

/// The span of a part of a schema. `written`: the text of `span` in the file. `schema`: what it was
/// read as. Result: `span` when the part cannot be found.
[[nodiscard]] source_span place_in_text(std::string_view written, source_span span,
                                        text_writing writing, std::string_view schema,
                                        const schema_place& part);

/// As place_in_text, of a schema that is written as data.
[[nodiscard]] source_span place_in_data(const source_form& schema, const schema_place& part);

} // namespace heddle::tasks
