// A model and a memory of the host.

#include <heddle/heddle.hpp>

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <cctype>
#include <iostream>

namespace {

/// A model that shouts. A real one sends the request elsewhere and completes later, on any thread;
/// it ends early when `about` is cancelled.
class loud_model final : public heddle::model_provider {
public:
    std::string name() const override { return "loud"; }
    void complete(heddle::model_request request, heddle::call about, piece_sink on_piece,
                  completion done) override {
        if (about.cancelled()) return done(heddle::error::cancelled(heddle::cancel_reason::user));
        std::string text = request.messages.back().text;
        std::transform(text.begin(), text.end(), text.begin(),
                       [](unsigned char each) { return static_cast<char>(std::toupper(each)); });
        on_piece(text);
        done(heddle::model_response{std::move(text), 3, 3});
    }
};

/// Two notes, of which the ones that hold a word of the question are relevant.
class notes final : public heddle::memory_source {
public:
    void find(heddle::memory_question question, heddle::call, completion done) override {
        std::vector<heddle::memory_passage> found;
        for (const char* each : {"a heddle lifts the warp", "a shuttle carries the weft"}) {
            if (std::string(each).find(question.text) != std::string::npos)
                found.push_back({each, each, 0.9});
        }
        done(std::move(found));
    }
};

constexpr const char* workflow = R"lisp(
(defatom say (params text) (instructions "{{text}}"))

(define (answer question)
  (let ((found (get-context-result (query question))))
    (map (lambda (match) (content (say (get match "metadata"))))
         (get found "matches"))))
)lisp";

} // namespace

int main() {
    heddle::runtime_options options;
    options.providers = {std::make_shared<loud_model>()};
    options.memory = std::make_shared<notes>();
    options.model = "loud:one";
    heddle::runtime rt(std::move(options));
    const auto flow = rt.load_text("workflow.heddle", workflow).value();
    const auto ended = flow.call("answer", "warp", boost::asio::use_future).get();
    std::cout << (ended ? ended->value().to_string() : to_text(ended.error())) << "\n";
}
