#include "scripted/formats/openai.hpp"

#include <heddle/base/json_string.hpp>
#include <heddle/providers/common/json_text.hpp>

#include "common/response_parts.hpp"
#include "openai/chat_json.hpp"
#include "scripted/formats/format_parts.hpp"

#include <optional>

namespace heddle::scripted::openai {

using namespace heddle::providers::openai; // what Chat Completions have in common

namespace {

using ports::chat_message;
using ports::chat_response;
using ports::chat_role;

std::optional<chat_role> read_role(std::string_view name) noexcept {
    if (name == "user") return chat_role::user;
    if (name == "system" || name == "developer") return chat_role::system;
    if (name == "assistant") return chat_role::assistant;
    if (name == "tool" || name == "function") return chat_role::tool;
    return std::nullopt;
}

result<chat_message> read_message(const json::value& value, std::size_t number) {
    const std::string where = "messages[" + std::to_string(number) + "]";
    const json::object* object = value.if_object();
    if (!object) return wrong(where + " is not an object");
    chat_message message;
    const auto role = read_role(text_member(*object, "role"));
    if (!role) return wrong(where + ".role is unknown");
    message.role = *role;
    if (const json::value* content = member(*object, "content")) {
        if (!content->is_null() && !content->is_string() && !content->is_array()) {
            return wrong(where + ".content is neither a text nor a list of parts");
        }
        for_each_text(*content, [&](std::string_view text) { message.text += text; });
    }
    message.tool_call_id = text_member(*object, "tool_call_id");
    if (const json::array* calls = array_member(*object, "tool_calls")) {
        for (const json::value& one : *calls) {
            const json::object* call = one.if_object();
            const json::object* function = call ? object_member(*call, "function") : nullptr;
            if (!function) return wrong(where + ".tool_calls holds something that is not a call");
            message.tool_calls.push_back({std::string(text_member(*call, "id")),
                                          std::string(text_member(*function, "name")),
                                          std::string(text_member(*function, "arguments"))});
        }
    }
    return message;
}

void append_text_or_null(std::string& out, std::string_view text, bool is_null) {
    if (is_null) out += "null";
    else append_json_string(out, text);
}

void append_usage(std::string& out, const ports::token_usage& usage) {
    out += R"("usage":{"prompt_tokens":)";
    append_json_number(out, usage.input);
    out += R"(,"completion_tokens":)";
    append_json_number(out, usage.output);
    out += R"(,"total_tokens":)";
    append_json_number(out, usage.input + usage.output);
    out += R"(,"prompt_tokens_details":{"cached_tokens":)";
    append_json_number(out, usage.cached);
    out += R"(},"completion_tokens_details":{"reasoning_tokens":)";
    append_json_number(out, usage.reasoning);
    out += "}}";
}

/// The format has no finish reason for a refusal, only its text.
std::string_view finish_name(ports::finish_reason reason) noexcept {
    return reason == ports::finish_reason::refusal ? "stop" : to_string(reason);
}

void append_head(std::string& out, const chat_response& response, std::string_view object,
                 std::int64_t created) {
    out += R"({"id":)";
    append_json_string(out, response.id);
    out += R"(,"object":")";
    out += object;
    out += R"(","created":)";
    append_json_number(out, created);
    out += R"(,"model":)";
    append_json_string(out, response.model);
}

result<served_chat> decode_request(json_reader& reader, std::string_view body) {
    HEDDLE_TRY(const json::value tree, parse_request(reader, body));
    const json::object* root = &tree.get_object();
    served_chat served;
    served.chat.model = text_member(*root, "model");
    if (served.chat.model.empty()) return wrong("you must provide a model parameter");
    const json::array* messages = array_member(*root, "messages");
    if (!messages || messages->empty()) return wrong("messages must be a list that is not empty");
    served.chat.messages.reserve(messages->size());
    for (std::size_t i = 0; i < messages->size(); ++i) {
        HEDDLE_TRY(chat_message message, read_message((*messages)[i], i));
        served.chat.messages.push_back(std::move(message));
    }
    served.stream = is_true(*root, "stream");
    const json::object* options = object_member(*root, "stream_options");
    served.include_usage = options && is_true(*options, "include_usage");
    return served;
}

void append_response(std::string& out, const chat_response& response, std::int64_t created) {
    append_head(out, response, "chat.completion", created);
    out += R"(,"choices":[{"index":0,"message":{"role":"assistant","content":)";
    const bool no_text =
        response.text.empty() && (!response.tool_calls.empty() || !response.refusal.empty());
    append_text_or_null(out, response.text, no_text);
    out += R"(,"refusal":)";
    append_text_or_null(out, response.refusal, response.refusal.empty());
    if (!response.tool_calls.empty()) {
        out += R"(,"tool_calls":[)";
        for (std::size_t i = 0; i < response.tool_calls.size(); ++i) {
            const ports::tool_call& call = response.tool_calls[i];
            out += i == 0 ? R"({"id":)" : R"(,{"id":)";
            append_json_string(out, call.id);
            out += R"(,"type":"function","function":{"name":)";
            append_json_string(out, call.name);
            out += R"(,"arguments":)";
            append_json_string(out, call.arguments_json);
            out += "}}";
        }
        out += ']';
    }
    out += R"(},"logprobs":null,"finish_reason":")";
    out += finish_name(response.finish);
    out += "\"}]";
    if (response.usage) {
        out += ',';
        append_usage(out, *response.usage);
    }
    out += '}';
}

void append_error(std::string& out, std::string_view message, std::string_view type,
                  std::string_view code) {
    out += R"({"error":{"message":)";
    append_json_string(out, message);
    out += R"(,"type":)";
    append_json_string(out, type);
    out += R"(,"param":null,"code":)";
    append_text_or_null(out, code, code.empty());
    out += "}}";
}

void append_model(std::string& out, std::string_view name) {
    out += R"({"id":)";
    append_json_string(out, name);
    out += R"(,"object":"model","created":0,"owned_by":"heddle"})";
}

void append_models(std::string& out, const std::vector<std::string>& names) {
    out += R"({"object":"list","data":[)";
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i != 0) out += ',';
        append_model(out, names[i]);
    }
    out += "]}";
}

/// Makes the events of a streamed response.
class response_events final : public served_events {
public:
    response_events(const ports::chat_response& response,
                    const std::vector<std::string_view>& pieces, std::int64_t created,
                    bool include_usage);
    [[nodiscard]] bool next(std::string& out) override;
    [[nodiscard]] bool at_piece() const noexcept override { return stage_ == stage::pieces; }

private:
    enum class stage : std::uint8_t { begin, pieces, calls, end, usage, done, over };
    void begin_chunk(std::string& out) const;
    void append_delta(std::string& out) const;
    void go_on() noexcept;

    const ports::chat_response& response_;
    const std::vector<std::string_view>& pieces_;
    std::string head_; // what all chunks begin with
    bool include_usage_ = false;
    stage stage_ = stage::begin;
    std::size_t next_ = 0;
};

response_events::response_events(const chat_response& response,
                                 const std::vector<std::string_view>& pieces, std::int64_t created,
                                 bool include_usage)
    : response_(response), pieces_(pieces), include_usage_(include_usage) {
    append_head(head_, response, "chat.completion.chunk", created);
}

void response_events::begin_chunk(std::string& out) const {
    out += "data: ";
    out += head_;
    out += R"(,"choices":[)";
}

bool response_events::next(std::string& out) {
    if (stage_ == stage::over) return false;
    if (stage_ == stage::done) {
        out += "data: [DONE]\n\n";
        stage_ = stage::over;
        return true;
    }
    begin_chunk(out);
    if (stage_ == stage::usage) {
        out += "],";
        append_usage(out, *response_.usage);
        out += "}\n\n";
        stage_ = stage::done;
        return true;
    }
    out += R"({"index":0,"delta":{)";
    append_delta(out);
    out += R"(},"logprobs":null,"finish_reason":)";
    if (stage_ == stage::end) {
        append_json_string(out, finish_name(response_.finish));
        stage_ = include_usage_ && response_.usage ? stage::usage : stage::done;
    } else {
        out += "null";
        go_on();
    }
    out += "}]}\n\n";
    return true;
}

void response_events::append_delta(std::string& out) const {
    const bool is_refusal = !response_.refusal.empty();
    switch (stage_) {
    case stage::begin:
        out += is_refusal ? R"("role":"assistant","content":null,"refusal":"")"
                          : R"("role":"assistant","content":"")";
        return;
    case stage::pieces:
        out += is_refusal ? R"("refusal":)" : R"("content":)";
        append_json_string(out, pieces_[next_]);
        return;
    case stage::calls: {
        const ports::tool_call& call = response_.tool_calls[next_ / 2];
        out += R"("tool_calls":[{"index":)";
        append_json_number(out, static_cast<std::int64_t>(next_ / 2));
        if (next_ % 2 == 0) {
            out += R"(,"id":)";
            append_json_string(out, call.id);
            out += R"(,"type":"function","function":{"name":)";
            append_json_string(out, call.name);
            out += R"(,"arguments":""}}])";
            return;
        }
        out += R"(,"function":{"arguments":)";
        append_json_string(out, call.arguments_json);
        out += "}}]";
        return;
    }
    default: return;
    }
}

/// To the next event of text or calls, or behind the last.
void response_events::go_on() noexcept {
    if (stage_ == stage::begin) {
        stage_ = stage::pieces;
        next_ = 0;
    } else {
        ++next_;
    }
    if (stage_ == stage::pieces && next_ >= pieces_.size()) {
        stage_ = stage::calls;
        next_ = 0;
    }
    // Each call is two events: its name, then its arguments.
    if (stage_ == stage::calls && next_ >= 2 * response_.tool_calls.size()) stage_ = stage::end;
}

class format final : public served_format {
public:
    result<served_chat> decode(json_reader& reader, std::string_view,
                               std::string_view body) const override {
        return decode_request(reader, body);
    }
    void append_response(std::string& out, const chat_response& response,
                         std::int64_t created) const override {
        openai::append_response(out, response, created);
    }
    std::unique_ptr<served_events> events(const served_chat& asked, const chat_response& response,
                                          const std::vector<std::string_view>& pieces,
                                          std::int64_t created) const override {
        return std::make_unique<response_events>(response, pieces, created, asked.include_usage);
    }
    void append_fault(std::string& out, const fault& shown) const override {
        append_error(out, shown.message, shown.type, shown.code);
    }
    void append_models(std::string& out, const std::vector<std::string>& names) const override {
        openai::append_models(out, names);
    }
    void append_model(std::string& out, std::string_view name) const override {
        openai::append_model(out, name);
    }
};

} // namespace

const served_format& served() {
    static const format result;
    return result;
}

} // namespace heddle::scripted::openai
