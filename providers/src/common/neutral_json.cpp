#include <heddle/providers/common/neutral_json.hpp>

#include <heddle/base/json_string.hpp>
#include <heddle/providers/common/json_text.hpp>

#include "common/json_tree_parser.hpp"
#include "common/response_parts.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace heddle::providers {

namespace {

using ports::chat_request;
using ports::chat_response;
using ports::finish_reason;

constexpr std::array all_reasons{finish_reason::stop,       finish_reason::length,
                                 finish_reason::tool_calls, finish_reason::content_filter,
                                 finish_reason::refusal,    finish_reason::other,
                                 finish_reason::unfinished};

std::string_view role_name(ports::chat_role role) noexcept {
    switch (role) {
    case ports::chat_role::system: return "system";
    case ports::chat_role::user: return "user";
    case ports::chat_role::assistant: return "assistant";
    case ports::chat_role::tool: return "tool";
    }
    return "user";
}

/// Writes the members of an object; those that hold nothing are left out.
class object_writer {
public:
    explicit object_writer(std::string& out) : out_(out) { out_ += '{'; }
    ~object_writer() { out_ += '}'; }
    object_writer(const object_writer&) = delete;
    object_writer& operator=(const object_writer&) = delete;

    std::string& name(std::string_view key) {
        if (!std::exchange(first_, false)) out_ += ',';
        append_json_string(out_, key);
        out_ += ':';
        return out_;
    }
    void text(std::string_view key, std::string_view content) {
        if (!content.empty()) append_json_string(name(key), content);
    }
    void flag(std::string_view key, bool content) {
        if (content) name(key) += "true";
    }
    template <class Number>
    void number(std::string_view key, const std::optional<Number>& content) {
        if (content) append_json_number(name(key), *content);
    }
    void count(std::string_view key, std::int64_t content) {
        if (content != 0) append_json_number(name(key), content);
    }
    /// `write` appends one element.
    template <class Items, class Write>
    void list(std::string_view key, const Items& items, Write write) {
        if (items.empty()) return;
        name(key) += '[';
        bool first = true;
        for (const auto& item : items) {
            if (!std::exchange(first, false)) out_ += ',';
            write(item);
        }
        out_ += ']';
    }

private:
    std::string& out_;
    bool first_ = true;
};

void append_call(std::string& out, const ports::tool_call& call) {
    object_writer object(out);
    object.text("id", call.id);
    object.text("name", call.name);
    object.text("arguments", call.arguments_json);
    object.text("signature", call.signature);
}

void append_reasoning(std::string& out, const ports::reasoning_part& part) {
    object_writer object(out);
    object.text("text", part.text);
    object.text("signature", part.signature);
    object.text("opaque", part.opaque);
}

void append_message(std::string& out, const ports::chat_message& message) {
    object_writer object(out);
    object.text("role", role_name(message.role));
    object.text("text", message.text);
    object.list("reasoning", message.reasoning,
                [&](const auto& part) { append_reasoning(out, part); });
    object.list("tool_calls", message.tool_calls,
                [&](const auto& call) { append_call(out, call); });
    object.text("tool_call_id", message.tool_call_id);
    object.text("tool_name", message.tool_name);
    object.flag("tool_failed", message.tool_failed);
    object.flag("cache", message.cache_up_to_here);
}

void append_tool(std::string& out, const ports::tool_spec& tool) {
    object_writer object(out);
    object.text("name", tool.name);
    object.text("description", tool.description);
    object.text("parameters", tool.parameters_json);
    object.flag("strict", tool.strict);
}

void append_format(std::string& out, const ports::response_format& format) {
    object_writer object(out);
    const bool schema = format.type == ports::response_format::kind::json_schema;
    object.text("type", schema ? "json_schema" : "json_object");
    object.text("name", format.schema_name);
    object.text("schema", format.schema_json);
    object.flag("strict", format.strict);
}

/// Reads the members of an object; those that are not there hold nothing. Notes the name of one
/// that has another type: somebody has edited the text.
class object_reader {
public:
    object_reader(const json::object& of, std::string_view& wrong) : of_(of), wrong_(wrong) {}

    [[nodiscard]] const json::value* find(std::string_view name) const {
        const json::value* found = of_.if_contains(name);
        return found && !found->is_null() ? found : nullptr;
    }
    [[nodiscard]] std::string text(std::string_view name) const {
        const json::value* found = find(name);
        if (!found) return {};
        if (const json::string* text = found->if_string()) return {text->data(), text->size()};
        wrong_ = name;
        return {};
    }
    /// Calls `read` with each item of a list; false from it: the item has another type.
    template <class Read>
    void each(std::string_view name, Read read) const {
        const json::value* found = find(name);
        if (!found) return;
        const json::array* list = found->if_array();
        bool reads = list != nullptr;
        for (std::size_t i = 0; reads && i < list->size(); ++i) reads = read((*list)[i]);
        if (!reads) wrong_ = name;
    }
    /// The same with an object_reader of each object of a list.
    template <class Read>
    void each_object(std::string_view name, Read read) const {
        each(name, [&](const json::value& item) {
            const json::object* one = item.if_object();
            if (one) read(object_reader(*one, wrong_));
            return one != nullptr;
        });
    }
    /// Nothing when it is missing or null.
    [[nodiscard]] std::optional<std::int64_t> count(std::string_view name) const {
        if (!find(name)) return std::nullopt;
        const auto read = reported_tokens(of_, name);
        if (!read) wrong_ = name;
        return read;
    }
    [[nodiscard]] std::optional<ports::token_usage> usage() const;

private:
    const json::object& of_;
    std::string_view& wrong_;
};

ports::finish_reason reason_named(std::string_view name) noexcept {
    for (const finish_reason each : all_reasons) {
        if (ports::to_string(each) == name) return each;
    }
    return finish_reason::other;
}

void append_usage(std::string& out, const ports::token_usage& of) {
    object_writer usage(out);
    // Zeros are left out: what was not reported has to be marked.
    if (of.input_reported) usage.count("input", of.input);
    else usage.name("input") += "null";
    if (of.output_reported) usage.count("output", of.output);
    else usage.name("output") += "null";
    usage.count("cached", of.cached);
    usage.count("cache_written", of.cache_written);
    usage.count("reasoning", of.reasoning);
}

void append_lost(std::string& out, const ports::lost_request& lost) {
    object_writer object(out);
    object.text("provider", lost.provider);
    object.text("model", lost.model);
    object.text("asked_model", lost.asked_model);
    object.count("received", static_cast<std::int64_t>(lost.received));
    if (lost.usage) append_usage(object.name("usage"), *lost.usage);
}

std::optional<ports::token_usage> object_reader::usage() const {
    const json::value* usage = find("usage");
    if (!usage) return std::nullopt;
    const json::object* counts = usage->if_object();
    if (!counts) {
        wrong_ = "usage";
        return std::nullopt;
    }
    const object_reader in(*counts, wrong_);
    const auto is_reported = [&](std::string_view name) { // a zero is left out
        const json::value* found = counts->if_contains(name);
        return !found || !found->is_null();
    };
    ports::token_usage read;
    read.input = in.count("input").value_or(0);
    read.output = in.count("output").value_or(0);
    read.cached = in.count("cached").value_or(0);
    read.cache_written = in.count("cache_written").value_or(0);
    read.reasoning = in.count("reasoning").value_or(0);
    read.input_reported = is_reported("input");
    read.output_reported = is_reported("output");
    return read;
}

} // namespace

void append_request_json(std::string& out, const chat_request& request) {
    object_writer object(out);
    object.text("model", request.model);
    object.list("messages", request.messages,
                [&](const auto& message) { append_message(out, message); });
    object.number("temperature", request.temperature);
    object.number("top_p", request.top_p);
    object.number("max_output_tokens", request.max_output_tokens);
    object.number("seed", request.seed);
    object.list("stop", request.stop, [&](const auto& text) { append_json_string(out, text); });
    if (request.format.type != ports::response_format::kind::text) {
        append_format(object.name("format"), request.format);
    }
    object.list("tools", request.tools, [&](const auto& tool) { append_tool(out, tool); });
    object.text("tool_choice", request.tool_choice);
    object.text("reasoning_effort", request.reasoning_effort);
    object.number("reasoning_tokens", request.reasoning_tokens);
    if (request.parallel_tool_calls) {
        object.name("parallel_tool_calls") += *request.parallel_tool_calls ? "true" : "false";
    }
    object.list("extra", request.extra, [&](const auto& parameter) {
        object_writer one(out);
        one.text("name", parameter.name);
        one.text("value", parameter.value_json);
    });
}

void append_response_json(std::string& out, const chat_response& response) {
    object_writer object(out);
    object.text("id", response.id);
    object.text("provider", response.provider);
    object.text("model", response.model);
    object.text("asked_model", response.asked_model);
    object.text("text", response.text);
    object.text("refusal", response.refusal);
    object.list("reasoning", response.reasoning,
                [&](const auto& part) { append_reasoning(out, part); });
    object.list("tool_calls", response.tool_calls,
                [&](const auto& call) { append_call(out, call); });
    object.text("finish", ports::to_string(response.finish));
    object.text("cut_tool_call", response.cut_tool_call);
    object.list("warnings", response.warnings,
                [&](const auto& text) { append_json_string(out, text); });
    if (response.attempts != 1)
        append_json_number(object.name("attempts"), std::int64_t{response.attempts});
    object.list("lost", response.lost, [&](const auto& one) { append_lost(out, one); });
    if (response.usage) append_usage(object.name("usage"), *response.usage);
}

result<chat_response> read_response_json(std::string_view text) {
    constexpr std::size_t max_depth = 16;
    json_tree_parser parser(max_depth);
    boost::system::error_code failed;
    const json::value root = parser.parse(text, json_tree_parser::wrong_bytes::refused, failed);
    const json::object* object = failed ? nullptr : root.if_object();
    if (!object) return error(errc::invalid_argument, "this is not a kept response");
    std::string_view wrong;
    const object_reader in(*object, wrong);
    chat_response response;
    response.id = in.text("id");
    response.provider = in.text("provider");
    response.model = in.text("model");
    response.asked_model = in.text("asked_model");
    response.text = in.text("text");
    response.refusal = in.text("refusal");
    in.each_object("reasoning", [&](const object_reader& part) {
        response.reasoning.push_back(
            {part.text("text"), part.text("signature"), part.text("opaque")});
    });
    in.each_object("tool_calls", [&](const object_reader& call) {
        response.tool_calls.push_back(
            {call.text("id"), call.text("name"), call.text("arguments"), call.text("signature")});
    });
    response.finish = reason_named(in.text("finish"));
    response.cut_tool_call = in.text("cut_tool_call");
    in.each("warnings", [&](const json::value& one) {
        const json::string* line = one.if_string();
        if (line) response.warnings.emplace_back(*line);
        return line != nullptr;
    });
    response.usage = in.usage();
    constexpr std::int64_t max_attempts = 1'000'000;
    if (const auto attempts = in.count("attempts")) {
        response.attempts = static_cast<std::uint32_t>(std::min(*attempts, max_attempts));
    }
    in.each_object("lost", [&](const object_reader& one) {
        const auto received = static_cast<std::size_t>(one.count("received").value_or(0));
        response.lost.push_back({one.text("provider"), one.text("model"), one.usage(), received,
                                 one.text("asked_model")});
    });
    if (!wrong.empty()) {
        return error(errc::invalid_argument,
                     "'" + std::string(wrong) + "' of the response has the wrong type");
    }
    return response;
}

} // namespace heddle::providers
