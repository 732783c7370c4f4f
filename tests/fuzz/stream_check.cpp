#include "stream_check.hpp"

#include <heddle/providers/anthropic/provider.hpp>
#include <heddle/providers/common/ndjson_parser.hpp>
#include <heddle/providers/common/sse_parser.hpp>
#include <heddle/providers/gemini/provider.hpp>
#include <heddle/providers/ollama/provider.hpp>
#include <heddle/providers/openai/provider.hpp>
#include <heddle/providers/responses/provider.hpp>

#include <algorithm>
#include <random>

namespace heddle::fuzzing {

namespace {

/// Passes the stream to `take` in pieces, each a copy of its own size: reading past one shows under
/// a sanitizer. Ends when `take` returns false.
template <class Take>
void in_pieces(std::string_view stream, std::uint32_t cuts, Take take) {
    std::minstd_rand random(cuts + 1);
    const std::size_t longest = cuts == 0 ? stream.size() : 1 + cuts % 61;
    while (!stream.empty()) {
        const std::size_t size =
            std::min<std::size_t>(stream.size(), cuts == 0 ? longest : 1 + random() % longest);
        const std::vector<char> piece(stream.begin(),
                                      stream.begin() + static_cast<std::ptrdiff_t>(size));
        stream.remove_prefix(size);
        if (!take(std::string_view(piece.data(), piece.size()))) return;
    }
}

/// One string for all events and the way it ended.
std::string sse_events(std::string_view stream, std::uint32_t cuts) {
    providers::sse_limits limits;
    limits.max_line = 512;
    limits.max_event = 1024;
    providers::sse_parser parser(limits);
    std::string seen;
    in_pieces(stream, cuts, [&](std::string_view piece) {
        parser.feed(piece);
        for (providers::sse_event event;;) {
            const result<bool> got = parser.next(event);
            if (!got) {
                seen += "|" + got.error().message();
                return false;
            }
            if (!*got) return true;
            seen += "[";
            seen += event.type;
            seen += ";";
            seen += event.id;
            seen += ";";
            seen += event.data;
            seen += "]";
        }
    });
    return seen;
}

std::string ndjson_lines(std::string_view stream, std::uint32_t cuts) {
    providers::ndjson_parser parser(512);
    std::string seen;
    bool failed = false;
    std::string_view line;
    const auto fail = [&](const error& failure) {
        seen += "|" + failure.message();
        failed = true;
        return false;
    };
    in_pieces(stream, cuts, [&](std::string_view piece) {
        parser.feed(piece);
        for (;;) {
            const result<bool> got = parser.next(line);
            if (!got) return fail(got.error());
            if (!*got) return true;
            seen += "[";
            seen += line;
            seen += "]";
        }
    });
    if (failed) return seen;
    const result<bool> left = parser.last(line);
    if (!left) fail(left.error());
    else if (*left) seen += "<" + std::string(line) + ">";
    return seen;
}

/// What a reader makes of a stream: its response or its error, and what was handed out.
struct reading {
    std::string text;
    std::string handed_out;
    std::string problem;
    bool answered = false;
};

void append_response(std::string& out, const ports::chat_response& response) {
    out += response.id + "|" + response.model + "|" + response.text + "|" + response.refusal + "|";
    for (const auto& call : response.tool_calls) {
        out += call.id + "(" + call.name + call.arguments_json + call.signature + ")";
    }
    for (const auto& part : response.reasoning) {
        out += "{" + part.text + ";" + part.signature + ";" + part.opaque + "}";
    }
    out += to_string(response.finish);
    if (!response.usage) return;
    for (const std::int64_t count : {response.usage->input, response.usage->output,
                                     response.usage->cached, response.usage->reasoning}) {
        out += "," + std::to_string(count);
    }
}

reading read(providers::chat_codec& codec, std::string_view stream, std::uint32_t cuts) {
    reading created;
    const auto reader = codec.open_stream();
    std::optional<error> failure;
    const ports::chat_delta_sink sink = [&](std::string_view text) -> result<void> {
        created.handed_out += text;
        return {};
    };
    in_pieces(stream, cuts, [&](std::string_view piece) {
        const result<void> fed = reader->feed(piece, sink);
        if (!fed) failure = fed.error();
        if (reader->so_far().text != created.handed_out) {
            created.problem = "what was handed out is not the text so far";
        }
        if (!created.handed_out.empty() && !reader->started()) {
            created.problem = "text was handed out, but the stream has not started";
        }
        return fed.has_value();
    });
    if (!failure) {
        const result<ports::chat_response> response = reader->finish();
        if (response) {
            created.answered = true;
            append_response(created.text, *response);
            return created;
        }
        failure = response.error();
    }
    if (failure->code().category() != ports::llm_category()) {
        created.problem = "an error of another kind: " + failure->message();
    }
    created.text = failure->code().message() + "|" + failure->message();
    const auto* partial =
        dynamic_cast<const ports::partial_response*>(failure->info().payload.get());
    if (partial) append_response(created.text, partial->so_far);
    else created.problem = "an error without what came until then: " + failure->message();
    return created;
}

template <class Codec>
std::unique_ptr<providers::chat_codec> taken(result<Codec> outcome) {
    return std::move(outcome).value();
}

} // namespace

std::string check_sse(std::string_view stream, std::uint32_t cuts) {
    const std::string whole = sse_events(stream, 0);
    const std::string pieces = sse_events(stream, cuts);
    return whole == pieces ? std::string() : "whole " + whole + "\npieces " + pieces;
}

std::string check_ndjson(std::string_view stream, std::uint32_t cuts) {
    const std::string whole = ndjson_lines(stream, 0);
    const std::string pieces = ndjson_lines(stream, cuts);
    return whole == pieces ? std::string() : "whole " + whole + "\npieces " + pieces;
}

chat_stream_check::chat_stream_check() {
    codecs_.push_back(taken(providers::make_openai_codec({})));
    codecs_.push_back(taken(providers::make_responses_codec({})));
    codecs_.push_back(taken(providers::make_anthropic_codec({})));
    codecs_.push_back(taken(providers::make_gemini_codec({})));
    codecs_.push_back(taken(providers::make_ollama_codec({})));
}

std::string chat_stream_check::run(std::string_view bytes) {
    if (bytes.size() < 2) return {};
    providers::chat_codec& codec = *codecs_[static_cast<unsigned char>(bytes[0]) % codecs_.size()];
    const std::uint32_t cuts = 1 + static_cast<unsigned char>(bytes[1]);
    bytes.remove_prefix(2);
    const reading whole = read(codec, bytes, 0);
    const reading pieces = read(codec, bytes, cuts);
    ++(whole.answered ? responses : errors);
    for (const reading* one : {&whole, &pieces}) {
        if (!one->problem.empty()) return one->problem;
    }
    if (whole.text != pieces.text) return "whole " + whole.text + "\npieces " + pieces.text;
    if (whole.handed_out != pieces.handed_out) return "other text was handed out in pieces";
    return {};
}

} // namespace heddle::fuzzing
