// A server in the test's own process with the batch endpoints of three services.
#pragma once

#include "loopback_server.hpp"

#include <boost/json/object.hpp>

#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace heddle::cli_test {

/// Answers every call of a batch, once the batch has ended, with the text of its prompt in
/// capitals. Threads: any.
class batch_service {
public:
    batch_service();

    /// Batches end by themselves when they have been polled so often; -1: only by end().
    void end_after_polls(int polls);
    void end();
    /// The next batches expire, and perform none of their calls.
    void expire(int batches);
    /// Calls whose prompt holds that fail as wrong requests.
    void fail(std::string prompt);
    /// Of a batch that is cancelled so many calls are performed.
    void perform_until_cancelled(std::size_t calls);
    /// No batch is accepted from now on.
    void refuse();
    /// The connection is cut after a batch was created, so often.
    void lose_responses(int times);
    /// A batch is listed only so long after its creation.
    void list_after(std::chrono::milliseconds time);

    [[nodiscard]] std::size_t batches();
    /// How often a call with that prompt was performed, in a batch or by itself.
    [[nodiscard]] std::map<std::string, int> performed();
    /// Calls that were not in a batch.
    [[nodiscard]] int direct_calls();
    [[nodiscard]] std::string url() const { return server_.url(); }
    /// The environment of a program that uses it.
    [[nodiscard]] std::map<std::string, std::string> variables() const;

private:
    enum class kind { openai, anthropic, gemini };
    struct call {
        std::string id;
        std::string prompt;
    };
    struct batch {
        kind of = kind::openai;
        std::string id;
        std::string mark;
        std::vector<call> calls;
        int polls = 0;
        bool ended = false;
        bool expired = false;
        bool cancelled = false; ///< `calls` are those that were performed
        std::chrono::steady_clock::time_point created = std::chrono::steady_clock::now();
    };
    struct reply {
        int status = 200;
        std::string body;
        bool cut = false;
    };
    void serve(loopback::connection& peer);
    [[nodiscard]] reply answer(const std::string& request);
    [[nodiscard]] reply create(kind of, const boost::json::object& body);
    [[nodiscard]] reply look(const std::string& id);
    void end_batch(batch& which);
    [[nodiscard]] batch* find(const std::string& id);
    [[nodiscard]] std::string status_of(const batch& which) const;
    [[nodiscard]] std::string results_of(const batch& which) const;
    [[nodiscard]] boost::json::object response_to(kind of, const std::string& prompt) const;
    [[nodiscard]] bool fails(const std::string& prompt) const;

    std::size_t until_cancelled_ = 0;
    std::mutex lock_;
    std::map<std::string, std::vector<call>> files_;
    std::deque<batch> batches_;
    std::map<std::string, int> performed_;
    std::string failing_;
    int polls_ = -1;
    int expiring_ = 0;
    int losing_ = 0;
    std::chrono::milliseconds listed_after_{0};
    bool refuses_ = false;
    int direct_ = 0;
    loopback::server server_; ///< last: it uses all of it
};

} // namespace heddle::cli_test
