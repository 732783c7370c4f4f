// The provider for all services over HTTP.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/log.hpp>
#include <heddle/base/redaction.hpp>
#include <heddle/base/secret.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/providers/common/call_gate.hpp>
#include <heddle/providers/common/chat_codec.hpp>
#include <heddle/providers/common/retry.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::providers {

/// How a provider calls its service, whatever the service.
struct call_options {
    ports::http_limits limits; ///< `idle` bounds pauses of a stream
    retry_options retry;
    std::shared_ptr<call_gate> gate; ///< admits every request; null: none
    std::string retry_count_header; ///< number of failed attempts, for the service; empty: not sent
};

/// A thin llm_port over the HTTP port and a codec: it encodes, sends, decodes, and retries. Hides
/// the key in responses, so that no caller can store it. Retries: errors that the codec or the HTTP
/// port mark as retryable, within the budgets of retry_options and the deadline of the call; a
/// stream only until its first piece has been delivered, unless chat_request::scheduling allows
/// more.
class http_chat_provider final : public ports::llm_port {
public:
    /// `origin` is "https://host[:port]". `http` and `log` outlive this. Does not connect.
    /// Errors: llm_errc::configuration if the HTTP port cannot use the origin.
    [[nodiscard]] static result<std::unique_ptr<http_chat_provider>> make(
        ports::http_port& http, std::string_view origin, std::unique_ptr<chat_codec> codec,
        call_options options, log_port& log);

    ~http_chat_provider() override;
    http_chat_provider(const http_chat_provider&) = delete;
    http_chat_provider& operator=(const http_chat_provider&) = delete;

    [[nodiscard]] std::string_view provider_name() const noexcept override;
    [[nodiscard]] coro::task<result<ports::chat_response>> complete(
        const ports::chat_request& request, coro::call_context context) override;
    [[nodiscard]] coro::task<result<ports::chat_response>> stream(
        const ports::chat_request& request, ports::chat_delta_sink on_delta,
        coro::call_context context) override;

    /// What would be sent for a request; nothing is. Errors: as chat_codec::encode.
    [[nodiscard]] result<encoded_request> encode(const ports::chat_request& request,
                                                 response_mode mode);

    /// Requests the models of the service: one request, without retries and without the gate.
    /// Errors: as complete. Cancellation: as complete.
    [[nodiscard]] coro::task<result<std::vector<std::string>>> list_models(
        coro::call_context context);

    /// True if the service keeps prompt prefixes for later requests.
    [[nodiscard]] bool caches_prompts() const noexcept;

private:
    class streamed_response;
    struct attempts;
    struct parts;
    using wall_time = std::chrono::system_clock::time_point;
    explicit http_chat_provider(parts result);

    [[nodiscard]] coro::task<result<ports::chat_response>> call(const ports::chat_request& request,
                                                                response_mode mode,
                                                                ports::chat_delta_sink on_delta,
                                                                coro::call_context context);
    /// Null `receiving`: the response comes whole.
    [[nodiscard]] coro::task<result<ports::http_response>> send(ports::http_request prepared,
                                                                streamed_response* receiving,
                                                                coro::call_context context);
    [[nodiscard]] static call_demand demand_of(const ports::chat_request& request,
                                               std::uint32_t attempt) noexcept;
    [[nodiscard]] coro::clock::time_point start_of(const coro::call_context& context) const;
    /// `so_far` receives a warning for each setting that the service does not have.
    [[nodiscard]] result<ports::http_request> prepare(const ports::chat_request& request,
                                                      response_mode mode, attempts& so_far);
    void warn_of(const std::vector<left_out_setting>& left_out, std::vector<std::string>& warnings);
    [[nodiscard]] ports::http_request prepare(encoded_request encoded) const;
    /// `received`: bytes of the body, also of one that was cut off.
    [[nodiscard]] result<ports::chat_response> read_response(result<ports::http_response>& response,
                                                             std::size_t received,
                                                             wall_time time_of_day);
    [[nodiscard]] result<ports::chat_response> read_streamed(streamed_response& receiving,
                                                             result<ports::http_response>& response,
                                                             wall_time time_of_day);
    [[nodiscard]] result<ports::chat_response> without_secrets(
        result<ports::chat_response> read) const;
    void settle(call_permit& permit, const ports::http_response* head,
                const result<ports::chat_response>& read, wall_time time_of_day) const;
    [[nodiscard]] error not_admitted(error refused, attempts& so_far) const;
    [[nodiscard]] retry_decision decide(retry_state& tries, const error& failure,
                                        const coro::call_context& context);

    ports::http_port& http_;
    std::shared_ptr<ports::http_origin> origin_;
    std::unique_ptr<chat_codec> codec_;
    call_options options_;
    redactor secrets_; ///< secrets sent to the service, which responses must not show
    retry_state::random jitter_;
    log_port& log_;
    std::vector<std::string> warned_of_; ///< settings that were logged
};

} // namespace heddle::providers
