#include <heddle/tasks/definition/task_fields.hpp>

#include <algorithm>
#include <type_traits>

namespace heddle::tasks {

namespace {

using shape = field_shape;
using std::string_view;

constexpr double max_token_count = 1e9;
constexpr double max_turn_count = 100'000;
constexpr double max_timeout = 1e8; ///< seconds

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

template <auto First, auto... Rest>
constexpr field_member member() {
    using type =
        std::remove_cvref_t<decltype(reach<First, Rest...>(std::declval<task_template&>()))>;
    field_member field;
    field.shape = shape_of<type>();
    field.view = [](const task_template& from) -> field_view {
        return &reach<First, Rest...>(from);
    };
    field.of_template = [](task_template& of) -> field_ref { return &reach<First, Rest...>(of); };
    if constexpr (std::is_same_v<typename member_of<decltype(First)>::owner, task_settings>) {
        field.of_settings = [](task_settings& of) -> field_ref {
            return &reach<First, Rest...>(of);
        };
    }
    return field;
}

/// Where the type of the member does not determine the shape: a text of several lines, words for a
/// flag.
template <auto First, auto... Rest>
constexpr field_member member(field_shape as) {
    field_member field = member<First, Rest...>();
    field.shape = as;
    return field;
}

using t = task_template;
using context = context_management;
using history = history_config;
using assembly = context_assembly;
using limits = resource_limits;

constexpr field_member group{shape::group};
constexpr field_member special{shape::special};
constexpr std::array<string_view, 2> fresh_words{"enabled", "disabled"};

constexpr task_field rows[] = {
    {.name = "inputs",
     .member = special,
     .clause = "params",
     .documentation = "The inputs of a call, `<input name from type optional default>` each. "
                      "Without it, a call may pass any input, by clause only. The text of the "
                      "element describes the input; `from` is a second name for it; `default` is "
                      "JSON"},
    {.name = "instructions",
     .member = member<&t::instructions>(shape::block),
     .placeholders = true,
     .documentation = "The prompt, with placeholders"},
    {.name = "description",
     .member = member<&t::description>(shape::block),
     .unsaid = t::default_description,
     .placeholders = true,
     .documentation = "Required in a file (not with `ref`). For people and for matching. Without "
                      "instructions it is the prompt"},
    {.name = "system",
     .member = member<&t::system>(shape::block),
     .placeholders = true,
     .documentation = "A part of the system prompt"},
    {.name = "subtype",
     .member = member<&t::subtype>(),
     .in_files = false,
     .unsaid = "standard",
     .documentation = "In a file an attribute; see above"},
    {.name = "returns",
     .member = member<&t::returns>(),
     .in_files = false,
     .partner = "output_format",
     .documentation =
         "The type of the result; in a file an attribute of [`<template>`](#template)"},
    {.name = "model",
     .member = member<&t::model>(),
     .in_calls = {"model"},
     .documentation = "The model, named as for `--model`"},
    {.name = "provider",
     .member = member<&t::provider>(),
     .in_calls = {"provider"},
     .documentation = "The service that is asked for the model"},
    {.name = "temperature",
     .member = member<&t::temperature>(),
     .in_calls = {"temperature"},
     .request = "temperature",
     .documentation = "How far responses vary"},
    {.name = "max_tokens",
     .member = member<&t::max_tokens>(),
     .in_calls = {"max_tokens", "max_output_tokens"},
     .request = "max-tokens",
     .documentation = "Maximum number of tokens of a response"},
    {.member = {shape::requests}},
    {.name = "timeout",
     .member = member<&t::timeout>(),
     .in_calls = {"timeout"},
     .max = max_timeout,
     .above_min = true,
     .documentation = "How long the task may take, all its requests together"},
    {.name = "output_format",
     .member = special,
     .partner = "returns",
     .documentation =
         "`type` is `json` or `text`; `schema` is `object`, `array`, `[]`, `string[]`, "
         "`number[]`, `number`, `boolean`, `string` or a [JSON Schema](#json-schemas), in a "
         "file an attribute or the text of the element"},
    {.name = "retries",
     .member = member<&t::retries>(),
     .in_calls = {"retries"},
     .max = template_limits::max_retries,
     .documentation = "Maximum number of times to ask again if the response is invalid; default 0"},
    {.name = "disable_reparsing",
     .member = member<&t::disable_reparsing>(),
     .documentation = "`true`: use the response as it is, without repair and without asking again"},
    {.name = "tools",
     .member = member<&t::tools>(),
     .documentation = "Tools that the model may call; in a file also as `<tool>` elements"},
    {.name = "criteria",
     .member = member<&t::criteria>(shape::block),
     .documentation = "Copied to the result; selects evaluators"},
    {.name = "context_management",
     .member = group,
     .in_calls = {"context"},
     .documentation = "[The context](context.md#settings)"},
    {.group = "context_management",
     .name = "inherit_context",
     .member = member<&t::context, &context::inherit_context>(),
     .words = inherit_mode_words,
     .partner = "fresh_context",
     .documentation = "Which part of the context of the calling task is inherited"},
    {.group = "context_management",
     .name = "fresh_context",
     .member = member<&t::context, &context::fresh_context>(shape::choice),
     .words = fresh_words,
     .partner = "inherit_context",
     .documentation = "Whether files are looked up for this task"},
    {.group = "context_management",
     .name = "accumulate_data",
     .member = member<&t::context, &context::accumulate_data>(),
     .documentation = "Kept for programs that read templates; no effect"},
    {.group = "context_management",
     .name = "accumulation_format",
     .member = member<&t::context, &context::accumulation_format>(),
     .words = accumulation_words,
     .documentation = "Kept for programs that read templates; no effect"},
    {.name = "file_paths",
     .member = special,
     .in_calls = {"files", "file_paths"},
     .documentation = "Files: `<path>`…, `<command>`, `<description>` or `<context_query>`; the "
                      "attribute `source` is `literal` (the default), `command`, `description` or "
                      "`context_description`. A call passes a list of paths"},
    {.name = "context_relevance",
     .member = special,
     .documentation = "Which inputs take part in matching, `<input name include>` each; "
                      "`((goal true) …)`"},
    {.name = "context_assembly",
     .member = group,
     .documentation = "Order of the documents, by patterns of paths and names of parts"},
    {.group = "context_assembly",
     .name = "primary_elements",
     .member = member<&t::assembly, &assembly::primary>(),
     .documentation = "What comes first"},
    {.group = "context_assembly",
     .name = "secondary_elements",
     .member = member<&t::assembly, &assembly::secondary>(),
     .documentation = "What comes next"},
    {.group = "context_assembly",
     .name = "excluded_elements",
     .member = member<&t::assembly, &assembly::excluded>(),
     .documentation = "What is left out"},
    {.name = "history_config",
     .member = group,
     .in_calls = {"history_config"},
     .documentation = "[Conversations](tasks.md#conversations)"},
    {.group = "history_config",
     .name = "use_session_history",
     .member = member<&t::history, &history::use_session_history>(),
     .documentation = "Whether earlier turns are sent"},
    {.group = "history_config",
     .name = "history_turns_to_include",
     .member = member<&t::history, &history::history_turns_to_include>(),
     .max = max_turn_count,
     .documentation = "How many of them, the latest; all if absent"},
    {.group = "history_config",
     .name = "record_in_session_history",
     .member = member<&t::history, &history::record_in_session_history>(),
     .documentation = "Whether this task becomes a turn"},
    {.name = "resource_limits",
     .member = group,
     .documentation = "[Limits](tasks.md#limits) of one execution"},
    {.group = "resource_limits",
     .name = "max_turns",
     .member = member<&t::limits, &limits::max_turns>(),
     .min = 1,
     .max = max_turn_count,
     .documentation = "Responses of the model"},
    {.group = "resource_limits",
     .name = "max_context",
     .member = member<&t::limits, &limits::max_context>(),
     .max = 1,
     .above_min = true,
     .documentation = "The share of the model's window that a request may fill"},
    {.group = "resource_limits",
     .name = "max_output",
     .member = member<&t::limits, &limits::max_output>(),
     .min = 1,
     .max = max_token_count,
     .documentation = "Output tokens over all turns"},
    {.group = "resource_limits",
     .name = "max_tokens_total",
     .member = member<&t::limits, &limits::max_tokens_total>(),
     .min = 1,
     .max = max_token_count,
     .documentation = "Input and output tokens over all turns"},
    {.group = "resource_limits",
     .name = "max_cost_usd",
     .member = member<&t::limits, &limits::max_cost_usd>(),
     .max = 1e9,
     .above_min = true,
     .documentation = "US dollars over all turns"},
    {.name = "manual_xml",
     .member = member<&t::manual_xml>(),
     .documentation = "Kept for programs that read templates; no effect"},
    {.name = "output_slot",
     .member = member<&t::output_slot>(),
     .in_definitions = false,
     .documentation = "Kept for programs that read templates; no effect"},
    {.name = "input_source",
     .member = member<&t::input_source>(),
     .in_definitions = false,
     .documentation = "Kept for programs that read templates; no effect"},
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
