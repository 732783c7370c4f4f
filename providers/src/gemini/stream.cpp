#include "common/event_feed.hpp"
#include "gemini/wire.hpp"

namespace heddle::providers::gemini {

namespace {

using ports::chat_delta_sink;
using ports::chat_response;

/// One streamed response: events without names, each with a part of it; mostly without a mark
/// at the end.
class stream final : public chat_stream_reader {
public:
    explicit stream(json_reader& reader) : reader_(reader), collected_(reader) {}

    result<void> feed(std::string_view piece, const chat_delta_sink& on_delta) override {
        return feed_events(
            parser_, piece, [&](const sse_event& event) { return take_event(event, on_delta); },
            [&](std::string_view why) { return failed(reader_.protocol_error(why)); });
    }

    result<chat_response> finish() override {
        return finish_stream(collected_, reader_.options().provider_name);
    }

    bool is_whole() const noexcept override { return collected_.is_whole(); }
    bool has_ended() const noexcept override { return done_; }
    bool started() const noexcept override { return collected_.started(); }
    const chat_response& so_far() const noexcept override { return collected_.so_far(); }

private:
    error failed(error failure) const {
        return with_so_far(std::move(failure), collected_.so_far());
    }

    result<void> take_event(const sse_event& read, const chat_delta_sink& on_delta) {
        const std::string_view data = read.data;
        if (done_) return {};
        if (is_end_mark(data)) { // servers alike
            done_ = collected_.is_whole();
            return {};
        }
        text_.clear();
        {
            auto parsed = read_event(reader_, data);
            if (!parsed) return failed(std::move(parsed).error());
            const json::value tree = *std::move(parsed);
            const json::object& chunk = tree.get_object();
            if (is_failure_event(chunk, read.type)) {
                service_failure failure;
                failure.in_stream = true;
                if (!read_failure(chunk, failure)) failure.message = data;
                return failed(reader_.service_error(failure));
            }
            if (auto taken = collected_.take(chunk, text_); !taken) {
                return failed(std::move(taken).error());
            }
        }
        // Handed over last: what is so far holds it when the receiver ends the call.
        if (text_.empty() || !on_delta) return {};
        return on_delta(text_);
    }

    json_reader& reader_;
    sse_parser parser_;
    collector collected_;
    std::string text_;  // of one event
    bool done_ = false; // [DONE] came after the response
};

} // namespace

std::unique_ptr<chat_stream_reader> make_stream(json_reader& reader) {
    return std::make_unique<stream>(reader);
}

} // namespace heddle::providers::gemini
