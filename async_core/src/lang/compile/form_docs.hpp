// What the special forms are for: the documentation beside the table of special_forms.cpp.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace heddle::lang {

/// One row for every form that programs can use; a test holds it to the table of forms.
struct form_doc {
    std::string_view name;
    std::string_view usage;   ///< a line for each way to write it
    std::string_view summary; ///< the first sentence stands for the whole
    std::string_view
        example; ///< lines "(form) => value", run as a test; empty when it needs the world
    std::string_view family; ///< "binding", "control", …
};

/// All rows, by family, in the order of the reference page.
[[nodiscard]] std::span<const form_doc> form_docs() noexcept;

/// Null when there is none of that name.
[[nodiscard]] const form_doc* find_form_doc(std::string_view name) noexcept;

/// The names of all special forms, those of the prelude alone (%…) too.
[[nodiscard]] std::vector<std::string_view> special_form_names();

} // namespace heddle::lang
