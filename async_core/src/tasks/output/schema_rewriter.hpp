// Prepares a JSON Schema for the validator.
#pragma once

#include "tasks/output/schema_pattern.hpp"
#include "tasks/output/tuple_pointers.hpp"

#include <heddle/base/error.hpp>
#include <heddle/lang/work.hpp>

#include <boost/json/value.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// Keywords that the validator library would run with std::regex (whose stack grows with the
/// subject) or in quadratic time get names of our own, under which bounded checks are registered.
inline constexpr std::string_view safe_pattern_key = "heddle:pattern";
inline constexpr std::string_view safe_unique_key = "heddle:uniqueItems";
/// enum and const.
inline constexpr std::string_view safe_values_key = "heddle:values";
/// The library copies a text to count its characters, all in one go.
inline constexpr std::string_view safe_min_length_key = "heddle:minLength";
inline constexpr std::string_view safe_max_length_key = "heddle:maxLength";
/// The library compares in doubles, divides by zero and takes 1e20 for no integer.
inline constexpr std::string_view safe_type_key = "heddle:type";
inline constexpr std::string_view safe_minimum_key = "heddle:minimum";
inline constexpr std::string_view safe_above_key = "heddle:exclusiveMinimum";
inline constexpr std::string_view safe_maximum_key = "heddle:maximum";
inline constexpr std::string_view safe_below_key = "heddle:exclusiveMaximum";
inline constexpr std::string_view safe_multiple_key = "heddle:multipleOf";
/// In every schema, before whatever it has to check: what one check by it takes, in steps.
inline constexpr std::string_view effort_key = "heddle:effort";
/// What is checked of an object before its members are checked one by one (shape_check.hpp).
inline constexpr std::string_view shape_key = "heddle:shape";
/// The schemas of names of the whole schema, to which each propertyNames refers.
inline constexpr std::string_view names_key = "heddle:names";
/// What false means, which the library does not count.
inline constexpr std::string_view never_key = "heddle:never";

/// Walks a schema once: refuses what could not be bounded or would silently not be checked, sets
/// keywords with checks of our own their other names, drops the annotation `format`, lets every
/// check by a schema begin with counting it (by true, false and an implied "anything" too), and
/// sees what shape it has.
class schema_rewriter {
public:
    /// `patterns`: gets those of the schema. `work`: counts the schemas. Both outlive this.
    schema_rewriter(schema_patterns& patterns, lang::work_meter& work) noexcept
        : patterns_(patterns), work_(work) {}

    /// Changes `schema`. Errors: invalid_argument with the place in the schema; without meaning
    /// when the meter has stopped it.
    [[nodiscard]] result<void> rewrite(boost::json::value& schema);

    /// Every object names all its properties as required and allows no others.
    [[nodiscard]] bool strict() const noexcept { return strict_; }

    /// Checks may take far more than the schema and the value are large: a schema refers to itself
    /// or, with each reference replaced by its target, there are many.
    [[nodiscard]] bool multiplies() const noexcept { return multiplies_; }

    /// JSON pointer of what was refused; "" for the whole.
    [[nodiscard]] const std::string& wrong_place() const noexcept { return wrong_; }

private:
    [[nodiscard]] error refused(std::string_view path, std::string_view why,
                                std::string_view keyword = {}) const;
    [[nodiscard]] result<void> visit(boost::json::value& schema, const std::string& path,
                                     std::size_t depth);
    [[nodiscard]] result<void> visit_keyword(boost::json::value& content, std::string_view keyword,
                                             const std::string& path, std::size_t depth);
    [[nodiscard]] result<void> visit_below(boost::json::value& schema, const std::string& path,
                                           std::size_t depth);
    [[nodiscard]] result<void> visit_members(boost::json::object& schema, const std::string& path,
                                             std::size_t depth);
    [[nodiscard]] result<void> check_type(const boost::json::value& content,
                                          const std::string& path) const;
    [[nodiscard]] result<void> take_tuple(boost::json::object& schema, const std::string& path);
    [[nodiscard]] result<void> visit_referred(boost::json::value& schema);
    [[nodiscard]] result<void> check_references() const;
    [[nodiscard]] result<void> check_depth() const;
    [[nodiscard]] bool is_multiplied() const;
    void look_at_object(const boost::json::object& schema);
    void look_at_keywords(const boost::json::object& schema, std::string_view path);
    void keep_names(boost::json::value& schema);

    schema_patterns& patterns_;
    lang::work_meter& work_;
    tuple_pointers tuples_;
    using edges = std::map<std::string, std::vector<std::string>, std::less<>>;
    [[nodiscard]] static std::optional<std::string_view> find_cycle(const edges& graph);

    /// Schemas by JSON pointer, with those that apply to the same value.
    edges schemas_;
    std::vector<std::string> references_;
    std::vector<boost::json::value> names_; ///< schemas of the names of members
    std::map<std::string, std::size_t, std::less<>>
        heights_;            ///< schemas inside each other below one
    std::size_t lowest_ = 0; ///< the depth of the lowest schema seen below the one that is visited
    bool strict_ = true;
    bool multiplies_ = false;
    bool later_draft_ = false;    ///< what is next to a $ref holds
    bool names_elements_ = false; ///< a reference may name an element of an allOf
    bool names_draft_ = false;    ///< and so its author knows that it does not, otherwise
    mutable std::string wrong_;
};

} // namespace heddle::tasks
