#include <heddle/http/client.hpp>

#include "client_core.hpp"
#include "exchange_operation.hpp"

#include <heddle/coro/wait_point.hpp>

namespace heddle::http {

namespace {

using ports::http_response;

// Two coroutines and not one: the sinks would cost every plain call their room in the frame.
// Each holds the core: a client object that is let go of does not pull it away from under them.

coro::task<result<http_response>> run_exchange(std::shared_ptr<client_core> core,
                                               ports::http_request request,
                                               coro::call_context context) {
    exchange_operation operation(*core, request, context, nullptr, nullptr);
    operation.start();
    if (!operation.ended()) {
        co_await operation.wait();
    }
    co_return operation.take_outcome();
}

coro::task<result<http_response>> run_stream(std::shared_ptr<client_core> core,
                                             ports::http_request request,
                                             ports::http_head_sink on_head,
                                             ports::http_body_sink on_piece,
                                             coro::call_context context) {
    exchange_operation operation(*core, request, context, &on_head, on_piece ? &on_piece : nullptr);
    operation.start();
    if (!operation.ended()) {
        co_await operation.wait();
    }
    co_return operation.take_outcome();
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
    coro::task<result<http_response>> exchange(ports::http_request request,
                                               coro::call_context context) override {
        return run_exchange(core_, std::move(request), context);
    }
    coro::task<result<http_response>> stream(ports::http_request request,
                                             ports::http_head_sink on_head,
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
