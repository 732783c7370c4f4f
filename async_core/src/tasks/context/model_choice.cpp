#include "tasks/context/model_choice.hpp"

#include <heddle/base/parse_number.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/output/task_result.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace heddle::tasks {

namespace {

using lang::kind;
using lang::value;
using ports::memory_match;

constexpr std::size_t max_part_bytes = 2000; ///< of description, inputs and the like
constexpr std::size_t max_metadata_bytes = 500;
constexpr std::size_t max_inputs = 20;
constexpr std::int64_t max_response_tokens = 1000;

constexpr std::string_view instructions = R"(Which of these files are needed?

Question: {{query}}
{{task}}
Files:
{{candidates}}
Answer with the numbers of the files that are needed, each with its relevance from 0 to 1. Leave out
what is not needed. When none is needed the list is empty.)";

constexpr std::string_view schema = R"({"type":"object","properties":{"matches":{"type":"array",
"items":{"type":"object","properties":{"id":{"type":["integer","string"]},"relevance":{"type":"number"}},
"required":["id","relevance"],"additionalProperties":false}}},"required":["matches"],
"additionalProperties":false})";

/// What read_choices() reads. Services enforce objects only, and models without such a service
/// answer with a list, too.
constexpr std::string_view accepted_schema =
    R"({"anyOf":[{"type":"array"},{"type":"object","properties":{"matches":{"type":"array"}},
"required":["matches"]}]})";

void add_part(std::string& out, std::string_view title, std::string_view text) {
    if (text.empty()) return;
    out += std::string(title) + ": ";
    out += utf8::prefix(text, max_part_bytes);
    out += '\n';
}

[[nodiscard]] std::optional<std::size_t> by_number(const value& given, std::size_t count) {
    if (!given.is_integer() || given.as_integer() < 1 ||
        static_cast<std::uint64_t>(given.as_integer()) > count) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(given.as_integer() - 1);
}

/// The candidate that a number or a path names.
[[nodiscard]] std::optional<std::size_t> candidate(const value& given,
                                                   std::span<const memory_match> candidates) {
    if (!given.is(kind::string)) return by_number(given, candidates.size());
    const std::string_view path = lang::string_bytes(given);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (candidates[i].path == path || candidates[i].id == path) return i;
    }
    // Models write numbers as text, too.
    const auto number = parse_number<std::size_t>(path);
    if (number && *number >= 1 && *number <= candidates.size()) return *number - 1;
    return std::nullopt;
}

[[nodiscard]] const value* first_of(const value& map, std::string_view one,
                                    std::string_view other) {
    const value* found = lang::map_find(map, one);
    return found ? found : lang::map_find(map, other);
}

[[nodiscard]] double relevance_of(const value& map) {
    const value* given = first_of(map, "relevance", "relevance_score");
    double said = 1;
    if (given && given->is_integer()) said = static_cast<double>(given->as_integer());
    if (given && given->is_real()) said = given->as_real();
    return std::isnan(said) ? 0 : std::clamp(said, 0.0, 1.0);
}

/// The list in a response, or null.
[[nodiscard]] const value* list_in(const value& parsed) {
    if (parsed.is(kind::list)) return &parsed;
    if (!parsed.is(kind::map)) return nullptr;
    const value* matches = lang::map_find(parsed, "matches");
    return matches && matches->is(kind::list) ? matches : nullptr;
}

} // namespace

std::string_view matching_task_name(ports::matching_strategy strategy) noexcept {
    return strategy == ports::matching_strategy::content ? "internal:associative_matching_content"
                                                         : "internal:associative_matching_metadata";
}

task_template matching_template(ports::matching_strategy strategy) {
    task_template declared;
    declared.name = matching_task_name(strategy);
    declared.description = "Chooses the files that a task needs";
    declared.subtype = strategy == ports::matching_strategy::content
                           ? "associative_matching_content"
                           : "associative_matching_metadata";
    declared.declares_inputs = true;
    for (const char* name : {"query", "task", "candidates"}) {
        task_input& input = declared.inputs.emplace_back();
        input.name = name;
        input.type = "string";
    }
    declared.instructions = instructions;
    declared.output = {true, std::string(schema), std::string(accepted_schema)};
    declared.max_tokens = max_response_tokens;
    declared.temperature = 0;
    declared.context.inherit_context = inherit_mode::none;
    declared.context.fresh_context = false;
    declared.history.use_session_history = false;
    declared.history.record_in_session_history = false;
    return declared;
}

std::string task_text(const ports::memory_request& request) {
    std::string out;
    if (request.template_description && *request.template_description != request.query) {
        add_part(out, "Task", *request.template_description);
    }
    if (request.inputs) {
        std::size_t left = max_inputs;
        for (const ports::memory_input& input : *request.inputs) {
            if (left-- == 0) break;
            add_part(out, input.name, input.text);
        }
    }
    if (request.previous_outputs) add_part(out, "Results so far", *request.previous_outputs);
    if (request.inherited_context) add_part(out, "Known already", *request.inherited_context);
    if (request.history) add_part(out, "Conversation so far", *request.history);
    return out;
}

std::string describe_candidates(std::span<const memory_match> candidates,
                                std::size_t excerpt_bytes) {
    std::string text;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const memory_match& one = candidates[i];
        text += std::to_string(i + 1) + ". " + one.path;
        if (!one.metadata.empty()) {
            text += ": ";
            text += utf8::prefix(one.metadata, max_metadata_bytes);
        }
        text += '\n';
        if (excerpt_bytes == 0 || !one.content || one.content->empty()) continue;
        text += "\"\"\"\n";
        text += utf8::prefix(*one.content, excerpt_bytes);
        if (!text.ends_with('\n')) text += '\n';
        text += "\"\"\"\n";
    }
    return text;
}

std::string read_choices(const value& task_result, std::span<const memory_match> candidates,
                         std::span<choice> choices) {
    if (is_failed_result(task_result)) return task_error_of(task_result).message();
    const value* parsed =
        task_result.is(kind::map) ? lang::map_find(task_result, "parsedContent") : nullptr;
    if (!parsed) return "the response is not JSON";
    const value* given = list_in(*parsed);
    if (!given) return "the response is not a list of files";
    std::size_t strangers = 0;
    std::vector<choice> list(choices.size(), {choice::verdict::dropped, 0});
    for (const value& one : lang::list_items(*given)) {
        const bool object = one.is(kind::map);
        const value* named = object ? first_of(one, "id", "path") : &one;
        const auto found = named ? candidate(*named, candidates) : std::nullopt;
        if (!found) {
            ++strangers;
            continue;
        }
        const double relevance = object ? relevance_of(one) : 1;
        if (relevance > 0) list[*found] = {choice::verdict::chosen, relevance};
    }
    // A response that names strangers only was about something else.
    if (strangers != 0 && strangers == given->length()) return "it names none of the files";
    std::copy(list.begin(), list.end(), choices.begin());
    if (strangers == 0) return {};
    return std::to_string(strangers) + " of its entries name no file that was asked about";
}

void apply_choices(ports::memory_response& response, const std::vector<choice>& choices) {
    std::vector<memory_match> kept;
    for (std::size_t i = 0; i < response.matches.size(); ++i) {
        if (choices[i].said == choice::verdict::dropped) continue;
        if (choices[i].said == choice::verdict::chosen) {
            response.matches[i].relevance = choices[i].relevance;
        }
        kept.push_back(std::move(response.matches[i]));
    }
    std::stable_sort(kept.begin(), kept.end(),
                     [](const memory_match& left, const memory_match& right) {
                         return left.relevance > right.relevance;
                     });
    response.matches = std::move(kept);
    response.context_summary += "; a model chose " + std::to_string(response.matches.size());
}

} // namespace heddle::tasks
