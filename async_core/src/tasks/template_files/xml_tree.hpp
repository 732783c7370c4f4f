// XML as a tree with places.
#pragma once

#include <heddle/base/source.hpp>
#include <heddle/lang/check.hpp>
#include <heddle/tasks/template_files/template_loader.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

struct xml_attribute {
    std::string name;
    std::string text;
    source_span name_span;
    source_span text_span; ///< between the quotes
};

struct xml_element {
    std::string name;
    std::vector<xml_attribute> attributes;
    std::vector<xml_element> children;
    std::string text;   ///< all text and CDATA right below it, in order
    source_span span;   ///< of the start tag
    source_span inside; ///< between the tags

    [[nodiscard]] const xml_attribute* attribute(std::string_view wanted) const noexcept;
    [[nodiscard]] bool has_text() const noexcept; ///< anything but white space
};

/// Where the tags of a document stand, in the order in which they open.
struct xml_tag_place {
    struct attribute {
        source_span name;
        source_span text;
    };
    source_span tag;
    source_span inside;
    std::vector<attribute> attributes;
};

/// Checks that a text is well-formed XML of the kind that templates are made of: UTF-8, one root,
/// no document type, no entities but the five and characters by number, no processing instructions,
/// within the limits. Fills `places`. False when the tree cannot be read; `problems` has the
/// reasons.
[[nodiscard]] bool check_xml(std::string_view text, std::uint32_t position,
                             const template_file_limits& limits, std::vector<xml_tag_place>& places,
                             std::vector<lang::problem>& problems);

/// Reads a text that was added to a source_map at `position`. Nothing when it is not well-formed.
[[nodiscard]] std::optional<xml_element> read_xml(std::string_view text, std::uint32_t position,
                                                  const template_file_limits& limits,
                                                  std::vector<lang::problem>& problems);

} // namespace heddle::tasks
