// Recorded calls: a call with a tag goes on where it was, also in another process.

#include <heddle/heddle.hpp>

#include <boost/asio/use_future.hpp>

#include <cstdint>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace {

namespace asio = boost::asio;

constexpr const char* rules = R"json({"rules": [
    {"match": "^Summarise: (.*)$", "template": "{{1}} (in short)"}]})json";

constexpr const char* workflow = R"lisp(
(defatom summarise (params text)
  (instructions "Summarise: {{text}}"))

(define (handle order text)
  (let ((summary (content (summarise text))))
    (list summary (amount-of (list 1 2 3)) (charge order))))
)lisp";

/// The card reader is out of order at the first time.
std::string charge(std::int64_t order) {
    static int attempts = 0;
    if (++attempts == 1) throw std::runtime_error("the card reader does not respond");
    return "charged order " + std::to_string(order) + " once";
}

void show(const heddle::result<heddle::answer>& ended) {
    if (!ended) {
        std::cout << ended.error().message() << "\n";
        return;
    }
    std::cout << ended->value().to_string() << ": " << ended->used().requests << " requests now, "
              << ended->used_before().requests << " before"
              << (ended->is_recorded() ? ", recorded" : "") << "\n";
}

/// As a process would do: makes a runtime, calls, and ends.
void handle_order(const std::string& directory, const std::string& text) {
    heddle::runtime rt({.scripted_rules = rules, .journal = {.directory = directory}});
    rt.function("charge", "Charges an order.", {"order"}, charge);
    rt.function("amount-of", "Counts.", {"items"},
                [](const heddle::json::array& items) { return items.size(); }, {.pure = true});
    const heddle::program flow = rt.load_text("workflow.heddle", workflow).value();
    const heddle::json input = heddle::json::object{{"order", 17}, {"text", text}};
    show(flow.call("handle", input, {.tag = "order 17"}, asio::use_future).get());
}

} // namespace

int main() {
    const auto directory =
        std::filesystem::temp_directory_path() / ("heddle-journal-" + std::to_string(::getpid()));
    handle_order(directory, "two lamps");  // the second step fails
    handle_order(directory, "two lamps");  // the first step is not repeated
    handle_order(directory, "two lamps");  // nothing is
    handle_order(directory, "two chairs"); // that is another order
    std::filesystem::remove_all(directory);
}
