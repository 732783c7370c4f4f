// Checks of JSON against schemas.
#pragma once

#include "tasks_testing.hpp"

#include <heddle/tasks/output/output_schema.hpp>

#include <string>
#include <string_view>

namespace heddle::tasks::testing {

/// "" when the JSON is accepted, the problem when it is not, "refused: …" when the schema is not
/// one.
[[nodiscard]] inline std::string check(std::string_view schema, std::string_view json) {
    reading text;
    const auto code = output_schema::compile(schema);
    if (!code) return "refused: " + code.error().message();
    const auto wrong = code->check(text.json(json), json);
    return wrong ? wrong->message : "";
}

} // namespace heddle::tasks::testing
