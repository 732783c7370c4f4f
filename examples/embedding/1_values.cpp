// Values in, values out: a workflow is called as a function.
//
// The model is the scripted one, in process: no key and no network. See 2_real_provider.cpp.

#include <heddle/heddle.hpp>

#include <boost/asio/use_future.hpp>

#include <iostream>

namespace {

constexpr const char* rules = R"json({"rules": [
    {"match": "^Summarise: (?P<text>.*)$",
     "template": "{{words@text}} words that begin with '{{first@text:^(\\S+)}}'"}]})json";

constexpr const char* workflow = R"lisp(
(defatom summarise (params text)
  (instructions "Summarise: {{text}}"))

(define (answer customer texts)
  (dict "customer" customer
        "summaries" (map (lambda (text) (content (summarise text))) texts)))
)lisp";

} // namespace

int main() {
    heddle::runtime rt({.scripted_rules = rules});
    const auto flow = rt.load_text("workflow.heddle", workflow); // checked and compiled once
    if (!flow) {
        std::cerr << to_text(flow.error());
        return 1;
    }

    // Members of an object are the parameters of their names.
    const heddle::json input = heddle::json::object{
        {"customer", "first"}, {"texts", heddle::json::array{"warp and weft", "a heddle lifts"}}};
    const auto ended = flow->call("answer", input, boost::asio::use_future).get();
    if (!ended) {
        std::cerr << to_text(ended.error());
        return 1;
    }
    std::cout << ended->value().to_string(2) << "\n" << ended->used().requests << " requests\n";

    // A call that fails is a result as well.
    const auto failed = flow->call("answer", "x", boost::asio::use_future).get();
    std::cout << failed.error().message() << "; status " << http_status(failed.error()) << "\n";
}
