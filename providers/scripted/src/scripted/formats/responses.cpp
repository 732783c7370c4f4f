#include "scripted/formats/responses.hpp"

#include "common/json_writer.hpp"
#include "common/response_parts.hpp"
#include "scripted/formats/format_parts.hpp"
#include "scripted/formats/openai.hpp"

#include <optional>
#include <utility>

namespace heddle::scripted::responses {

namespace {

using ports::chat_message;
using ports::chat_response;
using ports::chat_role;
using ports::finish_reason;

std::optional<chat_role> read_role(std::string_view name) noexcept {
    if (name == "user") return chat_role::user;
    if (name == "system" || name == "developer") return chat_role::system;
    if (name == "assistant") return chat_role::assistant;
    return std::nullopt;
}

/// The text of a content: a string, or parts with a text.
void append_text(std::string& out, const json::value& content) {
    if (const json::string* text = content.if_string()) {
        out.append(text->data(), text->size());
        return;
    }
    const json::array* parts = content.if_array();
    if (!parts) return;
    for (const json::value& one : *parts) {
        if (const json::object* part = one.if_object()) out += text_member(*part, "text");
    }
}

void read_call(const json::object& item, std::vector<chat_message>& messages) {
    // Calls in a row belong to one turn.
    if (messages.empty() || messages.back().role != chat_role::assistant) {
        messages.emplace_back().role = chat_role::assistant;
    }
    messages.back().tool_calls.push_back({std::string(text_member(item, "call_id")),
                                          std::string(text_member(item, "name")),
                                          std::string(text_member(item, "arguments"))});
}

result<void> read_item(const json::value& value, std::size_t number,
                       std::vector<chat_message>& messages) {
    const std::string where = "input[" + std::to_string(number) + "]";
    const json::object* item = value.if_object();
    if (!item) return wrong(where + " is not an object");
    const std::string_view type = text_member(*item, "type");
    if (type == "function_call") {
        read_call(*item, messages);
    } else if (type == "function_call_output") {
        chat_message& result = messages.emplace_back();
        result.role = chat_role::tool;
        result.tool_call_id = text_member(*item, "call_id");
        if (const json::value* output = member(*item, "output")) append_text(result.text, *output);
    } else if (type.empty() || type == "message") {
        const auto role = read_role(text_member(*item, "role"));
        if (!role) return wrong(where + ".role is unknown");
        chat_message& message = messages.emplace_back();
        message.role = *role;
        if (const json::value* content = member(*item, "content")) {
            append_text(message.text, *content);
        }
    }
    return {}; // reasoning, and what the service did by itself
}

bool is_cut(const chat_response& response) noexcept {
    return response.refusal.empty() && (response.finish == finish_reason::length ||
                                        response.finish == finish_reason::content_filter);
}

void write_part(json_writer& out, const chat_response& response, std::string_view text) {
    const bool is_refusal = !response.refusal.empty();
    out.begin_object();
    out.key("type").raw(is_refusal ? R"("refusal")" : R"("output_text")");
    out.key(is_refusal ? "refusal" : "text").string(text);
    if (!is_refusal) out.key("annotations").raw("[]");
    out.end_object();
}

/// The item that holds the text, or the refusal. `text` is empty while it has not come.
void write_message(json_writer& out, const chat_response& response, std::string_view status,
                   std::string_view text) {
    out.begin_object();
    out.key("type").raw(R"("message")");
    out.key("id").string("msg_" + response.id);
    out.key("status").string(status);
    out.key("role").raw(R"("assistant")");
    out.key("content").begin_array();
    if (!text.empty()) write_part(out, response, text);
    out.end_array();
    out.end_object();
}

void write_call(json_writer& out, const ports::tool_call& call, std::string_view status,
                std::string_view arguments) {
    out.begin_object();
    out.key("type").raw(R"("function_call")");
    out.key("id").string("fc_" + call.id);
    out.key("call_id").string(call.id);
    out.key("name").string(call.name);
    out.key("arguments").string(arguments);
    out.key("status").string(status);
    out.end_object();
}

std::string_view text_of(const chat_response& response) noexcept {
    return response.refusal.empty() ? response.text : response.refusal;
}

void write_usage(json_writer& out, const ports::token_usage& usage) {
    out.key("usage").begin_object();
    out.key("input_tokens").number(usage.input);
    out.key("input_tokens_details").begin_object();
    out.key("cached_tokens").number(usage.cached);
    out.key("cache_write_tokens").number(usage.cache_written);
    out.end_object();
    out.key("output_tokens").number(usage.output);
    out.key("output_tokens_details").begin_object();
    out.key("reasoning_tokens").number(usage.reasoning);
    out.end_object();
    out.key("total_tokens").number(usage.input + usage.output);
    out.end_object();
}

/// The whole response, or, at the beginning of a stream, what is known of it.
void write_response(json_writer& out, const chat_response& response, std::int64_t created,
                    bool is_done) {
    out.begin_object();
    out.key("id").string(response.id);
    out.key("object").raw(R"("response")");
    out.key("created_at").number(created);
    out.key("model").string(response.model);
    out.key("error").raw("null");
    out.key("status").string(!is_done           ? "in_progress"
                             : is_cut(response) ? "incomplete"
                                                : "completed");
    out.key("incomplete_details");
    if (!is_done || !is_cut(response)) {
        out.raw("null");
    } else {
        out.begin_object();
        out.key("reason").string(response.finish == finish_reason::length ? "max_output_tokens"
                                                                          : "content_filter");
        out.end_object();
    }
    out.key("output").begin_array();
    if (is_done) {
        const std::string_view status = is_cut(response) ? "incomplete" : "completed";
        if (!text_of(response).empty()) write_message(out, response, status, text_of(response));
        for (const ports::tool_call& call : response.tool_calls) {
            write_call(out, call, "completed", call.arguments_json);
        }
    }
    out.end_array();
    if (is_done && response.usage) write_usage(out, *response.usage);
    else out.key("usage").raw("null");
    out.end_object();
}

/// Items one after the other: the text in its pieces, then each call.
class item_events final : public served_events {
public:
    item_events(const chat_response& response, const std::vector<std::string_view>& pieces,
                std::int64_t created)
        : response_(response), pieces_(pieces), created_(created) {}

    bool next(std::string& out) override {
        switch (stage_) {
        case stage::begin:
            event(out, "response.created", [&](json_writer& data) {
                data.key("response");
                write_response(data, response_, created_, false);
            });
            stage_ = pieces_.empty() ? stage::call_begin : stage::text_begin;
            break;
        case stage::text_begin:
            item(out, "response.output_item.added",
                 [&](json_writer& data) { write_message(data, response_, "in_progress", ""); });
            stage_ = stage::pieces;
            break;
        case stage::pieces:
            delta(
                out,
                response_.refusal.empty() ? "response.output_text.delta" : "response.refusal.delta",
                pieces_[piece_]);
            if (++piece_ == pieces_.size()) stage_ = stage::text_end;
            break;
        case stage::text_end:
            item(out, "response.output_item.done", [&](json_writer& data) {
                write_message(data, response_, "completed", text_of(response_));
            });
            ++place_;
            stage_ = stage::call_begin;
            break;
        case stage::call_begin: begin_call_or_end(out); break;
        case stage::call_arguments:
            delta(out, "response.function_call_arguments.delta",
                  response_.tool_calls[call_].arguments_json);
            stage_ = stage::call_end;
            break;
        case stage::call_end:
            item(out, "response.output_item.done", [&](json_writer& data) {
                const ports::tool_call& call = response_.tool_calls[call_];
                write_call(data, call, "completed", call.arguments_json);
            });
            ++place_;
            ++call_;
            stage_ = stage::call_begin;
            break;
        case stage::over: return false;
        }
        return true;
    }

    bool at_piece() const noexcept override { return stage_ == stage::pieces; }

private:
    enum class stage : std::uint8_t {
        begin,
        text_begin,
        pieces,
        text_end,
        call_begin,
        call_arguments,
        call_end,
        over
    };

    template <class Fill>
    void event(std::string& out, std::string_view type, Fill fill) {
        json_writer data;
        data.begin_object();
        data.key("type").string(type);
        fill(data);
        data.key("sequence_number").number(number_++);
        data.end_object();
        out += "event: ";
        out += type;
        out += "\ndata: ";
        out += data.text();
        out += "\n\n";
    }

    template <class Fill>
    void item(std::string& out, std::string_view type, Fill fill) {
        event(out, type, [&](json_writer& data) {
            data.key("output_index").number(place_);
            data.key("item");
            fill(data);
        });
    }

    void delta(std::string& out, std::string_view type, std::string_view text) {
        event(out, type, [&](json_writer& data) {
            data.key("output_index").number(place_);
            data.key("content_index").number(std::int64_t{0});
            data.key("delta").string(text);
        });
    }

    void begin_call_or_end(std::string& out) {
        if (call_ < response_.tool_calls.size()) {
            item(out, "response.output_item.added", [&](json_writer& data) {
                write_call(data, response_.tool_calls[call_], "in_progress", "");
            });
            stage_ = stage::call_arguments;
            return;
        }
        event(out, is_cut(response_) ? "response.incomplete" : "response.completed",
              [&](json_writer& data) {
                  data.key("response");
                  write_response(data, response_, created_, true);
              });
        stage_ = stage::over;
    }

    const chat_response& response_;
    const std::vector<std::string_view>& pieces_;
    std::int64_t created_;
    std::int64_t number_ = 0; // of the events
    std::int64_t place_ = 0;  // of the items
    stage stage_ = stage::begin;
    std::size_t piece_ = 0;
    std::size_t call_ = 0;
};

/// Errors and models are those of Chat Completions.
class format final : public served_format {
public:
    result<served_chat> decode(json_reader& reader, std::string_view,
                               std::string_view body) const override {
        HEDDLE_TRY(const json::value tree, parse_request(reader, body));
        const json::object* root = &tree.get_object();
        served_chat served;
        served.chat.model = text_member(*root, "model");
        if (served.chat.model.empty()) return wrong("you must provide a model parameter");
        const std::string_view instructions = text_member(*root, "instructions");
        if (!instructions.empty()) {
            chat_message& message = served.chat.messages.emplace_back();
            message.role = chat_role::system;
            message.text = instructions;
        }
        const json::value* input = member(*root, "input");
        if (input && input->is_string()) {
            append_text(served.chat.messages.emplace_back().text, *input);
        } else if (const json::array* items = input ? input->if_array() : nullptr) {
            for (std::size_t i = 0; i < items->size(); ++i) {
                HEDDLE_CHECK(read_item((*items)[i], i, served.chat.messages));
            }
        }
        if (served.chat.messages.empty()) return wrong("input must not be empty");
        served.stream = is_true(*root, "stream");
        return served;
    }

    void append_response(std::string& out, const chat_response& response,
                         std::int64_t created) const override {
        append_json(out, [&](json_writer& body) { write_response(body, response, created, true); });
    }

    std::unique_ptr<served_events> events(const served_chat&, const chat_response& response,
                                          const std::vector<std::string_view>& pieces,
                                          std::int64_t created) const override {
        return std::make_unique<item_events>(response, pieces, created);
    }

    void append_fault(std::string& out, const fault& shown) const override {
        openai::served().append_fault(out, shown);
    }
    void append_models(std::string& out, const std::vector<std::string>& names) const override {
        openai::served().append_models(out, names);
    }
    void append_model(std::string& out, std::string_view name) const override {
        openai::served().append_model(out, name);
    }
};

} // namespace

const served_format& served() {
    static const format result;
    return result;
}

} // namespace heddle::scripted::responses
