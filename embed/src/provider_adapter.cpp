#include "provider_adapter.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/json.hpp>
#include <heddle/ports/send_gate.hpp>

#include <boost/asio/post.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace heddle::embed {

namespace {

model_message::role role_of(ports::chat_role role) noexcept {
    switch (role) {
    case ports::chat_role::system: return model_message::role::system;
    case ports::chat_role::user: return model_message::role::user;
    case ports::chat_role::assistant: return model_message::role::assistant;
    case ports::chat_role::tool: return model_message::role::tool;
    }
    return model_message::role::user;
}

/// What a model wrote, which may be no JSON.
json json_of(const std::string& text) {
    auto parsed = json::parse(text);
    return parsed ? *std::move(parsed) : json(text);
}

model_message message_of(const ports::chat_message& from) {
    model_message message;
    message.from = role_of(from.role);
    message.text = from.text;
    for (const ports::tool_call& each : from.tool_calls)
        message.tool_calls.push_back({each.id, each.name, json_of(each.arguments_json)});
    message.tool_call_id = from.tool_call_id;
    message.tool_name = from.tool_name;
    return message;
}

model_request request_of(const ports::chat_request& asked, bool streamed) {
    model_request request;
    request.model = asked.model;
    for (const ports::chat_message& each : asked.messages)
        request.messages.push_back(message_of(each));
    for (const ports::tool_spec& each : asked.tools)
        request.tools.push_back({each.name, each.description, json_of(each.parameters_json)});
    request.tool_choice = asked.tool_choice;
    request.temperature = asked.temperature;
    request.max_output_tokens = asked.max_output_tokens;
    request.seed = asked.seed;
    request.stop = asked.stop;
    if (asked.format.type == ports::response_format::kind::json_schema) {
        if (auto schema = json::parse(asked.format.schema_json))
            request.schema = *std::move(schema);
    }
    request.streamed = streamed;
    return request;
}

ports::chat_response response_of(const ports::chat_request& asked, model_response got) {
    ports::chat_response response;
    response.model = asked.model;
    response.text = utf8::replace_invalid(std::move(got.text));
    for (model_tool_call& each : got.tool_calls) {
        response.tool_calls.push_back({utf8::replace_invalid(std::move(each.id)),
                                       utf8::replace_invalid(std::move(each.name)),
                                       each.arguments.to_string()});
    }
    if (!response.tool_calls.empty()) response.finish = ports::finish_reason::tool_calls;
    if (got.input_tokens || got.output_tokens) {
        ports::token_usage used;
        used.input = got.input_tokens.value_or(0);
        used.output = got.output_tokens.value_or(0);
        used.input_reported = got.input_tokens.has_value();
        used.output_reported = got.output_tokens.has_value();
        response.usage = used;
    }
    return response;
}

/// An error that tasks understand: those of the host are failures of a service.
error failure_of(const std::string& provider, error failure) {
    if (failure.is_cancelled() || failure.code().category() == ports::llm_category())
        return failure;
    error created(ports::make_error_code(ports::llm_errc::server),
                  provider + ": " + failure.message());
    if (failure.info().retry_after)
        created = std::move(created).with_retry_after(*failure.info().retry_after);
    return std::move(created)
        .with_retryable(failure.info().retryable.value_or(false))
        .with_cause(std::move(failure));
}

/// Hands pieces on, as whole characters, until the request has ended; one that comes later reaches
/// nobody. The host may report them on any thread, also when the shard is gone.
class piece_receiver : public std::enable_shared_from_this<piece_receiver> {
public:
    piece_receiver(coro::executor home, ports::chat_delta_sink sink)
        : home_(std::move(home)), sink_(std::move(sink)) {}

    void report(std::string_view text) {
        {
            const std::lock_guard held(mutex_);
            if (!home_) return;
            // Behind those that were reported on other threads before.
            if (on_their_way_ > 0 || !home_->running_in_this_thread()) {
                ++on_their_way_;
                boost::asio::post(*home_, [self = shared_from_this(), text = std::string(text)] {
                    self->arrive(text);
                });
                return;
            }
        }
        take(text);
    }
    /// The provider has completed the request: what it reports from now on is ignored.
    void close() {
        const std::lock_guard held(mutex_);
        home_.reset();
    }
    /// The request has ended; `whole`: as it should. Errors: of who has received the pieces.
    [[nodiscard]] std::optional<error> end(bool whole) {
        close();
        if (whole && !rest_.empty()) pass(utf8::replace_invalid(std::move(rest_)));
        sink_ = nullptr;
        return std::move(failure_);
    }

private:
    // On the thread of the shard, as end().
    void arrive(std::string_view text) {
        {
            const std::lock_guard held(mutex_);
            --on_their_way_;
        }
        take(text);
    }
    /// Keeps a character that is not complete for the next piece.
    void take(std::string_view text) {
        rest_ += text;
        std::string rest = rest_.substr(rest_.size() - utf8::incomplete_end(rest_));
        rest_.resize(rest_.size() - rest.size());
        if (!rest_.empty()) pass(utf8::replace_invalid(std::move(rest_)));
        rest_ = std::move(rest);
    }
    void pass(const std::string& text) {
        if (failure_ || !sink_) return;
        if (result<void> passed = sink_(text); !passed) failure_ = passed.error();
    }

    std::mutex mutex_;
    std::optional<coro::executor> home_; ///< absent: no more pieces
    std::size_t on_their_way_ = 0;       ///< to the thread of the shard
    std::string rest_;                   ///< the beginning of a character
    ports::chat_delta_sink sink_;
    std::optional<error> failure_;
};

class provider_adapter final : public ports::llm_port {
public:
    provider_adapter(std::shared_ptr<model_provider> provider, host_patience patience)
        : provider_(std::move(provider)), patience_(patience), name_(provider_->name()) {}

    std::string_view provider_name() const noexcept override { return name_; }

    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): the port requires it
    coro::task<result<ports::chat_response>> complete(const ports::chat_request& request,
                                                      coro::call_context context) override {
        return ask(request, {}, context);
    }

    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): as in complete
    coro::task<result<ports::chat_response>> stream(const ports::chat_request& request,
                                                    ports::chat_delta_sink on_delta,
                                                    coro::call_context context) override {
        return ask(request, std::move(on_delta), context);
    }

private:
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): as in complete
    coro::task<result<ports::chat_response>> ask(const ports::chat_request& request,
                                                 ports::chat_delta_sink on_delta,
                                                 coro::call_context context) {
        const bool streamed = static_cast<bool>(on_delta);
        if (request.sends) { // a recorded call notes it first
            const result<ports::send_terms> terms =
                co_await request.sends->before_sending(request, {}, context);
            if (!terms) co_return terms.error();
        }
        auto pieces =
            std::make_shared<piece_receiver>(context.loop->get_executor(), std::move(on_delta));
        auto begin = [&](call about, model_provider::completion done) {
            provider_->complete(
                request_of(request, streamed), std::move(about),
                [pieces](std::string_view text) { pieces->report(text); },
                [pieces, done = std::move(done)](result<model_response> how) {
                    pieces->close();
                    done(std::move(how));
                });
        };
        result<model_response> ended = co_await perform_by_host<model_response>(
            "the provider '" + name_ + "'", {}, patience_, context, std::move(begin));
        std::optional<error> failure = pieces->end(ended.has_value());
        if (failure) co_return *std::move(failure);
        if (!ended) co_return failure_of(name_, std::move(ended).error());
        co_return response_of(request, *std::move(ended));
    }

    std::shared_ptr<model_provider> provider_;
    host_patience patience_;
    std::string name_;
};

} // namespace

std::unique_ptr<ports::llm_port> make_provider_adapter(std::shared_ptr<model_provider> provider,
                                                       host_patience patience) {
    return std::make_unique<provider_adapter>(std::move(provider), patience);
}

} // namespace heddle::embed
