// A real service: keys, limits, prices, routes and the cache are those of heddle.toml and the
// environment, as for the program `heddle`.
//
//     2_real_provider [heddle.toml]

#include <heddle/heddle.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <iostream>

namespace {

namespace asio = boost::asio;

constexpr const char* workflow = R"lisp(
(defatom ask (params question)
  (instructions "Answer in one sentence: {{question}}"))

(define (answer question) (content (ask question)))
)lisp";

/// Prints the response as it arrives, then what it has cost.
asio::awaitable<int> run(const heddle::program& flow) {
    using namespace std::chrono_literals;
    heddle::job job =
        flow.start("answer", "What does a heddle do?", {.timeout = 30s, .budget_usd = 0.01});
    for (;;) {
        const auto piece = co_await job.next(asio::use_awaitable);
        if (!piece) break;
        std::cout << piece->text << std::flush;
    }
    const auto ended = co_await job.result(asio::use_awaitable);
    if (!ended) {
        std::cerr << to_text(ended.error());
        co_return 1;
    }
    std::cout << "\n" << to_json(ended->used()).to_string() << "\n";
    co_return 0;
}

} // namespace

int main(int count, char** words) {
    auto rt = heddle::runtime::create({.config = count > 1 ? words[1] : "heddle.toml"});
    if (!rt) {
        std::cerr << to_text(rt.error());
        return 1;
    }
    const heddle::program flow = rt->load_text("workflow.heddle", workflow).value();
    asio::io_context context;
    int code = 1;
    asio::co_spawn(context, run(flow),
                   [&](std::exception_ptr thrown, int how) { code = thrown ? 1 : how; });
    context.run();
    return code;
}
