// Functions of the host: workflows call them, and models use them as tools.

#include <heddle/function_awaitable.hpp>
#include <heddle/heddle.hpp>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/describe/class.hpp>

#include <iostream>
#include <string>
#include <vector>

namespace shop {

struct customer {
    std::int64_t id = 0;
    std::string name;
    std::vector<double> orders;
};
BOOST_DESCRIBE_STRUCT(customer, (), (id, name, orders))

} // namespace shop

namespace {

namespace asio = boost::asio;

constexpr const char* rules = R"json({"rules": [
    {"match": {"user": "name of customer", "tool": "^$"},
     "tool_calls": [{"name": "lookup-customer", "arguments": {"id": 7}}]},
    {"match": {"tool": "\"name\":\"(\\w+)\""}, "template": "It is {{1}}."}]})json";

constexpr const char* workflow = R"lisp(
(defatom ask (params question)
  (instructions "{{question}}")
  (tools (lookup-customer)))

(define (total id)
  (let ((found (lookup-customer id)))       ; or (lookup-customer (id id))
    (total-of (get found "orders"))))

(define (answer question) (content (ask question)))
)lisp";

} // namespace

int main() {
    heddle::runtime rt({.scripted_rules = rules});
    // An awaitable runs on the thread of the workflow, which goes on with others meanwhile. When
    // the workflow is cancelled, so is what the function awaits.
    rt.function("lookup-customer", "Finds a customer by id.", {"id"},
                [](std::int64_t id) -> asio::awaitable<shop::customer> {
                    const asio::any_io_executor here = co_await asio::this_coro::executor;
                    asio::steady_timer database(here, std::chrono::milliseconds(5));
                    co_await database.async_wait(asio::use_awaitable);
                    co_return shop::customer{id, "Ada", {19.5, 20.5}};
                });
    rt.function("total-of", "Adds amounts.", {"amounts"}, [](const std::vector<double>& amounts) {
        double sum = 0;
        for (const double each : amounts) sum += each;
        return sum;
    });
    const heddle::program flow = rt.load_text("workflow.heddle", workflow).value();

    const auto total = flow.call("total", 7, asio::use_future).get();
    std::cout << (total ? total->text() : to_text(total.error())) << "\n";
    const auto named =
        flow.call("answer", "What is the name of customer 7?", asio::use_future).get();
    std::cout << (named ? named->text() : to_text(named.error())) << "\n";
    // The schema of the parameters refuses what does not fit.
    const auto wrong = flow.call("total", "seven", asio::use_future).get();
    std::cout << (wrong ? "?" : details_of(wrong.error())->kind) << "\n";
}
