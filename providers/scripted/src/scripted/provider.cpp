#include <heddle/scripted/provider.hpp>

#include <heddle/coro/wait_point.hpp>

#include "common/sending.hpp"
#include "common/service_error.hpp"

namespace heddle::scripted {

using namespace heddle::providers;

namespace {

using coro::call_context;
using coro::task;
using ports::chat_delta_sink;
using ports::chat_request;
using ports::chat_response;

class provider final : public ports::llm_port {
public:
    provider(std::shared_ptr<engine> rules, provider_options chosen, log_port& log)
        : rules_(std::move(rules)), options_(std::move(chosen)),
          jitter_(make_jitter(options_.retry)), log_(log) {}

    provider(const provider&) = delete;
    provider& operator=(const provider&) = delete;

    std::string_view provider_name() const noexcept override { return options_.name; }

    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): the port requires it
    task<result<chat_response>> complete(const chat_request& request,
                                         call_context context) override {
        return response_to(request, nullptr, context);
    }

    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): as in complete
    task<result<chat_response>> stream(const chat_request& request, chat_delta_sink on_delta,
                                       call_context context) override {
        result<chat_response> response = co_await response_to(request, &on_delta, context);
        co_return response;
    }

private:
    /// `request` and `on_delta` stay until this has ended: the port and stream() see to it.
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
    task<result<chat_response>> response_to(const chat_request& request,
                                            const chat_delta_sink* on_delta, call_context context) {
        retry_state tries(options_.retry, jitter_);
        std::vector<ports::lost_request> lost; // of the attempts before
        for (;;) {
            if (auto stop = context.stop_error()) {
                co_return ports::between_attempts(*std::move(stop), std::move(lost),
                                                  tries.attempts() - 1);
            }
            std::unique_ptr<const chat_request> bounded; // in place of the request
            if (request.sends) {
                auto admitted = co_await admit(request, std::nullopt, lost, context);
                if (!admitted) {
                    co_return ports::between_attempts(std::move(admitted).error(), std::move(lost),
                                                      tries.attempts() - 1);
                }
                bounded = *std::move(admitted);
            }
            outcome created = rules_->answer(bounded ? *bounded : request);
            if (created.delay.count() > 0) {
                result<void> waited =
                    co_await coro::sleep_until(context, context.loop->now() + created.delay);
                if (!waited) co_return ended(std::move(waited).error(), std::move(lost), tries);
            }
            if (auto* response = std::get_if<chat_response>(&created.response)) {
                response->attempts = tries.attempts();
                response->lost = lost;
                if (!on_delta || !*on_delta) co_return std::move(*response);
                result<void> handed_out = co_await hand_out(
                    *response, *on_delta, created.piece_delay, request.gate, context);
                if (!handed_out) {
                    co_return ended(std::move(handed_out).error(), std::move(lost), tries);
                }
                co_return std::move(*response);
            }
            const error failure = as_error(std::get<fault>(created.response));
            const retry_decision decision =
                tries.after(failure, context.loop->now(), context.until);
            if (log_.enabled(log_level::debug)) {
                std::string line = failure.message();
                line += decision.again ? "; trying again" : "; ";
                line += decision.why_not;
                log_.write(log_level::debug, "llm", line);
            }
            if (!decision.again) co_return ended(failure, std::move(lost), tries);
            ports::add_lost(lost, failure);
            result<void> waited = co_await coro::sleep_until(context, decision.at);
            if (!waited) {
                co_return ports::between_attempts(std::move(waited).error(), std::move(lost),
                                                  tries.attempts() - 1);
            }
        }
    }

    static error ended(error failure, std::vector<ports::lost_request> lost,
                       const retry_state& tries) {
        return ports::with_lost(std::move(failure).with_attempts(tries.attempts()),
                                std::move(lost));
    }

    /// Delivers the pieces one at each turn of the loop, as a network would.
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): awaited at once
    static task<result<void>> hand_out(const chat_response& response,
                                       const chat_delta_sink& on_delta,
                                       std::chrono::milliseconds pause, ports::flow_gate* gate,
                                       call_context context) {
        chat_response so_far = ports::begun_response();
        so_far.model = response.model;
        const auto broken = [&so_far](error failure) {
            if (so_far.text.empty()) return failure;
            return std::move(failure).with_payload(
                std::make_shared<ports::partial_response>(so_far));
        };
        for (const std::string_view piece : stream_pieces(response.text)) {
            if (gate && !gate->open()) {
                result<void> opened = co_await gate->opened(context);
                if (!opened) co_return broken(std::move(opened).error());
            }
            so_far.text += piece;
            result<void> taken = on_delta(piece);
            if (!taken) co_return broken(std::move(taken).error());
            if (pause.count() > 0) {
                result<void> waited =
                    co_await coro::sleep_until(context, context.loop->now() + pause);
                if (!waited) co_return broken(std::move(waited).error());
            } else {
                co_await coro::yield_now(*context.loop);
                if (auto stop = context.stop_error()) co_return broken(*std::move(stop));
            }
        }
        co_return result<void>();
    }

    error as_error(const fault& asked) const {
        service_failure failure;
        failure.status = asked.status;
        failure.type = asked.type;
        failure.code = asked.code;
        failure.message = asked.message;
        failure.advice.wait = asked.retry_after;
        return make_service_error(options_.name, failure, nullptr);
    }

    std::shared_ptr<engine> rules_;
    provider_options options_;
    retry_state::random jitter_;
    log_port& log_;
};

} // namespace

std::unique_ptr<ports::llm_port> make_provider(std::shared_ptr<engine> rules,
                                               provider_options options, log_port& log) {
    return std::make_unique<provider>(std::move(rules), std::move(options), log);
}

} // namespace heddle::scripted
