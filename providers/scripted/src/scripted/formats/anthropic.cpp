#include "scripted/formats/anthropic.hpp"

#include "common/json_writer.hpp"
#include "common/response_parts.hpp"
#include "scripted/formats/format_parts.hpp"

#include <optional>
#include <utility>

namespace heddle::scripted::anthropic {

namespace {

using ports::chat_message;
using ports::chat_response;
using ports::chat_role;
using ports::finish_reason;

/// The text of a content: a string, or blocks of which those of type text count.
void append_text(std::string& out, const json::value& content) {
    if (const json::string* text = content.if_string()) {
        out.append(text->data(), text->size());
        return;
    }
    const json::array* blocks = content.if_array();
    if (!blocks) return;
    for (const json::value& one : *blocks) {
        const json::object* block = one.if_object();
        if (block && text_member(*block, "type") == "text") out += text_member(*block, "text");
    }
}

/// Takes the blocks of one message apart: results of tools are messages of their own with us.
result<void> read_blocks(const json::array& blocks, chat_role role, const std::string& where,
                         std::vector<chat_message>& messages) {
    chat_message said;
    said.role = role;
    bool has_text = false;
    for (const json::value& one : blocks) {
        const json::object* block = one.if_object();
        if (!block) return wrong(where + ".content holds something that is not a block");
        const std::string_view type = text_member(*block, "type");
        if (type == "tool_result") {
            chat_message& result = messages.emplace_back();
            result.role = chat_role::tool;
            result.tool_call_id = text_member(*block, "tool_use_id");
            result.tool_failed = is_true(*block, "is_error");
            if (const json::value* content = member(*block, "content")) {
                append_text(result.text, *content);
            }
        } else if (type == "tool_use") {
            ports::tool_call& call = said.tool_calls.emplace_back();
            call.id = text_member(*block, "id");
            call.name = text_member(*block, "name");
            const json::value* input = member(*block, "input");
            if (!input || !input->is_object()) return wrong(where + ": input must be an object");
            call.arguments_json = text_of_json(*input);
        } else if (type == "text") {
            has_text = true;
            said.text += text_member(*block, "text");
        } else if (type.empty()) {
            return wrong(where + ".content holds a block without a type");
        }
    }
    if (has_text || !said.tool_calls.empty()) messages.push_back(std::move(said));
    return {};
}

result<void> read_message(const json::value& value, std::size_t number,
                          std::vector<chat_message>& messages) {
    const std::string where = "messages." + std::to_string(number);
    const json::object* object = value.if_object();
    if (!object) return wrong(where + " is not an object");
    const std::string_view role = text_member(*object, "role");
    if (role != "user" && role != "assistant") {
        return wrong(where + ".role must be user or assistant");
    }
    const chat_role ours = role == "user" ? chat_role::user : chat_role::assistant;
    const json::value* content = member(*object, "content");
    if (const json::array* blocks = content ? content->if_array() : nullptr) {
        return read_blocks(*blocks, ours, where, messages);
    }
    if (!content || !content->is_string()) {
        return wrong(where + ".content is neither a text nor a list of blocks");
    }
    chat_message& message = messages.emplace_back();
    message.role = ours;
    append_text(message.text, *content);
    return {};
}

std::string_view stop_name(const chat_response& response) noexcept {
    if (!response.refusal.empty()) return "refusal";
    switch (response.finish) {
    case finish_reason::length: return "max_tokens";
    case finish_reason::tool_calls: return "tool_use";
    case finish_reason::content_filter:
    case finish_reason::refusal: return "refusal";
    default: return "end_turn";
    }
}

void write_stop(json_writer& out, const chat_response& response) {
    out.key("stop_reason").string(stop_name(response));
    out.key("stop_sequence").raw("null");
    if (response.refusal.empty()) return;
    out.key("stop_details").begin_object();
    out.key("type").raw(R"("refusal")");
    out.key("explanation").string(response.refusal);
    out.end_object();
}

void write_usage(json_writer& out, const chat_response& response, std::int64_t output) {
    const ports::token_usage usage = response.usage.value_or(ports::token_usage{});
    out.key("usage").begin_object();
    out.key("input_tokens").number(usage.input - usage.cached - usage.cache_written);
    out.key("cache_creation_input_tokens").number(usage.cache_written);
    out.key("cache_read_input_tokens").number(usage.cached);
    out.key("output_tokens").number(output);
    out.end_object();
}

void write_head(json_writer& out, const chat_response& response) {
    out.key("id").string(response.id);
    out.key("type").raw(R"("message")");
    out.key("role").raw(R"("assistant")");
    out.key("model").string(response.model);
}

void write_call(json_writer& out, const ports::tool_call& call, std::string_view input) {
    out.begin_object();
    out.key("type").raw(R"("tool_use")");
    out.key("id").string(call.id);
    out.key("name").string(call.name);
    out.key("input").raw(input);
    out.end_object();
}

void write_model(json_writer& out, std::string_view name) {
    out.begin_object();
    out.key("type").raw(R"("model")");
    out.key("id").string(name);
    out.key("display_name").string(name);
    out.key("created_at").raw(R"("1970-01-01T00:00:00Z")");
    out.end_object();
}

/// The service's word for a kind of error, unless the rule has one of its own.
std::string_view error_type(const fault& shown) noexcept {
    if (shown.code == "insufficient_quota") return "billing_error";
    if (!shown.type.empty() && shown.type.ends_with("_error") && shown.type != "server_error") {
        return shown.type;
    }
    switch (shown.status) {
    case 401: return "authentication_error";
    case 403: return "permission_error";
    case 404: return "not_found_error";
    case 413: return "request_too_large";
    case 429: return "rate_limit_error";
    case 504: return "timeout_error";
    case 529: return "overloaded_error";
    default: return shown.status >= 500 ? "api_error" : "invalid_request_error";
    }
}

/// Blocks one after the other: the text in its pieces, then each call in two deltas.
class message_events final : public served_events {
public:
    message_events(const chat_response& response, const std::vector<std::string_view>& pieces)
        : response_(response), pieces_(pieces) {}

    bool next(std::string& out) override {
        switch (stage_) {
        case stage::begin:
            event(out, "message_start", [&](json_writer& data) { start(data); });
            stage_ = has_text() ? stage::text_begin : stage::call_begin;
            break;
        case stage::text_begin:
            begin_block(out, R"({"type":"text","text":""})");
            stage_ = stage::ping;
            break;
        case stage::ping:
            event(out, "ping", [](json_writer&) {});
            stage_ = stage::pieces;
            break;
        case stage::pieces:
            delta(out, "text_delta", "text", pieces_[piece_]);
            if (++piece_ == pieces_.size()) stage_ = stage::text_end;
            break;
        case stage::text_end:
        case stage::call_end:
            event(out, "content_block_stop",
                  [&](json_writer& data) { data.key("index").number(block_); });
            ++block_;
            if (stage_ == stage::call_end) ++call_;
            stage_ = stage::call_begin;
            break;
        case stage::call_arguments:
            delta(out, "input_json_delta", "partial_json",
                  response_.tool_calls[call_].arguments_json);
            stage_ = stage::call_end;
            break;
        case stage::call_begin:
            if (call_ < response_.tool_calls.size()) {
                json_writer block;
                write_call(block, response_.tool_calls[call_], "{}");
                begin_block(out, block.text());
                stage_ = stage::call_arguments;
                break;
            }
            event(out, "message_delta", [&](json_writer& data) { end(data); });
            stage_ = stage::stop;
            break;
        case stage::stop:
            event(out, "message_stop", [](json_writer&) {});
            stage_ = stage::over;
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
        ping,
        pieces,
        text_end,
        call_begin,
        call_arguments,
        call_end,
        stop,
        over
    };

    /// A refusal is reported at the end and has no text.
    bool has_text() const noexcept { return response_.refusal.empty() && !pieces_.empty(); }

    template <class Fill>
    static void event(std::string& out, std::string_view type, Fill fill) {
        json_writer data;
        data.begin_object();
        data.key("type").string(type);
        fill(data);
        data.end_object();
        out += "event: ";
        out += type;
        out += "\ndata: ";
        out += data.text();
        out += "\n\n";
    }

    void start(json_writer& data) const {
        data.key("message").begin_object();
        write_head(data, response_);
        data.key("content").raw("[]");
        data.key("stop_reason").raw("null");
        data.key("stop_sequence").raw("null");
        write_usage(data, response_, 1);
        data.end_object();
    }

    void begin_block(std::string& out, std::string_view block) const {
        event(out, "content_block_start", [&](json_writer& data) {
            data.key("index").number(block_);
            data.key("content_block").raw(block);
        });
    }

    void delta(std::string& out, std::string_view type, std::string_view name,
               std::string_view text) const {
        event(out, "content_block_delta", [&](json_writer& data) {
            data.key("index").number(block_);
            data.key("delta").begin_object();
            data.key("type").string(type);
            data.key(name).string(text);
            data.end_object();
        });
    }

    void end(json_writer& data) const {
        data.key("delta").begin_object();
        write_stop(data, response_);
        data.end_object();
        data.key("usage").begin_object();
        data.key("output_tokens").number(response_.usage ? response_.usage->output : 0);
        data.end_object();
    }

    const chat_response& response_;
    const std::vector<std::string_view>& pieces_;
    stage stage_ = stage::begin;
    std::int64_t block_ = 0;
    std::size_t piece_ = 0;
    std::size_t call_ = 0;
};

class format final : public served_format {
public:
    result<served_chat> decode(json_reader& reader, std::string_view,
                               std::string_view body) const override {
        HEDDLE_TRY(const json::value tree, parse_request(reader, body));
        const json::object* root = &tree.get_object();
        served_chat served;
        served.chat.model = text_member(*root, "model");
        if (served.chat.model.empty()) return wrong("model: Field required");
        if (count_member(*root, "max_tokens") < 1) return wrong("max_tokens: Field required");
        if (const json::value* system = member(*root, "system")) {
            chat_message& message = served.chat.messages.emplace_back();
            message.role = chat_role::system;
            append_text(message.text, *system);
        }
        const json::array* messages = array_member(*root, "messages");
        if (!messages || messages->empty()) return wrong("messages: Field required");
        for (std::size_t i = 0; i < messages->size(); ++i) {
            HEDDLE_CHECK(read_message((*messages)[i], i, served.chat.messages));
        }
        served.stream = is_true(*root, "stream");
        return served;
    }

    void append_response(std::string& out, const chat_response& response,
                         std::int64_t) const override {
        append_json(out, [&](json_writer& body) {
            body.begin_object();
            write_head(body, response);
            body.key("content").begin_array();
            if (response.refusal.empty()) {
                if (!response.text.empty()) {
                    body.begin_object();
                    body.key("type").raw(R"("text")");
                    body.key("text").string(response.text);
                    body.end_object();
                }
                for (const ports::tool_call& call : response.tool_calls) {
                    write_call(body, call, call.arguments_json);
                }
            }
            body.end_array();
            write_stop(body, response);
            write_usage(body, response, response.usage ? response.usage->output : 0);
            body.end_object();
        });
    }

    std::unique_ptr<served_events> events(const served_chat&, const chat_response& response,
                                          const std::vector<std::string_view>& pieces,
                                          std::int64_t) const override {
        return std::make_unique<message_events>(response, pieces);
    }

    void append_fault(std::string& out, const fault& shown) const override {
        append_json(out, [&](json_writer& body) {
            body.begin_object();
            body.key("type").raw(R"("error")");
            body.key("error").begin_object();
            body.key("type").string(error_type(shown));
            body.key("message").string(shown.message);
            body.end_object();
            body.key("request_id").raw("null");
            body.end_object();
        });
    }

    void append_models(std::string& out, const std::vector<std::string>& names) const override {
        append_json(out, [&](json_writer& body) {
            body.begin_object();
            body.key("data").begin_array();
            for (const std::string& name : names) write_model(body, name);
            body.end_array();
            body.key("has_more").boolean(false);
            body.end_object();
        });
    }

    void append_model(std::string& out, std::string_view name) const override {
        append_json(out, [&](json_writer& body) { write_model(body, name); });
    }
};

} // namespace

const served_format& served() {
    static const format result;
    return result;
}

} // namespace heddle::scripted::anthropic
