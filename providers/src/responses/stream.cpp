#include "common/event_feed.hpp"
#include "common/response_parts.hpp"
#include "openai/service.hpp"
#include "responses/wire.hpp"

namespace heddle::providers::responses {

namespace {

std::int64_t place_of(const json::object& event) { return count_member(event, "output_index"); }

bool is_of_response(std::string_view type) noexcept { return type.starts_with("response."); }

/// Whether an event that is not a JSON object may be skipped: by its name it is of another kind.
bool may_skip(const sse_event& read) {
    return !read.type.empty() && read.type != "message" && read.type != "error" &&
           !is_of_response(read.type);
}

/// Whether an event ends the response with an error. Gateways name the kind of the error in `type`,
/// or pass on an event of another format. An `error` in other events of a response is that of a
/// tool which the service runs.
bool is_error(std::string_view type, const json::object& event, const sse_event& read) {
    if (type == "error" || type == "response.error") return true;
    return is_of_response(type) ? read.type == "error" : is_failure_event(event, read.type);
}

} // namespace

result<void> response_stream::feed(std::string_view piece, const ports::chat_delta_sink& on_delta) {
    return feed_events(
        parser_, piece, [&](const sse_event& event) { return take_event(event, on_delta); },
        [&](std::string_view why) { return with_so_far(reader_.protocol_error(why), response_); });
}

result<void> response_stream::take_event(const sse_event& read,
                                         const ports::chat_delta_sink& on_delta) {
    const std::string_view data = read.data;
    if (done_ || is_end_mark(data)) return {}; // some compatible servers end as Chat does
    auto parsed = read_event(reader_, data);
    if (!parsed && may_skip(read)) return {};
    if (!parsed) return with_so_far(std::move(parsed).error(), response_);
    const json::value tree = *std::move(parsed);
    const json::object& event = tree.get_object();
    const std::string_view type = text_member(event, "type");

    if (type == "response.output_text.delta") {
        return take_text(text_member(event, "delta"), on_delta);
    }
    if (type == "response.refusal.delta") {
        pieces_.append(response_, grown_string::refusal, 0, text_member(event, "delta"));
    } else if (type == "response.function_call_arguments.delta") {
        take_arguments(event);
    } else if (type == "response.output_item.added") {
        return begin_item(event);
    } else if (type == "response.created") {
        if (const json::object* begun = object_member(event, "response")) {
            response_.id = text_member(*begun, "id");
            response_.model = text_member(*begun, "model");
        }
    } else if (type == "response.completed" || type == "response.incomplete" ||
               type == "response.failed" || type == "response.cancelled") {
        return take_end(event, on_delta);
    } else if (is_error(type, event, read)) {
        return reported_error(event);
    }
    return {}; // the ends of parts, whose pieces have come, and kinds that we do not know
}

result<void> response_stream::take_text(std::string_view piece,
                                        const ports::chat_delta_sink& on_delta) {
    return hand_over(pieces_.append_text(response_, piece), on_delta);
}

result<void> response_stream::hand_over(std::string_view text,
                                        const ports::chat_delta_sink& on_delta) {
    if (text.empty()) return {};
    // Handed over last: what is so far holds it when the receiver ends the call.
    if (!on_delta) return {};
    return on_delta(text);
}

result<void> response_stream::begin_item(const json::object& event) {
    const json::object* item = object_member(event, "item");
    if (!item || text_member(*item, "type") != "function_call") return {};
    if (call_places_.size() >= reader_.options().max_tool_calls) {
        return with_so_far(reader_.protocol_error("the stream holds too many tool calls"),
                           response_);
    }
    call_places_.push_back(place_of(event));
    ports::tool_call& call = response_.tool_calls.emplace_back();
    call.id = text_member(*item, "call_id");
    call.name = text_member(*item, "name");
    call.signature = text_member(*item, "id");
    return {};
}

void response_stream::take_arguments(const json::object& event) {
    const std::int64_t place = place_of(event);
    for (std::size_t i = call_places_.size(); i-- > 0;) {
        if (call_places_[i] != place) continue;
        pieces_.append(response_, grown_string::arguments, i, text_member(event, "delta"));
        return;
    }
}

/// The last event holds the whole response once more. What was handed out in pieces stays; the rest
/// is taken from here.
result<void> response_stream::take_end(const json::object& event,
                                       const ports::chat_delta_sink& on_delta) {
    const json::object* whole = object_member(event, "response");
    if (!whole) {
        if (is_failure_event(event, {})) return reported_error(event);
        return with_so_far(reader_.protocol_error("the last event holds no response"), response_);
    }
    auto read = read_response(reader_, *whole, response_mode::stream);
    if (!read) {
        // The last event has the usage, and the ones before it had the text.
        if (const auto* part = ports::part_of(read.error())) response_.usage = part->usage;
        return with_so_far(std::move(read).error(), response_);
    }
    done_ = true;
    const std::size_t before = response_.text.size();
    pieces_.end(response_);
    const std::string ended = response_.text.substr(before);
    const std::string unsent = read->text.starts_with(response_.text)
                                   ? read->text.substr(response_.text.size())
                                   : std::string();
    read->text = std::move(response_.text);
    if (read->refusal.empty()) read->refusal = std::move(response_.refusal);
    if (read->tool_calls.empty()) read->tool_calls = std::move(response_.tool_calls);
    if (!read->tool_calls.empty() && read->finish == ports::finish_reason::stop) {
        read->finish = ports::finish_reason::tool_calls;
    }
    if (!read->refusal.empty() && read->finish == ports::finish_reason::stop) {
        read->finish = ports::finish_reason::refusal;
    }
    response_ = *std::move(read);
    response_.text += unsent;
    return hand_over(ended + unsent, on_delta);
}

error response_stream::reported_error(const json::object& event) {
    service_failure failure;
    failure.in_stream = true;
    if (holds_error(event)) {
        (void)openai::read_failure(event, failure);
    } else {
        const std::string_view type = text_member(event, "type");
        if (type != "error" && !is_of_response(type)) failure.type = type;
        failure.code = text_member(event, "code");
        failure.message = text_member(event, "message");
    }
    return with_so_far(reader_.service_error(failure), response_);
}

result<ports::chat_response> response_stream::finish() {
    if (!done_) return ended_early(reader_.options().provider_name, response_);
    mend_calls(response_, reader_.options());
    name_calls(response_.tool_calls, response_.id);
    return std::move(response_);
}

bool response_stream::started() const noexcept {
    return !response_.text.empty() || !response_.refusal.empty() || !response_.tool_calls.empty();
}

} // namespace heddle::providers::responses
