// Deadlines and cancellation: a call ends with what waits for it.

#include <heddle/heddle.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <iostream>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;

constexpr const char* rules = R"json({"rules": [
    {"match": ".", "delay_ms": 60000, "text": "too late"}]})json"; // a model that takes a minute

constexpr const char* workflow = R"lisp(
(defatom ask (params question) (instructions "{{question}}"))
(define (answer question)
  (try (content (ask question))
    (finally (print "cleaned up"))))
)lisp";

asio::awaitable<void> run(heddle::runtime& rt, const heddle::program& flow) {
    // A deadline is passed to all that the workflow waits for.
    auto late = co_await flow.call("answer", "why?", {.timeout = 50ms}, asio::use_awaitable);
    std::cout << late.error().message() << "; status " << http_status(late.error()) << "\n";

    // Asio's cancellation reaches the workflow. The operator ends when the call has ended: its
    // cleanup has run, and its connections are closed.
    const asio::any_io_executor here = co_await asio::this_coro::executor;
    asio::steady_timer client_goes_away(here, 50ms);
    auto first = co_await (flow.call("answer", "why?", asio::use_awaitable) ||
                           client_goes_away.async_wait(asio::use_awaitable));
    std::cout << (first.index() == 1 ? "the client is gone" : "answered") << ", "
              << rt.stats().all.running << " calls run\n";

    // Calls that still run when the grace is over are cancelled.
    auto left = flow.start("answer", "why?");
    co_await rt.shutdown(50ms, asio::use_awaitable);
    auto ended = co_await left.result(asio::use_awaitable);
    std::cout << "status " << http_status(ended.error()) << "\n";
}

} // namespace

int main() {
    asio::io_context context;
    heddle::runtime_options options{.scripted_rules = rules};
    options.print = [](std::string_view text) { std::cout << text << std::flush; };
    heddle::runtime rt(std::move(options));
    const heddle::program flow = rt.load_text("workflow.heddle", workflow).value();
    asio::co_spawn(context, run(rt, flow), asio::detached);
    context.run();
}
