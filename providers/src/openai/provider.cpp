#include <heddle/providers/openai/provider.hpp>

#include <heddle/coro/wait_point.hpp>

#include "openai/base_url.hpp"

#include <algorithm>
#include <cstdio>

namespace heddle::providers {

namespace openai {
namespace {

using coro::call_context;
using coro::task;
using ports::chat_delta_sink;
using ports::chat_request;
using ports::chat_response;
using ports::http_request;
using ports::http_response;

error wrong_setting(const std::string& name, std::string what) {
    return error(ports::make_error_code(ports::llm_errc::configuration),
                 name + ": " + std::move(what));
}

std::string trimmed(std::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return std::string(text);
}

/// A field value that cannot end its line (RFC 9110, 5.5); ASCII only.
bool fits_header(std::string_view value) noexcept {
    return std::all_of(value.begin(), value.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

/// A thin port over the codec. The loop of tries stands in each of the two calls, and not in one
/// coroutine of its own below them: that would cost every call a frame and a resumption.
class provider final : public ports::llm_port {
public:
    provider(ports::http_port& http, options chosen, std::shared_ptr<ports::http_origin> origin,
             std::string target, wire_dialect dialect, log_port& log)
        : http_(http), options_(std::move(chosen)), origin_(std::move(origin)),
          target_(std::move(target)), dialect_(dialect),
          headers_(request_headers(options_.api_key, options_.organization, options_.project)),
          jitter_(make_jitter(options_.retry)), log_(log), decoder_(make_decode_options()) {}

    provider(const provider&) = delete;
    provider& operator=(const provider&) = delete;

    std::string_view provider_name() const noexcept override { return options_.name; }

    // `request` by reference: the port says that it outlives the call.
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
    task<result<chat_response>> complete(const chat_request& request,
                                         call_context context) override {
        if (auto stop = context.stop_error()) co_return *std::move(stop);
        retry_state tries(options_.retry, jitter_);
        for (;;) {
            auto prepared = prepare(request, answer_mode::whole, tries.attempts());
            if (!prepared) co_return std::move(prepared).error();
            result<http_response> answer = co_await http_.exchange(*std::move(prepared), context);
            result<chat_response> read = read_answer(answer);
            if (read) {
                read->attempts = tries.attempts();
                co_return read;
            }
            const retry_decision decision = decide(tries, read.error(), context);
            if (!decision.again) co_return read;
            result<void> waited = co_await coro::sleep_until(context, decision.at);
            if (!waited) co_return std::move(waited).error();
        }
    }

    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): as in complete
    task<result<chat_response>> stream(const chat_request& request, chat_delta_sink on_delta,
                                       call_context context) override {
        if (auto stop = context.stop_error()) co_return *std::move(stop);
        retry_state tries(options_.retry, jitter_);
        for (;;) {
            auto prepared = prepare(request, answer_mode::stream_with_usage, tries.attempts());
            if (!prepared) co_return std::move(prepared).error();
            streamed_answer receiving(decoder_, on_delta, options_.limits.max_body_bytes);
            // Both refer to `receiving`, which stays until the call below has ended.
            ports::http_head_sink on_head = [&receiving](const http_response& head) {
                return receiving.begin(head);
            };
            ports::http_body_sink on_piece = [&receiving](std::string_view piece) {
                return receiving.take(piece);
            };
            result<http_response> answer = co_await http_.stream(
                *std::move(prepared), std::move(on_head), std::move(on_piece), context);
            result<chat_response> read = read_streamed(receiving, answer);
            if (read) {
                read->attempts = tries.attempts();
                co_return read;
            }
            // What has been handed out cannot be taken back: no second try after it.
            if (receiving.handed_out()) co_return read;
            const retry_decision decision = decide(tries, read.error(), context);
            if (!decision.again) co_return read;
            result<void> waited = co_await coro::sleep_until(context, decision.at);
            if (!waited) co_return std::move(waited).error();
        }
    }

private:
    /// Where the pieces of a streamed answer go. A server that does not stream, or answers with an
    /// error, sends one JSON text, which is kept and read at the end.
    class streamed_answer {
    public:
        streamed_answer(chat_decoder& decoder, const chat_delta_sink& on_delta,
                        std::size_t max_body)
            : decoder_(decoder), on_delta_(on_delta), events_(decoder), max_body_(max_body) {}

        result<void> begin(const http_response& head) {
            whole_.status = head.status;
            whole_.headers = head.headers;
            const std::string_view type = head.header("content-type").value_or("");
            is_stream_ =
                head.status >= 200 && head.status < 300 && type.starts_with("text/event-stream");
            return {};
        }
        result<void> take(std::string_view piece) {
            if (is_stream_) return events_.feed(piece, on_delta_);
            if (whole_.body.size() + piece.size() > max_body_) {
                return error(ports::make_error_code(ports::http_errc::body_too_large),
                             "the answer's body is too large");
            }
            whole_.body += piece;
            return {};
        }
        result<chat_response> finish() {
            if (is_stream_) return events_.finish();
            result<chat_response> read =
                decoder_.decode_response(whole_, std::chrono::system_clock::now());
            if (!read || !on_delta_ || read->text.empty()) return read;
            HEDDLE_CHECK(on_delta_(read->text));
            return read;
        }
        bool handed_out() const noexcept { return events_.started(); }
        error with_so_far(error failure) const {
            if (!handed_out() || failure.info().payload) return failure;
            return std::move(failure).with_payload(
                std::make_shared<ports::partial_response>(events_.so_far()));
        }

    private:
        chat_decoder& decoder_;
        const chat_delta_sink& on_delta_;
        chat_stream events_;
        http_response whole_;
        std::size_t max_body_;
        bool is_stream_ = false;
    };

    decode_options make_decode_options() const {
        decode_options chosen;
        chosen.provider_name = options_.name;
        chosen.hidden = &options_.api_key;
        return chosen;
    }

    result<http_request> prepare(const chat_request& request, answer_mode mode,
                                 std::uint32_t attempt) {
        HEDDLE_TRY(std::string body, encode_request(request, {mode, dialect_}, &known_json_));
        http_request prepared;
        prepared.origin = origin_;
        prepared.target = target_;
        prepared.headers = headers_;
        if (attempt > 1) { // as the official clients say it
            prepared.headers.push_back(
                {"x-stainless-retry-count", std::to_string(attempt - 1), false});
        }
        prepared.body = std::move(body);
        prepared.limits = options_.limits;
        return prepared;
    }

    result<chat_response> read_answer(result<http_response>& answer) {
        if (!answer) return from_http_error(std::move(answer).error(), options_.name);
        return decoder_.decode_response(*answer, std::chrono::system_clock::now());
    }

    result<chat_response> read_streamed(streamed_answer& receiving, result<http_response>& answer) {
        if (answer) return receiving.finish();
        return receiving.with_so_far(from_http_error(std::move(answer).error(), options_.name));
    }

    retry_decision decide(retry_state& tries, const error& failure, const call_context& context) {
        const coro::clock::time_point now = context.loop->now();
        const retry_decision decision = tries.after(failure, now, context.until);
        if (log_.enabled(log_level::debug)) {
            std::string line = failure.message(); // begins with the provider's name
            if (decision.again) {
                const auto wait = std::chrono::ceil<std::chrono::milliseconds>(decision.at - now);
                line += "; try " + std::to_string(tries.attempts()) + " in " +
                        std::to_string(wait.count()) + " ms";
            } else {
                line += "; ";
                line += decision.why_not;
            }
            log_.write(log_level::debug, "llm", line);
        }
        return decision;
    }

    ports::http_port& http_;
    options options_;
    std::shared_ptr<ports::http_origin> origin_;
    std::string target_;
    wire_dialect dialect_;
    std::vector<ports::http_header> headers_;
    json_memo known_json_;
    retry_state::random jitter_;
    log_port& log_;
    chat_decoder decoder_;
};

} // namespace
} // namespace openai

result<std::unique_ptr<ports::llm_port>> make_openai_provider(ports::http_port& http,
                                                              openai::options options,
                                                              coro::event_loop&, log_port& log) {
    using openai::wire_dialect;
    using openai::wrong_setting;
    HEDDLE_TRY(const openai::base_url url, openai::parse_base_url(options.base_url));
    const bool official = url.host == "api.openai.com";
    options.api_key = secret(openai::trimmed(options.api_key.reveal()));
    if (official && options.api_key.empty()) {
        return wrong_setting(options.name, "no API key")
            .with_hint("set OPENAI_API_KEY, or use another base URL or the scripted model");
    }
    if (!openai::fits_header(options.api_key.reveal())) {
        return wrong_setting(options.name, "the API key holds a character that no key has");
    }
    if (!openai::fits_header(options.organization) || !openai::fits_header(options.project)) {
        return wrong_setting(options.name, "organization or project cannot be sent in a header");
    }
    if (!url.secure && !options.api_key.empty() && !openai::is_loopback_name(url.host)) {
        log.write(log_level::warn, "llm",
                  options.name + ": the API key goes to " + url.host + " without encryption");
    }
    auto origin = http.origin(url.origin);
    if (!origin) {
        return wrong_setting(options.name, origin.error().message()).with_cause(origin.error());
    }
    const wire_dialect dialect =
        options.dialect.value_or(official ? wire_dialect::openai : wire_dialect::compatible);
    std::string target = url.prefix + std::string(openai::chat_path);
    return std::unique_ptr<ports::llm_port>(std::make_unique<openai::provider>(
        http, std::move(options), *std::move(origin), std::move(target), dialect, log));
}

} // namespace heddle::providers
