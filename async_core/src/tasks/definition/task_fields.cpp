#include <heddle/tasks/definition/task_fields.hpp>

#include <algorithm>
#include <type_traits>

namespace heddle::tasks {

namespace {

using shape = field_shape;
using std::string_view;

// The member of a row, from the way to it.

template <class Member>
struct member_of;
template <class Class, class Type>
struct member_of<Type Class::*> {
    using owner = Class;
    using type = Type;
};

template <auto First, auto... Rest>
constexpr auto& reach(auto& from) {
    if constexpr (sizeof...(Rest) == 0) return from.*First;
    else return reach<Rest...>(from.*First);
}

template <class T>
inline constexpr bool is_flag = std::is_same_v<T, std::optional<bool>>;

template <class T>
constexpr field_shape shape_of() {
    if constexpr (std::is_same_v<T, std::string>) return shape::word;
    else if constexpr (std::is_same_v<T, std::vector<std::string>>) return shape::names;
    else if constexpr (is_flag<T>) return shape::flag;
    else {
        using content = typename T::value_type;
        if constexpr (std::is_enum_v<content>) return shape::choice;
        else if constexpr (std::is_integral_v<content>) return shape::whole;
        else if constexpr (std::is_floating_point_v<content>) return shape::number;
        else return shape::seconds;
    }
}

/// The row of the member that the way leads to. A shape that the row does not set follows from the
/// type of the member.
template <auto First, auto... Rest>
constexpr task_field row(string_view in, string_view name, task_field attributes) {
    task_field field = attributes;
    field.group = in;
    field.name = name;
    if (field.member.shape == shape::special) {
        field.member.shape = shape_of<
            std::remove_cvref_t<decltype(reach<First, Rest...>(std::declval<task_template&>()))>>();
    }
    field.member.view = [](const task_template& from) -> field_view {
        return &reach<First, Rest...>(from);
    };
    field.member.of_template = [](task_template& of) -> field_ref {
        return &reach<First, Rest...>(of);
    };
    if constexpr (std::is_same_v<typename member_of<decltype(First)>::owner, task_settings>) {
        field.member.of_settings = [](task_settings& of) -> field_ref {
            return &reach<First, Rest...>(of);
        };
    }
    return field;
}

constexpr task_field with_default(task_field field, string_view value) {
    field.unsaid = value;
    return field;
}

using t = task_template;
using context = context_management;
using assembly = context_assembly;
using history = history_config;
using limits = resource_limits;

// The names that rows of task_settings.def use.
constexpr string_view default_description = t::default_description;
constexpr field_member block{shape::block};
constexpr field_member choice{shape::choice};
constexpr field_member group{shape::group};
constexpr field_member requests{shape::requests};
constexpr field_member special{shape::special};

constexpr task_field rows[] = {
#define HEDDLE_TASK_SETTING(type, name, ...) row<&t::name>({}, #name, {__VA_ARGS__}),
#define HEDDLE_TASK_STRING(name, value, ...) \
    with_default(row<&t::name>({}, #name, {__VA_ARGS__}), value),
#define HEDDLE_CALL_SETTING(type, name, ...) row<&t::name>({}, #name, {__VA_ARGS__}),
#define HEDDLE_CONTEXT_SETTING(type, name, ...) \
    row<&t::context, &context::name>("context_management", #name, {__VA_ARGS__}),
#define HEDDLE_ASSEMBLY_SETTING(name, ...) \
    row<&t::assembly, &assembly::name>("context_assembly", #name "_elements", {__VA_ARGS__}),
#define HEDDLE_HISTORY_SETTING(type, name, ...) \
    row<&t::history, &history::name>("history_config", #name, {__VA_ARGS__}),
#define HEDDLE_LIMIT(type, name, ...) \
    row<&t::limits, &limits::name>("resource_limits", #name, {__VA_ARGS__}),
#define HEDDLE_SETTING_ROW(...) task_field{__VA_ARGS__},
#include <heddle/tasks/definition/task_settings.def>
};

/// Hyphen and underscore are the same.
[[nodiscard]] constexpr bool is_same_name(string_view one, string_view other) noexcept {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [](char a, char b) { return (a == '-' ? '_' : a) == (b == '-' ? '_' : b); });
}

[[nodiscard]] constexpr const task_field* row_of(string_view in, string_view name) noexcept {
    for (const task_field& row : rows) {
        if (row.group == in && row.name == name) return &row;
    }
    return nullptr;
}

/// What readers take for granted of each row.
[[nodiscard]] constexpr bool is_whole(const task_field& row) noexcept {
    const field_shape as = row.member.shape;
    if (as == shape::requests) return true;
    const bool plain = as != shape::group && as != shape::special;
    const bool called = !row.in_calls[0].empty();
    const bool is_there = row_of(row.group, row.name) == &row && !row.name.empty();
    const bool in_group =
        row.group.empty() ||
        (plain && row_of({}, row.group) && row_of({}, row.group)->member.shape == shape::group);
    return is_there && in_group && plain == (row.member.of_template != nullptr) &&
           (!called || !plain || row.member.of_settings) &&
           (as == shape::choice) == !row.words.empty() &&
           (row.partner.empty() || row_of(row.group, row.partner));
}
static_assert(std::all_of(std::begin(rows), std::end(rows), is_whole));

} // namespace

std::span<const task_field> task_fields() noexcept { return rows; }

const task_field* find_clause(string_view in, string_view name) noexcept {
    const auto at = std::find_if(std::begin(rows), std::end(rows), [&](const task_field& row) {
        return row.group == in && row.in_definitions && !row.name.empty() &&
               is_same_name(row.clause.empty() ? row.name : row.clause, name);
    });
    return at == std::end(rows) ? nullptr : at;
}

const task_field* find_element(string_view in, string_view name) noexcept {
    const auto at = std::find_if(std::begin(rows), std::end(rows), [&](const task_field& row) {
        return row.group == in && row.in_files && !row.name.empty() && row.name == name;
    });
    return at == std::end(rows) ? nullptr : at;
}

const task_field* find_misplaced(string_view in, string_view name) noexcept {
    const auto at = std::find_if(std::begin(rows), std::end(rows), [&](const task_field& row) {
        return row.group != in && !row.name.empty() && is_same_name(row.name, name);
    });
    return at == std::end(rows) ? nullptr : at;
}

const task_field* find_call_field(string_view name) noexcept {
    const auto at = std::find_if(std::begin(rows), std::end(rows), [&](const task_field& row) {
        return std::any_of(row.in_calls.begin(), row.in_calls.end(), [&](string_view known) {
            return !known.empty() && is_same_name(known, name);
        });
    });
    return at == std::end(rows) ? nullptr : at;
}

string_view clause_name(const task_field& field) noexcept {
    if (!field.clause.empty()) return field.clause;
    return field.request.empty() ? field.name : field.request;
}

std::vector<const lang::request_setting*> other_request_settings() {
    std::vector<const lang::request_setting*> settings;
    for (const lang::request_setting& each : lang::request_settings()) {
        const bool has_row =
            std::any_of(std::begin(rows), std::end(rows),
                        [&](const task_field& row) { return row.request == each.name; });
        if (!has_row) settings.push_back(&each);
    }
    return settings;
}

std::vector<std::string> clause_names(string_view in) {
    std::vector<std::string> strings;
    for (const task_field& row : rows) {
        if (row.group != in || !row.in_definitions) continue;
        if (row.member.shape != shape::requests) {
            strings.emplace_back(clause_name(row));
            continue;
        }
        for (const auto* each : other_request_settings()) strings.emplace_back(each->name);
    }
    return strings;
}

std::vector<std::string> element_names(string_view in) {
    std::vector<std::string> strings;
    for (const task_field& row : rows) {
        if (row.group != in || !row.in_files) continue;
        if (row.member.shape != shape::requests) {
            strings.emplace_back(row.name);
            continue;
        }
        for (const auto* each : other_request_settings())
            strings.push_back(lang::snake_name(*each));
    }
    return strings;
}

std::vector<std::string> call_names() {
    std::vector<std::string> strings;
    for (const task_field& row : rows) {
        for (const string_view name : row.in_calls) {
            if (!name.empty()) strings.emplace_back(name);
        }
    }
    return strings;
}

const lang::request_setting* request_of(const task_field& field) noexcept {
    return field.request.empty() ? nullptr : lang::find_request_setting(field.request);
}

} // namespace heddle::tasks
