#include "scripted/formats/gemini.hpp"

#include <heddle/base/hex.hpp>

#include "common/json_writer.hpp"
#include "common/response_parts.hpp"
#include "scripted/formats/format_parts.hpp"

#include <utility>

namespace heddle::scripted::gemini {

namespace {

using ports::chat_message;
using ports::chat_response;
using ports::chat_role;
using ports::finish_reason;

constexpr std::string_view whole_call = ":generateContent";
constexpr std::string_view streamed_call = ":streamGenerateContent";

/// Takes the parts of one turn apart: results of tools are messages of their own with us.
result<void> read_turn(const json::object& turn, const std::string& where,
                       std::vector<chat_message>& messages) {
    const std::string_view role = text_member(turn, "role");
    if (!role.empty() && role != "user" && role != "model") {
        return wrong(where + ".role must be user or model");
    }
    const json::array* parts = array_member(turn, "parts");
    if (!parts || parts->empty()) return wrong(where + ".parts must not be empty");
    chat_message said;
    said.role = role == "model" ? chat_role::assistant : chat_role::user;
    bool has_text = false;
    for (const json::value& one : *parts) {
        const json::object* part = one.if_object();
        if (!part) return wrong(where + ".parts holds something that is not a part");
        if (const json::object* function_response = object_member(*part, "functionResponse")) {
            chat_message& result = messages.emplace_back();
            result.role = chat_role::tool;
            result.tool_call_id = text_member(*function_response, "id");
            result.tool_name = text_member(*function_response, "name");
            const json::object* response = object_member(*function_response, "response");
            if (!response) return wrong(where + ": a functionResponse needs a response");
            // A bare text comes as {"output": …}, or as {"error": …}.
            const json::value* text = response->if_contains("output");
            if (!text) text = response->if_contains("error");
            if (text && text->is_string() && response->size() == 1)
                result.text = text->get_string();
            else result.text = text_of_json(json::value(*response));
        } else if (const json::object* call = object_member(*part, "functionCall")) {
            ports::tool_call& created = said.tool_calls.emplace_back();
            created.id = text_member(*call, "id");
            created.name = text_member(*call, "name");
            const json::value* arguments = member(*call, "args");
            created.arguments_json = arguments ? text_of_json(*arguments) : "{}";
        } else if (!is_true(*part, "thought")) {
            has_text = true;
            said.text += text_member(*part, "text");
        }
    }
    if (has_text || !said.tool_calls.empty()) messages.push_back(std::move(said));
    return {};
}

void read_system(const json::object& root, std::vector<chat_message>& messages) {
    const json::object* system = object_member(root, "systemInstruction");
    const json::array* parts = system ? array_member(*system, "parts") : nullptr;
    if (!parts) return;
    for (const json::value& one : *parts) {
        const json::object* part = one.if_object();
        if (!part) continue;
        chat_message& message = messages.emplace_back();
        message.role = chat_role::system;
        message.text = text_member(*part, "text");
    }
}

std::string_view finish_name(const chat_response& response) noexcept {
    if (!response.refusal.empty()) return "SAFETY";
    switch (response.finish) {
    case finish_reason::length: return "MAX_TOKENS";
    case finish_reason::content_filter:
    case finish_reason::refusal: return "SAFETY";
    case finish_reason::other: return "OTHER";
    default: return "STOP"; // for calls as well
    }
}

void write_text(json_writer& out, std::string_view text) {
    out.begin_object();
    out.key("text").string(text);
    out.end_object();
}

void write_call(json_writer& out, const ports::tool_call& call) {
    out.begin_object();
    out.key("functionCall").begin_object();
    out.key("name").string(call.name);
    out.key("args").raw(call.arguments_json);
    out.key("id").string(call.id);
    out.end_object();
    out.end_object();
}

void write_usage(json_writer& out, const ports::token_usage& usage) {
    out.key("usageMetadata").begin_object();
    out.key("promptTokenCount").number(usage.input);
    out.key("candidatesTokenCount").number(usage.output - usage.reasoning);
    out.key("totalTokenCount").number(usage.input + usage.output);
    if (usage.cached != 0) out.key("cachedContentTokenCount").number(usage.cached);
    if (usage.reasoning != 0) out.key("thoughtsTokenCount").number(usage.reasoning);
    out.end_object();
}

/// One GenerateContentResponse. `parts` writes what is in its content.
template <class Parts>
void write_response(json_writer& out, const chat_response& response, bool is_last, Parts parts) {
    out.begin_object();
    out.key("candidates").begin_array();
    out.begin_object();
    out.key("content").begin_object();
    out.key("parts").begin_array();
    parts();
    out.end_array();
    out.key("role").raw(R"("model")");
    out.end_object();
    if (is_last) {
        out.key("finishReason").string(finish_name(response));
        if (!response.refusal.empty()) out.key("finishMessage").string(response.refusal);
    }
    out.key("index").number(std::int64_t{0});
    out.end_object();
    out.end_array();
    if (response.usage && is_last) write_usage(out, *response.usage);
    out.key("modelVersion").string(response.model);
    out.key("responseId").string(response.id);
    out.end_object();
}

/// Chunks without names and without a mark at the end; lines end in CRLF.
class chunk_events final : public served_events {
public:
    chunk_events(const chat_response& response, const std::vector<std::string_view>& pieces)
        : response_(response), pieces_(pieces), is_refusal_(!response.refusal.empty()) {}

    bool next(std::string& out) override {
        if (over_) return false;
        out += "data: ";
        json_writer chunk;
        if (at_piece()) {
            const std::string_view piece = pieces_[piece_++];
            write_response(chunk, response_, false, [&] { write_text(chunk, piece); });
        } else if (!is_refusal_ && call_ < response_.tool_calls.size()) {
            const ports::tool_call& call = response_.tool_calls[call_++];
            write_response(chunk, response_, false, [&] { write_call(chunk, call); });
        } else {
            over_ = true;
            write_response(chunk, response_, true, [&] { write_text(chunk, ""); });
        }
        out += chunk.text();
        out += "\r\n\r\n";
        return true;
    }

    /// A refusal is reported at the end and has no text.
    bool at_piece() const noexcept override { return !is_refusal_ && piece_ < pieces_.size(); }

private:
    const chat_response& response_;
    const std::vector<std::string_view>& pieces_;
    bool is_refusal_ = false;
    bool over_ = false;
    std::size_t piece_ = 0;
    std::size_t call_ = 0;
};

std::string_view status_name(int status) noexcept {
    switch (status) {
    case 400: return "INVALID_ARGUMENT";
    case 401: return "UNAUTHENTICATED";
    case 403: return "PERMISSION_DENIED";
    case 404: return "NOT_FOUND";
    case 409: return "ABORTED";
    case 429: return "RESOURCE_EXHAUSTED";
    case 503: return "UNAVAILABLE";
    case 504: return "DEADLINE_EXCEEDED";
    default: return status >= 500 ? "INTERNAL" : "FAILED_PRECONDITION";
    }
}

void write_details(json_writer& out, const fault& shown) {
    const bool is_quota = shown.code == "insufficient_quota";
    const bool is_key = shown.code == "invalid_api_key";
    if (!is_quota && !is_key && !shown.retry_after) return;
    out.key("details").begin_array();
    if (is_key) {
        out.raw(R"({"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID",)"
                R"("domain":"googleapis.com"})");
    }
    if (is_quota) {
        out.raw(R"({"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":)"
                R"([{"quotaId":"GenerateRequestsPerDayPerProjectPerModel"}]})");
    }
    if (shown.retry_after) {
        std::string delay;
        append_json_number(delay, static_cast<double>(shown.retry_after->count()) / 1000);
        out.begin_object();
        out.key("@type").raw(R"("type.googleapis.com/google.rpc.RetryInfo")");
        out.key("retryDelay").string(delay + "s");
        out.end_object();
    }
    out.end_array();
}

void write_model(json_writer& out, std::string_view name) {
    out.begin_object();
    out.key("name").string("models/" + std::string(name));
    out.key("displayName").string(name);
    out.key("supportedGenerationMethods").raw(R"(["generateContent"])");
    out.end_object();
}

class format final : public served_format {
public:
    result<served_chat> decode(json_reader& reader, std::string_view target,
                               std::string_view body) const override {
        served_chat served;
        const std::string_view path = target.substr(0, target.find('?'));
        const std::size_t colon = path.rfind(':');
        constexpr std::string_view models = "/models/";
        served.chat.model = *percent_decoded(path.substr(models.size(), colon - models.size()),
                                             broken_escape::kept);
        served.stream = path.substr(colon) == streamed_call;
        if (served.stream && target.find("alt=sse") == std::string_view::npos) {
            return wrong("only streams with ?alt=sse are served");
        }
        HEDDLE_TRY(const json::value tree, parse_request(reader, body));
        const json::object* root = &tree.get_object();
        read_system(*root, served.chat.messages);
        const json::array* contents = array_member(*root, "contents");
        if (!contents || contents->empty()) return wrong("contents must not be empty");
        for (std::size_t i = 0; i < contents->size(); ++i) {
            const std::string where = "contents[" + std::to_string(i) + "]";
            const json::object* turn = (*contents)[i].if_object();
            if (!turn) return wrong(where + " is not an object");
            HEDDLE_CHECK(read_turn(*turn, where, served.chat.messages));
        }
        return served;
    }

    void append_response(std::string& out, const chat_response& response,
                         std::int64_t) const override {
        append_json(out, [&](json_writer& body) {
            write_response(body, response, true, [&] {
                if (!response.refusal.empty()) return;
                if (!response.text.empty()) write_text(body, response.text);
                for (const ports::tool_call& call : response.tool_calls) write_call(body, call);
            });
        });
    }

    std::unique_ptr<served_events> events(const served_chat&, const chat_response& response,
                                          const std::vector<std::string_view>& pieces,
                                          std::int64_t) const override {
        return std::make_unique<chunk_events>(response, pieces);
    }

    std::string_view stream_type() const noexcept override { return "text/event-stream"; }

    bool wait_in_headers() const noexcept override { return false; }

    void append_fault(std::string& out, const fault& shown) const override {
        append_json(out, [&](json_writer& body) {
            body.begin_object();
            body.key("error").begin_object();
            body.key("code").number(std::int64_t{shown.status});
            body.key("message").string(shown.message);
            body.key("status").string(status_name(shown.status));
            write_details(body, shown);
            body.end_object();
            body.end_object();
        });
    }

    void append_models(std::string& out, const std::vector<std::string>& names) const override {
        append_json_list(out, "models", names, &write_model);
    }

    void append_model(std::string& out, std::string_view name) const override {
        append_json(out, [&](json_writer& body) { write_model(body, name); });
    }
};

} // namespace

bool is_call(std::string_view name) noexcept {
    return name.ends_with(whole_call) || name.ends_with(streamed_call);
}

const served_format& served() {
    static const format result;
    return result;
}

} // namespace heddle::scripted::gemini
