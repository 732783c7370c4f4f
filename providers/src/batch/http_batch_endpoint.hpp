// A batch endpoint over the HTTP port.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/base/redaction.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/providers/batch/batch_endpoint.hpp>
#include <heddle/providers/common/chat_codec.hpp>
#include <heddle/providers/common/http_chat_provider.hpp>
#include <heddle/providers/common/retry.hpp>

#include "batch/batch_format.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::providers {

/// Sends the requests of a format, whatever the service.
class http_batch_endpoint final : public batch_endpoint {
public:
    using format_maker =
        std::function<std::unique_ptr<batch_format>(chat_codec& codec, json_reader& reader)>;
    struct parts {
        ports::http_port& http;
        std::shared_ptr<ports::http_origin> origin;
        std::unique_ptr<chat_codec> codec; ///< of the service's calls
        secret key;
        call_options options;
        format_maker make_format;
    };
    explicit http_batch_endpoint(parts of);

    std::string_view provider_name() const noexcept override { return codec_->provider_name(); }
    batch_limits limits() const noexcept override { return format_->limits(); }
    std::size_t size_of(const batch_call& call) const noexcept override {
        return call.body.size() + call.id.size() + format_->overhead();
    }
    result<rendered_call> render(const ports::chat_request& request) override;
    coro::task<batch_receipt> submit(batch_submission what, coro::call_context context) override;
    coro::task<result<batch_status>> poll(std::string id, coro::call_context context) override;
    coro::task<result<void>> fetch(batch_status of, batch_sink sink,
                                   coro::call_context context) override;
    coro::task<result<std::vector<batch_status>>> list(std::int64_t since,
                                                       coro::call_context context) override;
    coro::task<result<void>> cancel(std::string id, coro::call_context context) override;

private:
    class download;
    using http_result = result<ports::http_response>;

    [[nodiscard]] result<void> check(const batch_submission& what) const;
    [[nodiscard]] ports::http_request prepare(batch_request request) const;
    /// One request. With `written` it is sent once, and that counts when it was written. Errors: of
    /// the connection.
    [[nodiscard]] coro::task<http_result> send(batch_request request, std::uint32_t* written,
                                               coro::call_context context);
    /// Until it succeeds or cannot: for what may be done twice. Errors: also those of the service.
    [[nodiscard]] coro::task<http_result> send_again(batch_request request,
                                                     coro::call_context context);
    [[nodiscard]] coro::task<result<void>> fetch_lines(const batch_request& request,
                                                       const batch_sink& sink,
                                                       coro::call_context context);
    /// Passes a response on without secrets.
    [[nodiscard]] result<void> hand_out(batch_response received, const batch_sink& sink);
    [[nodiscard]] error failure_in(const ports::http_response& received, coro::event_loop& loop);
    [[nodiscard]] result<json::value> read(const std::string& body);

    ports::http_port& http_;
    std::shared_ptr<ports::http_origin> origin_;
    std::unique_ptr<chat_codec> codec_;
    secret key_;
    std::string name_;
    call_options options_;
    json_reader reader_;
    std::unique_ptr<batch_format> format_;
    ports::http_headers headers_;
    redactor secrets_;
    retry_state::random jitter_;
};

} // namespace heddle::providers
