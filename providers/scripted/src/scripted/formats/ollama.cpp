#include "scripted/formats/ollama.hpp"

#include "common/json_writer.hpp"
#include "common/response_parts.hpp"
#include "scripted/formats/format_parts.hpp"

#include <heddle/base/time_text.hpp>

#include <optional>
#include <utility>

namespace heddle::scripted::ollama {

namespace {

using ports::chat_message;
using ports::chat_response;
using ports::chat_role;
using ports::finish_reason;

std::optional<chat_role> read_role(std::string_view name) noexcept {
    if (name == "user") return chat_role::user;
    if (name == "system") return chat_role::system;
    if (name == "assistant") return chat_role::assistant;
    if (name == "tool") return chat_role::tool;
    return std::nullopt;
}

result<void> read_message(const json::value& value, std::size_t number,
                          std::vector<chat_message>& messages) {
    const std::string where = "messages[" + std::to_string(number) + "]";
    const json::object* object = value.if_object();
    if (!object) return wrong(where + " is not an object");
    const auto role = read_role(text_member(*object, "role"));
    if (!role) return wrong(where + ".role is unknown");
    chat_message& message = messages.emplace_back();
    message.role = *role;
    message.text = text_member(*object, "content");
    message.tool_name = text_member(*object, "tool_name");
    message.tool_call_id = text_member(*object, "tool_call_id");
    const json::array* calls = array_member(*object, "tool_calls");
    if (!calls) return {};
    for (const json::value& one : *calls) {
        const json::object* call = one.if_object();
        const json::object* function = call ? object_member(*call, "function") : nullptr;
        const json::object* arguments = function ? object_member(*function, "arguments") : nullptr;
        if (!arguments) return wrong(where + ": the arguments of a call must be an object");
        ports::tool_call& tool = message.tool_calls.emplace_back();
        tool.id = text_member(*call, "id");
        tool.name = text_member(*function, "name");
        tool.arguments_json = text_of_json(*function->if_contains("arguments"));
    }
    return {};
}

void write_calls(json_writer& out, const std::vector<ports::tool_call>& calls) {
    if (calls.empty()) return;
    out.key("tool_calls").begin_array();
    std::int64_t index = 0;
    for (const ports::tool_call& call : calls) {
        out.begin_object();
        out.key("id").string(call.id);
        out.key("function").begin_object();
        out.key("index").number(index++);
        out.key("name").string(call.name);
        out.key("arguments").raw(call.arguments_json);
        out.end_object();
        out.end_object();
    }
    out.end_array();
}

/// One object of a response.
void write_piece(json_writer& out, const chat_response& response, std::int64_t created,
                 std::string_view text, bool has_calls, bool is_last) {
    out.begin_object();
    out.key("model").string(response.model);
    out.key("created_at").string(utc_text(created));
    out.key("message").begin_object();
    out.key("role").raw(R"("assistant")");
    out.key("content").string(text);
    if (has_calls) write_calls(out, response.tool_calls);
    out.end_object();
    out.key("done").boolean(is_last);
    if (is_last) {
        out.key("done_reason")
            .raw(response.finish == finish_reason::length ? R"("length")" : R"("stop")");
        if (response.usage) {
            out.key("prompt_eval_count").number(response.usage->input);
            out.key("eval_count").number(response.usage->output);
        }
    }
    out.end_object();
}

/// The service has no refusals: they are texts like others.
std::string_view text_of(const chat_response& response) noexcept {
    return response.refusal.empty() ? response.text : response.refusal;
}

class line_events final : public served_events {
public:
    line_events(const chat_response& response, const std::vector<std::string_view>& pieces,
                std::int64_t created)
        : response_(response), pieces_(pieces), created_(created) {}

    bool next(std::string& out) override {
        if (over_) return false;
        json_writer line(std::exchange(out, {}));
        if (at_piece()) {
            write_piece(line, response_, created_, pieces_[piece_++], false, false);
        } else if (!calls_reported_ && !response_.tool_calls.empty()) {
            calls_reported_ = true;
            write_piece(line, response_, created_, "", true, false);
        } else {
            over_ = true;
            write_piece(line, response_, created_, "", false, true);
        }
        out = std::move(line).take() + "\n";
        return true;
    }

    bool at_piece() const noexcept override { return piece_ < pieces_.size(); }

private:
    const chat_response& response_;
    const std::vector<std::string_view>& pieces_;
    std::int64_t created_;
    bool calls_reported_ = false;
    bool over_ = false;
    std::size_t piece_ = 0;
};

void write_model(json_writer& out, std::string_view name) {
    out.begin_object();
    out.key("name").string(name);
    out.key("model").string(name);
    out.key("modified_at").raw(R"("1970-01-01T00:00:00Z")");
    out.key("size").number(std::int64_t{0});
    out.end_object();
}

class format final : public served_format {
public:
    result<served_chat> decode(json_reader& reader, std::string_view,
                               std::string_view body) const override {
        HEDDLE_TRY(const json::value tree, parse_request(reader, body));
        const json::object* root = &tree.get_object();
        served_chat served;
        served.chat.model = text_member(*root, "model");
        if (served.chat.model.empty()) return wrong("model is required");
        const json::array* messages = array_member(*root, "messages");
        if (!messages || messages->empty()) return wrong("messages must not be empty");
        for (std::size_t i = 0; i < messages->size(); ++i) {
            HEDDLE_CHECK(read_message((*messages)[i], i, served.chat.messages));
        }
        served.stream = !root->if_contains("stream") || is_true(*root, "stream");
        return served;
    }

    void append_response(std::string& out, const chat_response& response,
                         std::int64_t created) const override {
        append_json(out, [&](json_writer& body) {
            write_piece(body, response, created, text_of(response), true, true);
        });
    }

    std::unique_ptr<served_events> events(const served_chat&, const chat_response& response,
                                          const std::vector<std::string_view>& pieces,
                                          std::int64_t created) const override {
        return std::make_unique<line_events>(response, pieces, created);
    }

    std::string_view stream_type() const noexcept override { return "application/x-ndjson"; }

    void append_fault(std::string& out, const fault& shown) const override {
        append_json(out, [&](json_writer& body) {
            body.begin_object();
            body.key("error").string(shown.message);
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

const served_format& served() {
    static const format result;
    return result;
}

} // namespace heddle::scripted::ollama
