// Special forms: one row each, in the forms_*.cpp that analyses it.
#pragma once

#include "analyzer.hpp"
#include "form_layout.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace heddle::lang {

/// What a form binds in the scope around it: the name after the head, or the head of that list.
enum class binding : std::uint8_t { nothing, name, task, tool, macro };

/// Which values of a form's ((name value)…) are computed in the scope around the form, although
/// it encloses them.
enum class outer_values : std::uint8_t { none, first, all };

/// A special form. To add one, write its function and its row.
struct special_form {
    std::string_view name; ///< one that begins with % is for the prelude and the library alone
    ast::node* (*analyse)(analyzer& a, const form& f, analyzer::position where) = nullptr;
    binding binds = binding::nothing;
    /// What is bound in the part at this index, or after it, stays inside; 0: in none of them.
    std::uint8_t encloses_from = 0;
    outer_values values_outside = outer_values::none; ///< of layout.bindings
    bool quotes = false;                              ///< its parts are data
    form_layout layout{};       ///< for the formatter; the default is that of a call
    std::string_view usage{};   ///< a line for each way to write it
    std::string_view summary{}; ///< the first sentence is the short description
    std::string_view example{}; ///< lines "(form) => value", run as a test; empty: needs a host
    std::string_view family{};  ///< "binding", "control", …; empty: not documented
};

[[nodiscard]] std::span<const special_form> data_forms() noexcept;
[[nodiscard]] std::span<const special_form> binding_forms() noexcept;
[[nodiscard]] std::span<const special_form> control_forms() noexcept;
[[nodiscard]] std::span<const special_form> concurrency_forms() noexcept;
[[nodiscard]] std::span<const special_form> host_forms() noexcept;
[[nodiscard]] std::span<const special_form> loop_forms() noexcept;
[[nodiscard]] std::span<const special_form> eval_forms() noexcept;
[[nodiscard]] std::span<const special_form> macro_forms() noexcept;

/// All forms, by name.
[[nodiscard]] std::span<const special_form> special_forms() noexcept;
/// Those that programs can use, by family, in the order of the reference.
[[nodiscard]] std::span<const special_form> documented_forms() noexcept;
/// Null when there is none of that name.
[[nodiscard]] const special_form* find_special_form(std::string_view name) noexcept;

} // namespace heddle::lang
