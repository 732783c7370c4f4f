// What readers of elements share.
#pragma once

#include "tasks/template_files/xml_tree.hpp"

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// Text of several lines as it was meant: without blank lines around it and without the indentation
/// that all its lines share.
[[nodiscard]] std::string text_block(const xml_element& element);
/// Words of a comma-separated list, each trimmed; empty ones too, unless there is nothing at all.
[[nodiscard]] std::vector<std::string> comma_list(std::string_view text);

/// Reads values and reports what is wrong with them.
class element_reading {
public:
    explicit element_reading(std::vector<lang::problem>& problems) : problems_(problems) {}

    void report(std::string_view code, source_span where, std::string message,
                std::string hint = {});
    /// Refuses every other attribute.
    void only_attributes(const xml_element& element, std::initializer_list<std::string_view> known);
    /// Refuses children, or text, that do not belong.
    void no_children(const xml_element& element);
    void no_text(const xml_element& element);
    /// An element that is nothing but text: trimmed, reported when empty.
    std::optional<std::string> text(const xml_element& element);
    std::optional<bool> boolean(const xml_element& element);
    std::optional<bool> boolean(std::string_view what, std::string_view text, source_span where);
    /// Reports that the element must be something else: "a number from 0 to 10".
    void unfit(const xml_element& element, std::string_view expected, std::string_view content);
    /// One of the words; their number, or nothing.
    std::optional<std::size_t> choice(std::string_view what, std::string_view text,
                                      source_span where, std::span<const std::string_view> words);
    std::optional<std::size_t> choice(const xml_element& element,
                                      std::span<const std::string_view> words);
    /// The place of the text of an element, else of its tag.
    [[nodiscard]] static source_span place(const xml_element& element);
    void unknown_element(const xml_element& child, std::string_view inside,
                         const std::vector<std::string>& known);
    /// As unknown_element, of a task (`group` is "") or of a group of settings.
    void unknown_setting(const xml_element& child, std::string_view group);

private:
    std::vector<lang::problem>& problems_;
};

} // namespace heddle::tasks
