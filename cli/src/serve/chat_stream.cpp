#include "serve/chat_stream.hpp"

#include <utility>

namespace heddle::cli {

namespace {

std::string event(const json& data) { return "data: " + data.to_string() + "\n\n"; }

} // namespace

chat_stream::chat_stream(http::response_writer& response, json::object envelope)
    : response_(response), envelope_(std::move(envelope)) {
    envelope_.set("object", "chat.completion.chunk");
}

std::string chat_stream::chunk(json::object delta, json finish) const {
    json::object choice{{"index", 0}, {"delta", std::move(delta)}};
    choice.set("finish_reason", std::move(finish));
    json::object one = envelope_;
    one.set("choices", json::array{json(std::move(choice))});
    return event(json(std::move(one)));
}

coro::task<result<void>> chat_stream::add(std::string text) {
    std::string events;
    if (!has_begun()) {
        http::response_head head;
        head.content_type = "text/event-stream";
        head.fields.push_back({"Cache-Control", "no-cache"});
        result<void> started = co_await response_.start(std::move(head));
        if (!started) co_return started;
        events = chunk({{"role", "assistant"}, {"content", ""}}, json());
    }
    text_ += text;
    if (!text.empty()) events += chunk({{"content", std::move(text)}}, json());
    result<void> sent = co_await response_.write(std::move(events));
    co_return sent;
}

coro::task<result<void>> chat_stream::finish(const usage* used) {
    std::string events = chunk({}, "stop");
    if (used != nullptr) {
        json::object last = envelope_;
        last.set("choices", json::array());
        last.set("usage", chat_usage(*used));
        events += event(json(std::move(last)));
    }
    events += "data: [DONE]\n\n";
    result<void> sent = co_await response_.write(std::move(events));
    co_return sent;
}

coro::task<result<void>> chat_stream::fail(json body) {
    std::string last = event(body);
    result<void> sent = co_await response_.write(std::move(last));
    co_return sent;
}

json chat_usage(const usage& used) {
    return json::object{{"prompt_tokens", used.input_tokens},
                        {"completion_tokens", used.output_tokens},
                        {"total_tokens", used.input_tokens + used.output_tokens}};
}

} // namespace heddle::cli
