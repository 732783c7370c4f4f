#include "openai/chat_json.hpp"

namespace heddle::providers::openai {

namespace {

/// A tool call under way: pieces of its arguments come with its index, mixed with others'.
struct open_call {
    std::int64_t index = -1; ///< -1: the server gives none
};

} // namespace

struct chat_stream::state {
    explicit state(chat_reader& used) : reader(used) {}

    result<void> take_event(std::string_view data, const ports::chat_delta_sink& on_delta);
    result<void> take_choice(const json::object& choice, const ports::chat_delta_sink& on_delta);
    result<void> take_call(const json::object& piece);
    ports::tool_call* call_of(std::int64_t index, std::string_view id);
    error with_so_far(error failure) const;

    chat_reader& reader;
    sse_parser parser;
    ports::chat_response response;
    std::vector<open_call> calls; // beside response.tool_calls
    std::string text;             // of one piece
    bool finished = false;        // a finish reason came
    bool done = false;            // [DONE] came
};

error chat_stream::state::with_so_far(error failure) const {
    return std::move(failure).with_payload(std::make_shared<ports::partial_response>(response));
}

result<void> chat_stream::state::take_event(std::string_view data,
                                            const ports::chat_delta_sink& on_delta) {
    if (done) return {}; // nothing after the end mark matters
    if (data == "[DONE]") {
        done = true;
        return {};
    }
    auto parsed = reader.parse(data);
    if (!parsed) return with_so_far(std::move(parsed).error());
    const json::value tree = *std::move(parsed);
    const json::object* root = tree.if_object();
    if (!root)
        return with_so_far(reader.protocol_error("an event of the stream is not an object", data));
    if (const json::value* failed = member(*root, "error"); failed && !failed->is_null()) {
        service_failure failure;
        if (!read_failure(tree, failure)) failure.message = data;
        return with_so_far(
            make_service_error(reader.options().provider_name, failure, reader.options().hidden));
    }
    if (response.id.empty()) response.id = text_member(*root, "id");
    if (response.model.empty()) response.model = text_member(*root, "model");
    if (auto usage = read_usage(member(*root, "usage"))) response.usage = usage;

    const json::array* choices = array_member(*root, "choices");
    if (!choices || choices->empty()) return {}; // the chunk of usage, or a kind we do not know
    const json::object* choice = choices->front().if_object();
    if (!choice)
        return with_so_far(reader.protocol_error("a choice of the stream is not an object"));
    return take_choice(*choice, on_delta);
}

result<void> chat_stream::state::take_choice(const json::object& choice,
                                             const ports::chat_delta_sink& on_delta) {
    if (count_member(choice, "index") != 0) return {}; // we never ask for more than one
    if (const json::object* delta = object_member(choice, "delta")) {
        text.clear();
        if (const json::value* content = member(*delta, "content")) append_content(text, *content);
        response.refusal += text_member(*delta, "refusal");
        if (const json::array* pieces = array_member(*delta, "tool_calls")) {
            for (const json::value& piece : *pieces) {
                const json::object* object = piece.if_object();
                if (!object) continue;
                HEDDLE_CHECK(take_call(*object));
            }
        }
    }
    const std::string_view finish = text_member(choice, "finish_reason");
    if (!finish.empty()) {
        response.finish = read_finish(finish);
        finished = true;
    }
    if (text.empty()) return {};
    response.text += text;
    // Handed over last: what is so far holds it when the receiver ends the call.
    if (!on_delta) return {};
    return on_delta(text);
}

/// Finds the call that a piece belongs to, or begins one. Without an index a new id begins a call
/// and everything else belongs to the last one; and a new id under an old index begins one too,
/// since some servers number all calls 0. Null: there are too many.
ports::tool_call* chat_stream::state::call_of(std::int64_t index, std::string_view id) {
    for (std::size_t i = calls.size(); i-- > 0;) {
        ports::tool_call& call = response.tool_calls[i];
        const bool same_place = index < 0 ? i + 1 == calls.size() : calls[i].index == index;
        if (!same_place) continue;
        if (id.empty() || call.id.empty() || call.id == id) return &call;
        break;
    }
    if (calls.size() >= reader.options().max_tool_calls) return nullptr;
    calls.push_back({index});
    return &response.tool_calls.emplace_back();
}

result<void> chat_stream::state::take_call(const json::object& piece) {
    const json::value* number = member(piece, "index");
    const std::int64_t index = number && number->is_int64() ? number->get_int64() : -1;
    const std::string_view id = text_member(piece, "id");
    ports::tool_call* call = call_of(index, id);
    if (!call) return with_so_far(reader.protocol_error("the stream holds too many tool calls"));
    if (call->id.empty()) call->id = id;
    if (const json::object* function = object_member(piece, "function")) {
        if (call->name.empty()) call->name = text_member(*function, "name");
        const json::value* arguments = member(*function, "arguments");
        if (arguments && arguments->is_object()) call->arguments_json = json::serialize(*arguments);
        else call->arguments_json += text_member(*function, "arguments");
    }
    return {};
}

chat_stream::chat_stream(chat_decoder& decoder)
    : state_(std::make_unique<state>(decoder.state_->reader)) {}
chat_stream::~chat_stream() = default;

result<void> chat_stream::feed(std::string_view piece, const ports::chat_delta_sink& on_delta) {
    state_->parser.feed(piece);
    for (sse_event event;;) {
        const result<bool> got = state_->parser.next(event);
        if (!got) return state_->with_so_far(state_->reader.protocol_error(got.error().message()));
        if (!*got) return {};
        HEDDLE_CHECK(state_->take_event(event.data, on_delta));
    }
}

result<ports::chat_response> chat_stream::finish() {
    if (!state_->done && !state_->finished) {
        error early(
            ports::make_error_code(ports::llm_errc::connection),
            std::string(state_->reader.options().provider_name) + ": the stream ended early");
        return state_->with_so_far(
            std::move(early).with_origin(error_origin::server).with_retryable(true));
    }
    HEDDLE_CHECK(check_calls(state_->response.tool_calls, state_->reader.options()));
    if (!state_->response.refusal.empty()) {
        state_->response.finish = ports::finish_reason::refusal;
    }
    return std::move(state_->response);
}

bool chat_stream::started() const noexcept {
    return !state_->response.text.empty() || !state_->response.refusal.empty() ||
           !state_->response.tool_calls.empty();
}

const ports::chat_response& chat_stream::so_far() const noexcept { return state_->response; }

} // namespace heddle::providers::openai
