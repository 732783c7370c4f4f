// JSON Schemas in the form that Anthropic's structured responses take.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::providers::anthropic {

/// The service compiles a schema to a grammar and refuses what has no place in it. Every object
/// must be closed; bounds of numbers, lengths and patterns become words of the description, which
/// the model reads. `schema` must be a JSON object.
/// Nothing when the schema has no such form: an object with free names, any value at all, a schema
/// that holds itself, one that is elsewhere.
/// Source: docs.claude.com, "Structured outputs"; the official clients change schemas alike. Pure.
[[nodiscard]] std::optional<std::string> closed_schema(std::string_view schema);

/// closed_schema, which remembers the last few: a schema is shaped once and not for each of a
/// million calls.
class schema_shaper {
public:
    /// The view stays until the shaper is asked again.
    [[nodiscard]] std::optional<std::string_view> shape(std::string_view schema);

private:
    struct known {
        std::string schema;
        std::optional<std::string> closed;
    };
    std::array<known, 8> known_;
    std::size_t next_ = 0;
};

} // namespace heddle::providers::anthropic
