#include "codec.hpp"

#include "common/json_reader.hpp"
#include "common/json_writer.hpp"
#include "common/request_parts.hpp"
#include "common/response_parts.hpp"
#include "common/service_address.hpp"

#include <heddle/providers/common/sse_parser.hpp>

namespace heddle::providers {
namespace tiny {
namespace {

using ports::chat_response;
using ports::http_response;
using wall_time = std::chrono::system_clock::time_point;

/// {"fault": {"kind": …, "text": …}} is how this service reports what went wrong.
bool read_fault(const json::object& root, service_failure& failure) {
    const json::object* fault = object_member(root, "fault");
    if (!fault) return false;
    failure.code = text_member(*fault, "kind");
    failure.message = text_member(*fault, "text");
    return true;
}

void read_usage(const json::object& root, chat_response& response) {
    const json::object* counts = object_member(root, "tokens");
    if (!counts) return;
    response.usage =
        reported_usage(reported_tokens(*counts, "in"), reported_tokens(*counts, "out"));
}

/// Events {"piece": "text"}, and at the end {"over": true, "tokens": …}.
class stream final : public chat_stream_reader {
public:
    explicit stream(json_reader& reader) : reader_(reader) {}

    result<void> feed(std::string_view piece, const ports::chat_delta_sink& on_delta) override {
        parser_.feed(piece);
        for (sse_event event;;) {
            const result<bool> got = parser_.next(event);
            if (!got) return with_so_far(reader_.protocol_error(got.error().message()), response_);
            if (!*got) return {};
            HEDDLE_CHECK(take(event.data, on_delta));
        }
    }
    result<chat_response> finish() override {
        if (!over_) return ended_early(reader_.options().provider_name, response_);
        return std::move(response_);
    }
    bool is_whole() const noexcept override { return over_; }
    bool has_ended() const noexcept override { return over_; }
    bool started() const noexcept override { return !response_.text.empty(); }
    const chat_response& so_far() const noexcept override { return response_; }

private:
    result<void> take(std::string_view data, const ports::chat_delta_sink& on_delta) {
        auto event = read_event(reader_, data);
        if (!event) return with_so_far(std::move(event).error(), response_);
        const json::object& root = event->get_object();
        service_failure failure;
        if (read_fault(root, failure)) {
            return with_so_far(reader_.service_error(failure), response_);
        }
        over_ = over_ || is_true(root, "over");
        read_usage(root, response_);
        const std::string_view text = text_member(root, "piece");
        if (text.empty()) return {};
        response_.text += text;
        if (!on_delta) return {};
        return on_delta(text); // last, so that the text so far holds it
    }

    json_reader& reader_;
    sse_parser parser_;
    chat_response response_;
    bool over_ = false;
};

class codec final : public chat_codec {
public:
    codec(options chosen, const base_url& url)
        : options_(std::move(chosen)), prefix_(url.prefix),
          reader_({options_.name, &options_.api_key}) {}

    std::string_view provider_name() const noexcept override { return options_.name; }

    result<encoded_request> encode(const ports::chat_request& request,
                                   response_mode mode) override {
        if (request.messages.size() != 1) {
            return invalid_request("the service takes one message and no more");
        }
        if (!request.tools.empty()) return invalid_request("the service knows no tools");
        json_writer body;
        body.begin_object();
        body.key("model").string(request.model);
        body.key("prompt").string(request.messages.front().text);
        if (mode == response_mode::stream) body.key("pieces").boolean(true);
        for (const ports::extra_parameter& extra : request.extra) {
            const bool own = is_among(extra.name, {"model", "prompt", "pieces"});
            HEDDLE_CHECK(check_extra(extra, own));
            body.foreign_key(extra.name).raw(extra.value_json);
        }
        body.end_object();
        encoded_request encoded;
        encoded.target = prefix_ + "/ask";
        encoded.headers = headers();
        encoded.headers.push_back({"content-type", "application/json", false});
        encoded.body = std::move(body).take();
        return encoded;
    }

    result<chat_response> decode(const http_response& received, wall_time wall_now) override {
        HEDDLE_TRY(const json::value tree, read_object(reader_, received, wall_now, &read_fault));
        const json::object& root = tree.get_object();
        chat_response response;
        read_usage(root, response); // first: it is paid, whatever else is wrong
        if (!member(root, "answer")) {
            return with_so_far(reader_.protocol_error("the response holds no text"), response);
        }
        response.text = text_member(root, "answer");
        return response;
    }

    bool is_stream(const http_response& head) const noexcept override {
        return is_success_of_type(head, "text/event-stream");
    }
    std::unique_ptr<chat_stream_reader> open_stream() override {
        return std::make_unique<stream>(reader_);
    }
    rate_limit_headers read_limits(const http_response& head, wall_time) const override {
        rate_limit_headers read;
        if (const auto left = head.header("x-left")) read.requests_remaining = parse_count(*left);
        return read;
    }

    encoded_request encode_ping() const override {
        encoded_request request;
        request.method = "GET";
        request.target = prefix_ + "/models";
        request.headers = headers();
        return request;
    }
    result<std::vector<std::string>> decode_ping(const http_response& received,
                                                 wall_time wall_now) override {
        HEDDLE_TRY(const json::value tree, read_object(reader_, received, wall_now, &read_fault));
        return read_names(reader_, tree.get_object(), "models", "name");
    }

private:
    ports::http_headers headers() const {
        if (options_.api_key.empty()) return {};
        return {{"x-key", std::string(options_.api_key.reveal()), true}}; // true: never shown
    }

    options options_;
    std::string prefix_;
    json_reader reader_;
};

} // namespace
} // namespace tiny

result<std::unique_ptr<http_chat_provider>> make_tiny_provider(ports::http_port& http,
                                                               tiny::options options,
                                                               log_port& log) {
    HEDDLE_TRY(const base_url url,
               check_address(options.name, options.base_url, options.api_key, log));
    call_options calls = options;
    return http_chat_provider::make(http, url.origin,
                                    std::make_unique<tiny::codec>(std::move(options), url),
                                    std::move(calls), log);
}

} // namespace heddle::providers
