#include "openai/chat_wire.hpp"

#include "common/event_feed.hpp"
#include "common/response_parts.hpp"
#include "openai/chat_json.hpp"
#include "openai/service.hpp"

#include <utility>

namespace heddle::providers::openai {

result<void> chat_stream::take_event(const sse_event& event,
                                     const ports::chat_delta_sink& on_delta) {
    const std::string_view data = event.data;
    if (done_) return {}; // nothing after the end mark matters
    if (is_end_mark(data)) {
        done_ = true;
        return end_text(on_delta);
    }
    auto parsed = reader_.parse(data);
    if (!parsed) return with_so_far(std::move(parsed).error(), response_);
    const json::value tree = *std::move(parsed);
    const json::object* root = tree.if_object();
    if (!root) return protocol_error("an event of the stream is not an object", data);
    if (is_failure_event(*root, event.type)) {
        service_failure failure;
        failure.in_stream = true;
        if (!read_failure(*root, failure)) failure.message = data;
        if (failure.type == "error") failure.type = {}; // the name of the event
        return with_so_far(reader_.service_error(failure), response_);
    }
    if (response_.id.empty()) response_.id = text_member(*root, "id");
    if (response_.model.empty()) response_.model = text_member(*root, "model");
    usage_.take(read_usage(member(*root, "usage")));
    response_.usage = usage_.so_far();
    const json::array* choices = array_member(*root, "choices");
    if (!choices || choices->empty()) return {}; // the chunk of usage, or a kind we do not know
    const json::object* choice = first_choice(*choices);
    if (!choice) return protocol_error("a choice of the stream is not an object");
    return take_choice(*choice, on_delta);
}

result<void> chat_stream::take_choice(const json::object& choice,
                                      const ports::chat_delta_sink& on_delta) {
    if (count_member(choice, "index") != 0) return {}; // we never ask for more than one
    const json::object* delta = object_member(choice, "delta");
    if (delta) {
        pieces_.append(response_, grown_string::refusal, 0, text_member(*delta, "refusal"));
        if (const std::string_view thought = reasoning_text(*delta); !thought.empty()) {
            if (response_.reasoning.empty()) response_.reasoning.emplace_back();
            pieces_.append(response_, grown_string::reasoning, 0, thought);
        }
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
        response_.finish = read_finish(finish);
        finished_ = true;
    }
    const std::size_t before = response_.text.size();
    if (const json::value* content = delta ? member(*delta, "content") : nullptr) {
        for_each_text(*content,
                      [&](std::string_view piece) { pieces_.append_text(response_, piece); });
    }
    if (finished_) pieces_.end_text(response_);
    // Handed over last: what is so far holds it when the receiver ends the call.
    if (response_.text.size() == before || !on_delta) return {};
    return on_delta(std::string_view(response_.text).substr(before));
}

result<void> chat_stream::end_text(const ports::chat_delta_sink& on_delta) {
    const std::string_view text = pieces_.end_text(response_);
    return text.empty() || !on_delta ? result<void>() : on_delta(text);
}

/// Finds the call that a piece belongs to, or begins one. Without an index a new id begins a call
/// and everything else belongs to the last one; and a new id under an old index begins one too,
/// since some servers number all calls 0. Null: there are too many.
ports::tool_call* chat_stream::call_of(std::int64_t index, std::string_view id) {
    for (std::size_t i = call_places_.size(); i-- > 0;) {
        ports::tool_call& call = response_.tool_calls[i];
        const bool same_place = index < 0 ? i + 1 == call_places_.size() : call_places_[i] == index;
        if (!same_place) continue;
        if (id.empty() || call.id.empty() || call.id == id) return &call;
        break;
    }
    if (call_places_.size() >= reader_.options().max_tool_calls) return nullptr;
    call_places_.push_back(index);
    return &response_.tool_calls.emplace_back();
}

result<void> chat_stream::take_call(const json::object& piece) {
    const json::value* number = member(piece, "index");
    const std::int64_t index = number && number->is_int64() ? number->get_int64() : -1;
    const std::string_view id = text_member(piece, "id");
    ports::tool_call* call = call_of(index, id);
    if (!call) return protocol_error("the stream holds too many tool calls");
    if (call->id.empty()) call->id = id;
    if (const json::object* function = object_member(piece, "function")) {
        if (call->name.empty()) call->name = text_member(*function, "name");
        const json::value* arguments = member(*function, "arguments");
        if (arguments && arguments->is_object()) {
            call->arguments_json = text_of_json(*arguments);
        } else {
            const auto place = static_cast<std::size_t>(call - response_.tool_calls.data());
            pieces_.append(response_, grown_string::arguments, place,
                           text_member(*function, "arguments"));
        }
    }
    return {};
}

result<void> chat_stream::feed(std::string_view piece, const ports::chat_delta_sink& on_delta) {
    return feed_events(
        parser_, piece, [&](const sse_event& event) { return take_event(event, on_delta); },
        [&](std::string_view why) { return protocol_error(why); });
}

result<ports::chat_response> chat_stream::finish() {
    if (!done_ && !finished_) {
        return ended_early(reader_.options().provider_name, response_);
    }
    pieces_.end(response_);
    response_.usage = usage_.total();
    if (!finished_) response_.finish = ports::finish_reason::stop;
    mend_calls(response_, reader_.options());
    name_calls(response_.tool_calls, response_.id);
    if (!response_.refusal.empty()) {
        response_.finish = ports::finish_reason::refusal;
    }
    return std::move(response_);
}

bool chat_stream::started() const noexcept {
    return !response_.text.empty() || !response_.refusal.empty() || !response_.tool_calls.empty();
}

} // namespace heddle::providers::openai
