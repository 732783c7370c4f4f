#include "anthropic/wire.hpp"

#include "common/event_feed.hpp"
#include "common/piece_joiner.hpp"

#include <algorithm>

namespace heddle::providers::anthropic {

namespace {

using ports::chat_delta_sink;
using ports::chat_response;

constexpr std::size_t max_blocks = 4096; // of one response

/// One streamed message: blocks begin, grow by deltas and end, each under its index.
class stream final : public chat_stream_reader {
public:
    explicit stream(json_reader& reader) : reader_(reader), pieces_(reader) {}

    result<void> feed(std::string_view piece, const chat_delta_sink& on_delta) override {
        return feed_events(
            parser_, piece, [&](const sse_event& event) { return take_event(event, on_delta); },
            [&](std::string_view why) { return failed(reader_.protocol_error(why)); });
    }

    result<chat_response> finish() override {
        if (!done_) return ended_early(reader_.options().provider_name, response_);
        pieces_.end(response_);
        if (response_.finish == ports::finish_reason::unfinished) {
            response_.finish = ports::finish_reason::stop;
        }
        mend_calls(response_, reader_.options());
        name_calls(response_.tool_calls, response_.id);
        drop_refused(response_);
        return std::move(response_);
    }

    bool is_whole() const noexcept override { return done_; }
    bool has_ended() const noexcept override { return done_; }
    bool started() const noexcept override { return started_; }
    const chat_response& so_far() const noexcept override { return response_; }

private:
    enum class block_kind : std::uint8_t { ignored, text, thinking, tool };
    struct block {
        std::int64_t index = 0;
        block_kind kind = block_kind::ignored;
        std::size_t place = 0; // among the reasoning parts or the calls
    };

    /// Whether an event that is not a JSON object may be skipped: a ping, or of a kind that is not
    /// known yet. Without a name it may be a part of the message.
    static bool may_skip(std::string_view type) noexcept {
        return !type.empty() && type != "error" && !type.starts_with("message") &&
               !type.starts_with("content_block");
    }

    error failed(error failure) const { return with_so_far(std::move(failure), response_); }

    result<void> take_event(const sse_event& read, const chat_delta_sink& on_delta) {
        const std::string_view data = read.data;
        if (done_) return {}; // nothing after the end mark matters
        auto parsed = read_event(reader_, data);
        if (!parsed && may_skip(read.type)) return {};
        if (!parsed) return failed(std::move(parsed).error());
        const json::value tree = *std::move(parsed);
        const json::object& event = tree.get_object();
        const std::string_view type = text_member(event, "type");
        if (type == "content_block_delta") return take_delta(event, on_delta);
        if (type == "content_block_start") return begin_block(event, on_delta);
        if (type == "message_start") take_start(event);
        else if (type == "message_delta") take_end(event);
        else if (type == "message_stop") return take_stop_mark(on_delta);
        else if (is_failure_event(event, read.type)) return take_failure(event, data);
        return {}; // ping, content_block_stop, and kinds that are not known yet
    }

    result<void> take_stop_mark(const chat_delta_sink& on_delta) {
        done_ = true;
        const std::string_view text = pieces_.end_text(response_);
        return text.empty() || !on_delta ? result<void>() : on_delta(text);
    }

    result<void> take_failure(const json::object& event, std::string_view data) const {
        service_failure failure;
        failure.in_stream = true;
        if (!read_failure(event, failure)) failure.message = data;
        return failed(reader_.service_error(failure));
    }

    void take_start(const json::object& event) {
        const json::object* message = object_member(event, "message");
        if (!message) return;
        response_.id = text_member(*message, "id");
        response_.model = text_member(*message, "model");
        const json::object* counts = object_member(*message, "usage");
        if (!counts) return;
        usage_.take_first(*counts);
        response_.usage = usage_.total();
    }

    void take_end(const json::object& event) {
        take_usage(event);
        const json::object* delta = object_member(event, "delta");
        const std::string_view reason = delta ? text_member(*delta, "stop_reason") : "";
        if (!reason.empty()) take_stop(response_, reason, object_member(*delta, "stop_details"));
    }

    void take_usage(const json::object& holder) {
        const json::object* counts = object_member(holder, "usage");
        if (!counts) return;
        usage_.take(*counts);
        response_.usage = usage_.total();
    }

    block* find(const json::object& event) {
        const std::int64_t index = count_member(event, "index");
        // The one under way is nearly always the last.
        const auto found = std::find_if(blocks_.rbegin(), blocks_.rend(),
                                        [&](const block& one) { return one.index == index; });
        return found == blocks_.rend() ? nullptr : &*found;
    }

    result<void> begin_block(const json::object& event, const chat_delta_sink& on_delta) {
        const json::object* content = object_member(event, "content_block");
        if (!content) return {};
        if (blocks_.size() >= max_blocks) {
            return failed(reader_.protocol_error("the stream holds too many parts"));
        }
        block& created = blocks_.emplace_back();
        created.index = count_member(event, "index");
        const std::string_view type = text_member(*content, "type");
        if (type == "text") {
            created.kind = block_kind::text;
            return take_text(text_member(*content, "text"), on_delta);
        }
        if (type == "thinking" || type == "redacted_thinking") {
            created.kind = block_kind::thinking;
            created.place = response_.reasoning.size();
            response_.reasoning.push_back({{},
                                           std::string(text_member(*content, "signature")),
                                           std::string(text_member(*content, "data"))});
            pieces_.append(response_, grown_string::reasoning, created.place,
                           text_member(*content, "thinking"));
        } else if (type == "tool_use") {
            return begin_call(created, *content);
        }
        return {};
    }

    result<void> begin_call(block& created, const json::object& content) {
        if (response_.tool_calls.size() >= reader_.options().max_tool_calls) {
            return failed(reader_.protocol_error("the stream holds too many tool calls"));
        }
        started_ = true;
        created.kind = block_kind::tool;
        created.place = response_.tool_calls.size();
        ports::tool_call& call = response_.tool_calls.emplace_back();
        call.id = text_member(content, "id");
        call.name = text_member(content, "name");
        // Empty by the format, and then written by deltas; a whole one is taken as well.
        const json::object* input = object_member(content, "input");
        if (input && !input->empty()) call.arguments_json = text_of_json(json::value(*input));
        return {};
    }

    result<void> take_delta(const json::object& event, const chat_delta_sink& on_delta) {
        const json::object* delta = object_member(event, "delta");
        const block* open = find(event);
        if (!delta || !open) return {};
        const std::string_view type = text_member(*delta, "type");
        if (type == "text_delta" && open->kind == block_kind::text) {
            return take_text(text_member(*delta, "text"), on_delta);
        }
        if (open->kind == block_kind::tool && type == "input_json_delta") {
            pieces_.append(response_, grown_string::arguments, open->place,
                           text_member(*delta, "partial_json"));
        } else if (open->kind == block_kind::thinking) {
            if (type == "thinking_delta") {
                pieces_.append(response_, grown_string::reasoning, open->place,
                               text_member(*delta, "thinking"));
            } else if (type == "signature_delta") {
                response_.reasoning[open->place].signature += text_member(*delta, "signature");
            }
        }
        return {};
    }

    result<void> take_text(std::string_view piece, const chat_delta_sink& on_delta) {
        const std::string_view text = pieces_.append_text(response_, piece);
        if (text.empty()) return {};
        started_ = true;
        // Handed over last: what is so far holds it when the receiver ends the call.
        return on_delta ? on_delta(text) : result<void>();
    }

    json_reader& reader_;
    piece_joiner pieces_;
    sse_parser parser_;
    chat_response response_ = begun_response();
    raw_usage usage_;
    std::vector<block> blocks_;
    bool started_ = false;
    bool done_ = false; // message_stop came
};

} // namespace

std::unique_ptr<chat_stream_reader> make_stream(json_reader& reader) {
    return std::make_unique<stream>(reader);
}

} // namespace heddle::providers::anthropic
