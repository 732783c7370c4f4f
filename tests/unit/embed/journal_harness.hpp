// Recorded calls, with a model of the host that counts.
#pragma once

#include "embed_harness.hpp"
#include "scratch_folder.hpp"

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>

namespace heddle::testing {

/// Answers "N", the number of the request, at once; "wait" never, until its call is cancelled;
/// "refuse" fails while `refuses`.
class counting_model final : public model_provider {
public:
    std::string name() const override { return "house"; }
    void complete(model_request request, call about, piece_sink, completion done) override {
        const std::string asked = request.messages.back().text;
        const int number = ++requests_;
        {
            const std::lock_guard held(mutex_);
            ++asked_[asked];
        }
        if (is_patient && asked.starts_with("wait")) {
            const std::lock_guard held(mutex_);
            waiting_.emplace_back(about.stop_token(),
                                  [done] { done(error::cancelled(cancel_reason::user)); });
            ++waits_;
            return;
        }
        if (asked.starts_with("refuse") && refuses)
            return done(error(errc::invalid_argument, "the house is closed"));
        done(model_response{std::to_string(number), 10, 5});
    }

    [[nodiscard]] int requests() const noexcept { return requests_; }
    /// Requests that wait, or have waited.
    [[nodiscard]] int waits() const noexcept { return waits_; }
    [[nodiscard]] int requests(const std::string& prompt) {
        const std::lock_guard held(mutex_);
        return asked_[prompt];
    }
    std::atomic<bool> refuses{false};
    std::atomic<bool> is_patient{true}; ///< waits

private:
    std::atomic<int> requests_{0};
    std::atomic<int> waits_{0};
    std::mutex mutex_;
    std::map<std::string, int> asked_;
    std::list<std::stop_callback<std::function<void()>>> waiting_;
};

/// Options with a journal in a folder, and a model.
class recorded_runtime : public ::testing::Test {
protected:
    [[nodiscard]] runtime_options options() const {
        runtime_options wanted;
        wanted.providers = {model};
        wanted.model = "house:small";
        wanted.journal.directory = (folder.path / "calls").string();
        return wanted;
    }

    /// A call that asks the model to wait, and is cancelled when it does.
    void interrupt(const program& flow, const std::string& function, json input,
                   const std::string& tag) {
        const int before = model->waits();
        job running = flow.start(function, std::move(input), {.tag = tag});
        EXPECT_TRUE(comes_true([&] { return model->waits() > before; }));
        running.cancel();
        const auto ended = wait_for(running.result(boost::asio::use_future));
        ASSERT_FALSE(ended);
        EXPECT_TRUE(ended.error().is_cancelled()) << to_text(ended.error());
    }

    scratch_folder folder;
    const std::shared_ptr<counting_model> model = std::make_shared<counting_model>();
};

inline constexpr const char* two_steps = R"lisp(
(defatom ask (params text) (instructions "{{text}}"))
(define (go first second) (list (content (ask first)) (content (ask second))))
(define (other first second) (list second first))
)lisp";

/// The input of `go`.
inline json both(const std::string& first, const std::string& second) {
    return json::object{{"first", first}, {"second", second}};
}

} // namespace heddle::testing
