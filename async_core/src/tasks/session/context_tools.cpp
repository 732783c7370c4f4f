#include "tasks/session/context_tools.hpp"

#include "tasks/context/context_lookup.hpp"
#include "tasks/output/message_json.hpp"
#include "tasks/output/shown_value.hpp"

#include <heddle/host/session.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

namespace heddle::tasks {

namespace {

using lang::kind;
using lang::value;

constexpr std::int64_t max_matches = 10'000;

constexpr std::string_view input_schema = R"({
  "type": "object",
  "properties": {
    "query": {"type": "string", "description": "What is looked for, in words or identifiers"},
    "inputs": {"type": "object", "description": "Inputs of the task that the files are for"},
    "matching_strategy": {"enum": ["content", "metadata"],
      "description": "Match the text of files, or their paths and descriptions only"},
    "history": {"description": "The conversation so far"},
    "inherited_context": {"description": "Context of the task that asks"},
    "previous_outputs": {"description": "Results of earlier steps"},
    "template_description": {"type": "string", "description": "What the task is for"},
    "limit": {"type": "integer", "minimum": 1, "description": "Most files to give"}
  },
  "required": ["query"]
})";

/// A string as it is, any other data as JSON.
[[nodiscard]] result<std::string> text_of(const value& v) {
    if (v.is(kind::string)) return std::string(lang::string_bytes(v));
    return message_json(v);
}

/// Reads the clauses of one call.
class request_reader {
public:
    request_reader(std::string_view tool, const value& inputs) : tool_(tool), inputs_(inputs) {}

    result<ports::memory_request> read() {
        ports::memory_request request;
        const value* query = lang::map_find(inputs_, "query");
        if (!query || !query->is(kind::string)) {
            return wrong_value(tool_, "query", "a string", query ? *query : value());
        }
        request.query = lang::string_bytes(*query);
        if (const value* given = given_value("inputs")) {
            HEDDLE_TRY(request.inputs, read_inputs(*given));
        }
        if (const value* given = given_value("matching_strategy")) {
            HEDDLE_TRY(request.strategy, read_strategy(*given));
        }
        HEDDLE_TRY(request.history, read_text("history"));
        HEDDLE_TRY(request.inherited_context, read_text("inherited_context"));
        HEDDLE_TRY(request.previous_outputs, read_text("previous_outputs"));
        HEDDLE_TRY(request.template_description, read_text("template_description"));
        if (const value* given = given_value("limit")) {
            if (!given->is_integer() || given->as_integer() < 1 ||
                given->as_integer() > max_matches) {
                return wrong_value(tool_, "limit",
                                   "a whole number from 1 to " + std::to_string(max_matches),
                                   *given);
            }
            request.limit = static_cast<std::size_t>(given->as_integer());
        }
        return request;
    }

private:
    /// Null for a clause that is not there, and for nil.
    [[nodiscard]] const value* given_value(std::string_view clause) const {
        const value* found = lang::map_find(inputs_, clause);
        return found && !found->is_nil() ? found : nullptr;
    }

    [[nodiscard]] result<std::optional<std::string>> read_text(std::string_view clause) const {
        const value* given = given_value(clause);
        if (!given) return std::optional<std::string>();
        auto text = text_of(*given);
        if (!text) return wrong_value(tool_, clause, "text or data", *given);
        return std::optional<std::string>(*std::move(text));
    }

    [[nodiscard]] result<ports::matching_strategy> read_strategy(const value& given) const {
        std::optional<ports::matching_strategy> strategy;
        if (given.is(kind::symbol)) {
            strategy = ports::matching_strategy_from(lang::symbol_name(given));
        } else if (given.is(kind::string)) {
            strategy = ports::matching_strategy_from(lang::string_bytes(given));
        }
        if (!strategy) {
            return wrong_value(tool_, "matching_strategy", "'content or 'metadata", given);
        }
        return *strategy;
    }

    /// A map, or a list of (name value), as names and texts.
    [[nodiscard]] result<std::vector<ports::memory_input>> read_inputs(const value& given) const {
        std::vector<ports::memory_input> inputs;
        const auto add = [&](std::string_view name, const value& item) -> result<void> {
            auto text = text_of(item);
            if (!text) return wrong_value(tool_, "inputs: " + std::string(name), "data", item);
            inputs.push_back({std::string(name), *std::move(text)});
            return {};
        };
        if (given.is(kind::map)) {
            for (const lang::map_entry& entry : lang::map_entries(given)) {
                HEDDLE_CHECK(add(lang::string_bytes(entry.key), entry.item));
            }
            return inputs;
        }
        constexpr std::string_view wanted = "a map or a list of (name value)";
        if (!given.is(kind::list)) return wrong_value(tool_, "inputs", wanted, given);
        for (const value& pair : lang::list_items(given)) {
            if (!pair.is(kind::list) || pair.length() != 2) {
                return wrong_value(tool_, "inputs", wanted, given);
            }
            const auto items = lang::list_items(pair);
            const bool symbol = items[0].is(kind::symbol);
            if (!symbol && !items[0].is(kind::string)) {
                return wrong_value(tool_, "inputs", wanted, given);
            }
            HEDDLE_CHECK(
                add(symbol ? lang::symbol_name(items[0]) : lang::string_bytes(items[0]), items[1]));
        }
        return inputs;
    }

    std::string_view tool_;
    const value& inputs_;
};

[[nodiscard]] value paths_of(lang::heap& memory, const ports::memory_response& response) {
    value result = value::empty_list();
    for (const ports::memory_match& match : response.matches) {
        result =
            lang::list_push_back(memory, std::move(result), lang::make_string(memory, match.path));
    }
    return result;
}

[[nodiscard]] value map_of(lang::heap& memory, const ports::memory_match& match) {
    value result = value::empty_map();
    const auto put = [&](std::string_view key, value item) {
        result = lang::map_put(memory, std::move(result), key, std::move(item));
    };
    put("id", lang::make_string(memory, match.id));
    put("path", lang::make_string(memory, match.path));
    if (match.content) put("content", lang::make_string(memory, *match.content));
    put("relevance_score", value::real(match.relevance));
    put("content_type", lang::make_string(memory, match.content_type));
    put("metadata", lang::make_string(memory, match.metadata));
    return result;
}

[[nodiscard]] value map_of(lang::heap& memory, const ports::memory_response& response) {
    value matches = value::empty_list();
    for (const ports::memory_match& match : response.matches) {
        matches = lang::list_push_back(memory, std::move(matches), map_of(memory, match));
    }
    value result = lang::map_put(memory, value::empty_map(), "context_summary",
                                 lang::make_string(memory, response.context_summary));
    result = lang::map_put(memory, std::move(result), "matches", std::move(matches));
    if (response.error) {
        result = lang::map_put(memory, std::move(result), "error",
                               lang::make_string(memory, *response.error));
    }
    return result;
}

[[nodiscard]] error look_up_failed(std::string_view tool, const std::string& why) {
    return error(lang::errc::evaluation,
                 std::string(tool) + ": the context cannot be looked up: " + why);
}

/// `tool` is text that lasts.
coro::task<result<value>> look_up(ports::memory_port* memory, model_matching matching,
                                  std::string_view tool, bool whole, tool_call call) {
    auto request = request_reader(tool, call.inputs).read();
    if (!request) co_return std::move(request).error();
    if (!memory) {
        co_return error(lang::errc::permission, std::string(tool) + ": there is no index of files")
            .with_hint("the program that runs this workflow has to configure a memory");
    }
    lookup_caller caller;
    caller.session = &call.session;
    caller.scope = call.scope;
    caller.span = call.span;
    caller.context = call.context;
    result<ports::memory_response> response =
        co_await look_up_context(memory, matching, *std::move(request), caller);
    if (!response) {
        if (response.error().is_cancelled()) co_return std::move(response).error();
        error failed = look_up_failed(tool, response.error().message());
        if (!response.error().info().hint.empty()) {
            failed = std::move(failed).with_hint(response.error().info().hint);
        }
        co_return std::move(failed).with_cause(std::move(response).error());
    }
    if (whole) co_return map_of(call.session.memory(), *response);
    if (response->error) co_return look_up_failed(tool, *response->error);
    co_return paths_of(call.session.memory(), *response);
}

/// `tool` is text that lasts.
[[nodiscard]] std::function<result<void>(const value&)> check_values_of(std::string_view tool) {
    return [tool](const value& inputs) -> result<void> {
        HEDDLE_CHECK(request_reader(tool, inputs).read());
        return {};
    };
}

} // namespace

std::vector<tool> context_tools(ports::memory_port* memory, model_matching matching) {
    tool paths;
    paths.name = "get_context";
    paths.aliases = {"get-context", "system:get_context"};
    paths.description = "Lists the files that belong to a question, best first";
    paths.input_schema = input_schema;
    paths.check_values = check_values_of("get_context");
    paths.run = [memory, matching](tool_call call) {
        return look_up(memory, matching, "get_context", false, std::move(call));
    };
    tool whole = paths;
    whole.name = "get-context-result";
    whole.aliases = {"get_context_result"};
    whole.description = "The files that belong to a question with scores, descriptions and summary";
    whole.check_values = check_values_of("get-context-result");
    whole.run = [memory, matching](tool_call call) {
        return look_up(memory, matching, "get-context-result", true, std::move(call));
    };
    return {std::move(paths), std::move(whole)};
}

} // namespace heddle::tasks
