#include <heddle/providers/common/ndjson_parser.hpp>

#include "ollama/wire.hpp"

namespace heddle::providers::ollama {

namespace {

using ports::chat_delta_sink;
using ports::chat_response;

/// One streamed response: an object a line, the last one with "done": true.
class stream final : public chat_stream_reader {
public:
    stream(json_reader& reader, std::size_t max_line)
        : reader_(reader), lines_(max_line), collected_(reader) {}

    result<void> feed(std::string_view piece, const chat_delta_sink& on_delta) override {
        lines_.feed(piece);
        for (std::string_view line;;) {
            const result<bool> got = lines_.next(line);
            if (!got) return failed(reader_.protocol_error(got.error().message()));
            if (!*got) return {};
            HEDDLE_CHECK(take_line(line));
            if (text_.empty() || !on_delta) continue;
            HEDDLE_CHECK(on_delta(text_));
        }
    }

    result<chat_response> finish() override {
        std::string_view line;
        const result<bool> got = lines_.last(line);
        if (!got) return failed(reader_.protocol_error(got.error().message()));
        // A truncated last line means that the stream ended early, which is reported below.
        if (*got && check_json(line) == json_kind::object) HEDDLE_CHECK(take_line(line));
        return finish_stream(collected_, reader_.options().provider_name);
    }

    bool is_whole() const noexcept override { return collected_.is_whole(); }
    bool has_ended() const noexcept override { return collected_.is_whole(); }
    bool started() const noexcept override { return collected_.started(); }
    const chat_response& so_far() const noexcept override { return collected_.so_far(); }

private:
    error failed(error failure) const {
        return with_so_far(std::move(failure), collected_.so_far());
    }

    /// What it adds to the text is in text_.
    result<void> take_line(std::string_view line) {
        text_.clear();
        auto parsed = read_event(reader_, line);
        if (!parsed) return failed(std::move(parsed).error());
        const json::value tree = *std::move(parsed);
        const json::object& piece = tree.get_object();
        if (holds_error(piece)) {
            service_failure failure;
            failure.in_stream = true;
            if (!read_failure(piece, failure)) failure.message = line;
            return failed(reader_.service_error(failure));
        }
        if (auto taken = collected_.take(piece, text_); !taken) {
            return failed(std::move(taken).error());
        }
        return {};
    }

    json_reader& reader_;
    ndjson_parser lines_;
    collector collected_;
    std::string text_; // of one line
};

} // namespace

std::unique_ptr<chat_stream_reader> make_stream(json_reader& reader, std::size_t max_line) {
    return std::make_unique<stream>(reader, max_line);
}

} // namespace heddle::providers::ollama
