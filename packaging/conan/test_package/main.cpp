// Evaluates a workflow: the package has its headers and all that it links.
#include <heddle/heddle.hpp>

#include <boost/asio/use_future.hpp>

#include <iostream>

int main() {
    heddle::runtime rt;
    const auto flow = rt.load_text("sum.heddle", "(define (main a b) (+ a b))");
    if (!flow) return 1;
    // heddle-check: allow coroutine-start: main waits for the only call
    const auto sum = flow->call("main", heddle::json::array{1, 2}, boost::asio::use_future).get();
    if (!sum) return 1;
    std::cout << "heddle " << heddle::version() << ": " << sum->text() << "\n";
}
