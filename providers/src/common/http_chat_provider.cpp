#include <heddle/providers/common/http_chat_provider.hpp>

#include <heddle/coro/wait_point.hpp>
#include <heddle/ports/send_gate.hpp>

#include "common/response_redaction.hpp"
#include "common/sending.hpp"
#include "common/service_address.hpp"
#include "common/service_error.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace heddle::providers {

using coro::call_context;
using coro::task;
using ports::chat_delta_sink;
using ports::chat_request;
using ports::chat_response;
using ports::http_request;
using ports::http_response;

namespace {

/// What tokenizers of English make of text, about; a limiter corrects it by what was used.
constexpr std::size_t bytes_in_a_token = 4;
constexpr std::int64_t tokens_around_a_message = 4;

/// Notifies the gate when the request has been written: the limits of a minute count from then. A
/// request that was never written is free of charge.
class sent_notice final : public ports::sent_listener {
public:
    explicit sent_notice(const call_permit& permit) noexcept : permit_(permit) {}
    void on_sent() noexcept override {
        went_ = true;
        permit_.sent();
    }
    [[nodiscard]] bool went() const noexcept { return went_; }

private:
    const call_permit& permit_;
    bool went_ = false;
};

error body_too_large() {
    return error(ports::make_error_code(ports::http_errc::body_too_large),
                 "the response body is too large");
}

} // namespace

struct http_chat_provider::parts {
    ports::http_port& http;
    std::shared_ptr<ports::http_origin> origin;
    std::unique_ptr<chat_codec> codec;
    call_options options;
    log_port& log;
};

/// Where the pieces of a streamed response go. A server that does not stream, or responds with an
/// error, sends one whole text, which is kept and read at the end.
class http_chat_provider::streamed_response {
public:
    streamed_response(chat_codec& codec, const redactor& secrets, const chat_delta_sink& receiver,
                      call_permit& permit, std::size_t max_body)
        : codec_(codec), receiver_(receiver), permit_(permit), shown_(secrets),
          max_body_(max_body) {
        if (!receiver) return;
        sink_ = [this](std::string_view text) {
            taken_ += text.size();
            return hand_out(shown_.take(text));
        };
    }
    streamed_response(const streamed_response&) = delete;
    streamed_response& operator=(const streamed_response&) = delete;

    result<void> begin(const http_response& head) {
        if (head.status < 300) permit_.answering(); // an error warms no prompt
        whole_.status = head.status;
        whole_.headers = head.headers;
        if (codec_.is_stream(head)) events_ = codec_.open_stream();
        return {};
    }
    result<void> take(std::string_view piece) {
        if (has_enough_) return {};
        if (piece.size() > max_body_ - received_) return body_too_large();
        received_ += piece.size();
        if (!events_) {
            whole_.body += piece;
            return {};
        }
        result<void> taken = events_->feed(piece, sink_);
        has_enough_ = events_->has_ended();
        if (taken || refused_ || !events_->is_whole()) return taken;
        // Whatever is wrong after the end of the response is not a part of it.
        has_enough_ = true;
        return {};
    }
    /// True once nothing that follows matters.
    const bool& has_enough() const noexcept { return has_enough_; }
    /// Whether the response is complete, and paid for, although the exchange has failed or was
    /// cancelled.
    bool is_whole() const noexcept { return events_ && !refused_ && events_->is_whole(); }
    result<chat_response> finish(std::chrono::system_clock::time_point wall_now) {
        result<chat_response> read = events_ ? events_->finish() : codec_.decode(whole_, wall_now);
        if (!read || !sink_) return read;
        if (!events_ && !read->text.empty()) HEDDLE_CHECK(sink_(read->text));
        const result<void> last = hand_out(shown_.finish());
        if (taken_ == read->text.size()) shown_.apply_to(read->text);
        if (last) return read;
        if (last.error().info().payload) return last.error();
        return error(last.error())
            .with_payload(std::make_shared<ports::partial_response>(*std::move(read)));
    }
    /// Null before the head has come.
    const http_response* head() const noexcept { return whole_.status != 0 ? &whole_ : nullptr; }
    /// The receiver ended the call.
    bool refused() const noexcept { return refused_; }
    /// Whether nothing may be tried again, whatever the error looks like: what has been handed out
    /// cannot be taken back, unless the caller asked for that.
    bool is_final(bool may_retry_after_text) const noexcept {
        return refused_ || (handed_out() && !may_retry_after_text);
    }
    error with_so_far(error failure) const {
        if (!events_ || failure.info().payload) return failure;
        if (!handed_out() && !events_->so_far().usage) return failure;
        return std::move(failure).with_payload(
            std::make_shared<ports::partial_response>(events_->so_far()));
    }

private:
    bool handed_out() const noexcept { return events_ && events_->started(); }
    result<void> hand_out(std::string_view text) {
        if (text.empty()) return {};
        result<void> taken = receiver_(text);
        if (!taken) refused_ = true;
        return taken;
    }

    chat_codec& codec_;
    const chat_delta_sink& receiver_;
    call_permit& permit_;
    chat_delta_sink sink_; // null if nobody listens
    std::unique_ptr<chat_stream_reader> events_;
    http_response whole_;
    text_redactor shown_;
    std::size_t taken_ = 0; // bytes of the text, as it came
    std::size_t max_body_;
    std::size_t received_ = 0;
    bool refused_ = false;
    bool has_enough_ = false;
};

result<std::unique_ptr<http_chat_provider>> http_chat_provider::make(
    ports::http_port& http, std::string_view origin, std::unique_ptr<chat_codec> codec,
    call_options options, log_port& log) {
    auto found = http.origin(origin);
    if (!found) {
        return wrong_setting(codec->provider_name(), found.error().message())
            .with_cause(found.error());
    }
    return std::unique_ptr<http_chat_provider>(new http_chat_provider(
        parts{http, *std::move(found), std::move(codec), std::move(options), log}));
}

http_chat_provider::http_chat_provider(parts result)
    : http_(result.http), origin_(std::move(result.origin)), codec_(std::move(result.codec)),
      options_(std::move(result.options)), secrets_(secrets_in(codec_->encode_ping().headers)),
      jitter_(make_jitter(options_.retry)), log_(result.log) {}

http_chat_provider::~http_chat_provider() = default;

std::string_view http_chat_provider::provider_name() const noexcept {
    return codec_->provider_name();
}

bool http_chat_provider::caches_prompts() const noexcept { return codec_->caches_prompts(); }

/// What a call carries from one attempt to the next.
struct http_chat_provider::attempts {
    explicit attempts(const retry_state& of) : tries(of) {}

    /// Number of requests, with the one under way.
    std::uint32_t count() const noexcept { return tries.attempts() + resent; }
    /// Ends the call between two requests: `why`, with what was sent before. The last of these is
    /// the last request of the call, unless it is among the lost ones already.
    error ended_by(error why) {
        if (failed)
            return ports::ended_after(std::move(why), *failed, std::move(lost), count() - 1);
        return ports::between_attempts(std::move(why), std::move(lost), count() - 1);
    }

    retry_state tries;
    std::optional<error> failed;           // the attempt before
    std::uint32_t resent = 0;              // by the HTTP client itself
    std::vector<ports::lost_request> lost; // of the attempts before
    std::vector<std::string> warnings;
};

// Both return the coroutine that does the work: awaiting it in one of their own would cost every
// call a frame and a resumption.
//
// `request` by reference: the port requires that it outlives the call.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
task<result<chat_response>> http_chat_provider::complete(const chat_request& request,
                                                         call_context context) {
    return call(request, response_mode::whole, {}, context);
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): as in complete
task<result<chat_response>> http_chat_provider::stream(const chat_request& request,
                                                       chat_delta_sink on_delta,
                                                       call_context context) {
    return call(request, response_mode::stream, std::move(on_delta), context);
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): as in complete
task<result<chat_response>> http_chat_provider::call(const chat_request& request,
                                                     response_mode mode, chat_delta_sink on_delta,
                                                     call_context context) {
    if (auto stop = context.stop_error()) co_return std::move(*stop).with_attempts(0);
    attempts so_far(
        retry_state(options_.retry, jitter_, start_of(context), options_.gate != nullptr));
    for (;;) {
        call_permit permit;
        if (options_.gate) {
            const call_demand demand = demand_of(request, so_far.tries.attempts());
            permit = options_.gate->try_acquire(demand);
            if (!permit) {
                result<call_permit> granted = co_await options_.gate->acquire(demand, context);
                if (!granted) co_return not_admitted(std::move(granted).error(), so_far);
                permit = *std::move(granted);
            }
        }
        std::unique_ptr<const chat_request> bounded; // in place of the request
        if (request.sends) {
            auto admitted = co_await admit(request, so_far.failed, so_far.lost, context);
            if (!admitted) co_return not_admitted(std::move(admitted).error(), so_far);
            bounded = *std::move(admitted);
        }
        if (so_far.failed) {
            ports::add_lost(so_far.lost, *so_far.failed);
            so_far.failed.reset();
        }
        auto prepared = prepare(bounded ? *bounded : request, mode, so_far);
        if (!prepared) co_return so_far.ended_by(std::move(prepared).error());
        const std::uint32_t resent_before = so_far.resent;
        sent_notice gone(permit);
        prepared->sent = &gone;
        std::size_t received = 0;
        std::unique_ptr<streamed_response> receiving; // null: the response comes whole
        if (mode == response_mode::stream) {
            receiving = std::make_unique<streamed_response>(*codec_, secrets_, on_delta, permit,
                                                            options_.limits.max_body_bytes);
            prepared->gate = request.gate;
            prepared->enough = &receiving->has_enough();
        } else {
            prepared->received = &received;
        }
        task<result<http_response>> sending = send(*std::move(prepared), receiving.get(), context);
        result<http_response> response = co_await std::move(sending);
        const auto time_of_day = context.loop->time_of_day();
        result<chat_response> read = receiving ? read_streamed(*receiving, response, time_of_day)
                                               : read_response(response, received, time_of_day);
        const http_response* head = response ? &*response : nullptr;
        if (receiving) head = receiving->head();
        if (!response && !head && !gone.went())
            read = ports::with_nothing_sent(std::move(read).error());
        if (permit) settle(permit, head, read, time_of_day);
        if (read) {
            read->attempts = so_far.count();
            read->lost = std::move(so_far.lost);
            read->warnings = std::move(so_far.warnings);
            co_return read;
        }
        so_far.failed = std::move(read).error().with_attempts(so_far.count());
        bool is_unpaid =
            ports::is_unpaid(*so_far.failed) && ports::lost_with(*so_far.failed).empty();
        if (is_unpaid && so_far.resent != resent_before) {
            // A connection broke before this one could not be made: what went there may have
            // arrived.
            so_far.lost.emplace_back();
            is_unpaid = false;
        }
        if (request.sends && is_unpaid) request.sends->on_unpaid();
        const retry_decision decision =
            receiving && receiving->is_final(request.scheduling.retry_after_text)
                ? retry_decision{}
                : decide(so_far.tries, *so_far.failed, context);
        if (!decision.again) {
            co_return ports::with_lost(*std::move(so_far.failed), std::move(so_far.lost));
        }
        if (decision.at <= context.loop->now()) continue;
        result<void> waited = co_await coro::sleep_until(context, decision.at);
        if (!waited) co_return so_far.ended_by(std::move(waited).error());
    }
}

task<result<http_response>> http_chat_provider::send(http_request prepared,
                                                     streamed_response* receiving,
                                                     call_context context) {
    if (!receiving) return http_.exchange(std::move(prepared), context);
    return http_.stream(
        std::move(prepared),
        [receiving](const http_response& head) { return receiving->begin(head); },
        [receiving](std::string_view piece) { return receiving->take(piece); }, context);
}

result<encoded_request> http_chat_provider::encode(const chat_request& request,
                                                   response_mode mode) {
    return codec_->encode(request, mode);
}

task<result<std::vector<std::string>>> http_chat_provider::list_models(call_context context) {
    using models = result<std::vector<std::string>>;
    if (auto stop = context.stop_error()) co_return models(*std::move(stop));
    http_request prepared = prepare(codec_->encode_ping());
    prepared.idempotent = true;
    result<http_response> response = co_await http_.exchange(std::move(prepared), context);
    if (!response) {
        co_return models(from_http_error(std::move(response).error(), codec_->provider_name()));
    }
    models names = codec_->decode_ping(*response, context.loop->time_of_day());
    if (names) {
        for (std::string& each : *names) secrets_.hide(each);
    }
    co_return names;
}

coro::clock::time_point http_chat_provider::start_of(const call_context& context) const {
    if (options_.retry.total.count() <= 0) return {}; // nobody will ask
    return context.loop->now();
}

call_demand http_chat_provider::demand_of(const chat_request& request,
                                          std::uint32_t attempt) noexcept {
    std::size_t bytes = request.format.schema_json.size();
    for (const ports::chat_message& message : request.messages) {
        bytes += message.text.size();
        for (const auto& call : message.tool_calls) bytes += call.arguments_json.size();
        for (const auto& part : message.reasoning) bytes += part.text.size();
    }
    for (const ports::tool_spec& tool : request.tools) {
        bytes += tool.name.size() + tool.description.size() + tool.parameters_json.size();
    }
    call_demand demand;
    demand.request = &request;
    demand.input_tokens =
        static_cast<std::int64_t>((bytes + bytes_in_a_token - 1) / bytes_in_a_token) +
        tokens_around_a_message * static_cast<std::int64_t>(request.messages.size());
    demand.output_tokens = request.max_output_tokens.value_or(0);
    demand.attempt = attempt;
    demand.reports_sent = true;
    return demand;
}

result<http_request> http_chat_provider::prepare(const chat_request& request, response_mode mode,
                                                 attempts& so_far) {
    result<encoded_request> outcome = codec_->encode(request, mode);
    if (!outcome) {
        const error_info& why = outcome.error().info();
        return error(why.code, std::string(codec_->provider_name()) + ": " + why.message)
            .with_hint(why.hint)
            .with_retryable(false);
    }
    encoded_request encoded = *std::move(outcome);
    if (so_far.warnings.empty()) warn_of(encoded.left_out, so_far.warnings);
    const std::uint32_t attempt = so_far.tries.attempts();
    if (attempt > 1 && !options_.retry_count_header.empty()) {
        encoded.headers.push_back(
            {options_.retry_count_header, std::to_string(attempt - 1), false});
    }
    http_request prepared = prepare(std::move(encoded));
    prepared.resent = &so_far.resent;
    return prepared;
}

/// The caller is notified each time, the log once: a run makes many calls.
void http_chat_provider::warn_of(const std::vector<left_out_setting>& left_out,
                                 std::vector<std::string>& warnings) {
    for (const left_out_setting& each : left_out) {
        warnings.push_back(std::string(codec_->provider_name()) + ": " + each.name +
                           " is not sent: " + each.reason);
        if (std::find(warned_of_.begin(), warned_of_.end(), each.name) != warned_of_.end())
            continue;
        warned_of_.push_back(each.name);
        log_.write(log_level::warn, "llm", warnings.back());
    }
}

http_request http_chat_provider::prepare(encoded_request encoded) const {
    http_request prepared;
    prepared.origin = origin_;
    prepared.method = std::move(encoded.method);
    prepared.target = std::move(encoded.target);
    prepared.headers = std::move(encoded.headers);
    prepared.body = std::move(encoded.body);
    prepared.limits = options_.limits;
    return prepared;
}

result<chat_response> http_chat_provider::read_response(result<http_response>& response,
                                                        std::size_t received,
                                                        wall_time time_of_day) {
    result<chat_response> read =
        response ? without_secrets(codec_->decode(*response, time_of_day))
                 : from_http_error(std::move(response).error(), codec_->provider_name());
    if (!read) return ports::with_received(std::move(read).error(), received);
    return read;
}

result<chat_response> http_chat_provider::read_streamed(streamed_response& receiving,
                                                        result<http_response>& response,
                                                        wall_time time_of_day) {
    if (response || receiving.is_whole()) return without_secrets(receiving.finish(time_of_day));
    error failure = std::move(response).error();
    if (!receiving.refused()) {
        failure = from_http_error(std::move(failure), codec_->provider_name());
    }
    return hide_secrets(receiving.with_so_far(std::move(failure)), secrets_);
}

result<chat_response> http_chat_provider::without_secrets(result<chat_response> read) const {
    if (!read) return hide_secrets(std::move(read).error(), secrets_);
    hide_secrets(*read, secrets_);
    return read;
}

void http_chat_provider::settle(call_permit& permit, const http_response* head,
                                const result<chat_response>& read, wall_time time_of_day) const {
    call_outcome outcome;
    rate_limit_headers limits;
    if (head) {
        outcome.status = head->status;
        limits = codec_->read_limits(*head, time_of_day);
        outcome.limits = &limits;
    }
    error failure;
    if (read) {
        if (read->usage) outcome.usage = &*read->usage;
    } else {
        failure = read.error();
        outcome.failure = &failure;
        const auto* partial =
            dynamic_cast<const ports::partial_response*>(failure.info().payload.get());
        if (partial && partial->so_far.usage) outcome.usage = &*partial->so_far.usage;
    }
    permit.settle(outcome);
}

/// The gate lets no attempt pass: what the service itself reported last counts for more, if it did.
error http_chat_provider::not_admitted(error refused, attempts& so_far) const {
    std::optional<error>& failed = so_far.failed;
    if (refused.is_cancelled()) return so_far.ended_by(std::move(refused));
    const error_info& why = refused.info();
    error failure =
        failed ? error(*failed).with_trace("not tried again: " + why.message)
               : error(why.code, std::string(codec_->provider_name()) + ": " + why.message);
    if (why.retry_after) failure = std::move(failure).with_retry_after(*why.retry_after);
    if (failure.info().hint.empty()) failure = std::move(failure).with_hint(why.hint);
    // Whether it was for want of this call's time.
    if (why.cause) failure = std::move(failure).with_last_cause(*why.cause);
    failure = std::move(failure).with_retryable(false).with_attempts(so_far.count() - 1);
    return ports::with_lost(std::move(failure), std::move(so_far.lost));
}

retry_decision http_chat_provider::decide(retry_state& tries, const error& failure,
                                          const call_context& context) {
    const coro::clock::time_point now = context.loop->now();
    const retry_decision decision = tries.after(failure, now, context.until);
    if (log_.enabled(log_level::debug)) {
        std::string line = failure.message(); // begins with the provider's name
        if (decision.again && decision.at <= now) {
            line += "; attempt " + std::to_string(tries.attempts()) + " when the limiter allows it";
        } else if (decision.again) {
            const auto wait = std::chrono::ceil<std::chrono::milliseconds>(decision.at - now);
            line += "; attempt " + std::to_string(tries.attempts()) + " in " +
                    std::to_string(wait.count()) + " ms";
        } else {
            line += "; ";
            line += decision.why_not;
        }
        log_.write(log_level::debug, "llm", line);
    }
    return decision;
}

} // namespace heddle::providers
