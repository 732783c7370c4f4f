#include <heddle/http/client.hpp>

#include "client_core.hpp"
#include "exchange_operation.hpp"

#include <heddle/coro/wait_point.hpp>
#include <heddle/http/redirect.hpp>

#include <algorithm>

namespace heddle::http {

namespace {

using ports::http_request;
using ports::http_response;

/// Makes `request` the next one after a redirect. Result: what speaks against following it.
std::optional<error> follow(client_core& core, http_request& request,
                            const exchange_operation& before, int followed) {
    if (followed >= core.options().max_redirects) {
        return error(ports::http_errc::redirect_refused,
                     before.origin().name() + ": more than " +
                         std::to_string(core.options().max_redirects) + " redirects in a row")
            .with_hint("the server redirects the call in a circle: check the base URL")
            .with_retryable(false);
    }
    core.log(log_level::debug, before.origin().name(), "following a redirect");
    if (auto fine = follow_redirect(request, before.origin().parts(), before.response()); !fine)
        return std::move(fine).error();
    // `total` bounds the call and not each of its requests.
    const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(core.sockets().now() -
                                                                             before.started());
    request.limits.total = std::max(request.limits.total - spent, std::chrono::milliseconds(1));
    return std::nullopt;
}

// Two coroutines and not one: the sinks would cost every plain call their room in the frame.
// Each holds the core: a client object that is let go of does not pull it away from under them.

coro::task<result<http_response>> run_exchange(std::shared_ptr<client_core> core,
                                               http_request request, coro::call_context context) {
    for (int followed = 0;; ++followed) {
        exchange_operation operation(*core, request, context, nullptr, nullptr);
        operation.start();
        if (!operation.ended()) {
            co_await operation.wait();
        }
        if (!operation.redirected()) co_return operation.take_outcome();
        if (auto refused = follow(*core, request, operation, followed))
            co_return *std::move(refused);
    }
}

coro::task<result<http_response>> run_stream(std::shared_ptr<client_core> core,
                                             http_request request, ports::http_head_sink on_head,
                                             ports::http_body_sink on_piece,
                                             coro::call_context context) {
    for (int followed = 0;; ++followed) {
        exchange_operation operation(*core, request, context, &on_head,
                                     on_piece ? &on_piece : nullptr);
        operation.start();
        if (!operation.ended()) {
            co_await operation.wait();
        }
        if (!operation.redirected()) co_return operation.take_outcome();
        if (auto refused = follow(*core, request, operation, followed))
            co_return *std::move(refused);
    }
}

coro::task<void> run_close(std::shared_ptr<client_core> core) {
    coro::event_loop& loop = core->loop();
    core->shut_down();
    // Every socket is closed by now; what remains are coroutines whose resumption is posted.
    while (core->counted.in_flight != 0) co_await coro::yield_now(loop);
}

class http_client final : public ports::http_port {
public:
    http_client(coro::event_loop& loop, http_client_options options)
        : core_(std::make_shared<client_core>(loop, std::move(options))) {}
    ~http_client() override { core_->shut_down(); }

    result<std::shared_ptr<ports::http_origin>> origin(std::string_view url) override {
        HEDDLE_TRY(std::shared_ptr<ports::http_origin> found, core_->origin(url));
        return found;
    }
    coro::task<result<http_response>> exchange(http_request request,
                                               coro::call_context context) override {
        return run_exchange(core_, std::move(request), context);
    }
    coro::task<result<http_response>> stream(http_request request, ports::http_head_sink on_head,
                                             ports::http_body_sink on_piece,
                                             coro::call_context context) override {
        return run_stream(core_, std::move(request), std::move(on_head), std::move(on_piece),
                          context);
    }
    coro::task<void> close() override { return run_close(core_); }
    ports::http_counters counters() const noexcept override { return core_->counters(); }

private:
    std::shared_ptr<client_core> core_;
};

} // namespace

std::shared_ptr<ports::http_port> make_http_client(coro::event_loop& loop,
                                                   http_client_options options) {
    return std::make_shared<http_client>(loop, std::move(options));
}

} // namespace heddle::http
