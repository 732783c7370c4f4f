// A program that embeds heddle as docs/embedding shows it: a task, a function of its own, an error.
#include <heddle/heddle.hpp>

#include <boost/asio/use_future.hpp>

#include <cstdio>
#include <string>

namespace {

constexpr const char* rules =
    R"json({"rules": [{"match": "^Greet (?P<who>.*)$", "text": "hello"}]})json";

constexpr const char* workflow = R"lisp(
(defatom greet (params who) (instructions "Greet {{who}}"))
(define (main who) (content (greet who)))
(define (fails) (error "on purpose"))
)lisp";

int failed(const char* what, const std::string& why) {
    std::fprintf(stderr, "%s: %s\n", what, why.c_str());
    return 1;
}

} // namespace

int main() {
    if (heddle::version() != CONSUMER_EXPECTS)
        return failed("version", std::string(heddle::version()));

    heddle::runtime rt({.scripted_rules = rules});
    const auto flow = rt.load_text("consumer.heddle", workflow);
    if (!flow) return failed("load", to_text(flow.error()));

    const auto ended = flow->call("main", "you", boost::asio::use_future).get();
    if (!ended) return failed("main", to_text(ended.error()));
    if (ended->text() != "hello") return failed("main", ended->text());

    const auto error = flow->call("fails", heddle::json(), boost::asio::use_future).get();
    if (error) return failed("fails", "succeeded");

    // An exception of the library is caught by its type.
    try {
        heddle::runtime broken({.config_text = "no toml ="});
        return failed("config", "accepted");
    } catch (const heddle::error_exception&) {}
    std::puts("the consumer works");
}
