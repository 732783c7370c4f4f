// Whole exchanges over real connections.
#include "batch_testing.hpp"

#include "loopback_runner.hpp"
#include "loopback_server.hpp"

#include <heddle/http/client.hpp>

#include <gtest/gtest.h>

#include <mutex>
#include <set>

namespace heddle::testing::batches {
namespace {

/// Replies by the first line of each request, and keeps them all.
class service {
public:
    using replies = std::map<std::string, std::string>; ///< "GET /path": the whole reply

    explicit service(replies known)
        : replies_(std::move(known)), server_([this](loopback::connection& peer, int) {
              for (;;) {
                  const std::string request = peer.read_request();
                  if (request.empty()) return;
                  const std::string head = request.substr(0, request.find(" HTTP/"));
                  const std::lock_guard held(lock_);
                  requests_.push_back(request);
                  const auto found = replies_.find(head);
                  if (found == replies_.end()) {
                      peer.send("HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}");
                      continue;
                  }
                  peer.send(found->second);
                  if (cuts_ > 0 && found->first.find("content") != std::string::npos) {
                      --cuts_;
                      return;
                  }
              }
          }) {}
    void cut_downloads(int times) { cuts_ = times; }
    [[nodiscard]] std::string url() const { return server_.url(); }
    [[nodiscard]] std::vector<std::string> requests() {
        const std::lock_guard held(lock_);
        return requests_;
    }

private:
    std::mutex lock_;
    replies replies_;
    std::vector<std::string> requests_;
    int cuts_ = 0;
    loopback::server server_;
};

TEST(batch_exchange, a_batch_goes_from_upload_to_results) {
    service there({
        {"POST /v1/files", loopback::ok_response(wire("openai/response-mock/upload.json"))},
        {"POST /v1/batches", loopback::ok_response(wire("openai/response-doc/validating.json"))},
        {"GET /v1/batches/batch_abc123",
         loopback::ok_response(wire("openai/response-doc/completed.json"))},
        {"GET /v1/files/file-cvaTdG/content",
         loopback::ok_response(wire("openai/response-doc/output.jsonl"))},
        {"GET /v1/files/file-HOWS94/content",
         loopback::ok_response(wire("openai/response-doc/errors-http.jsonl"))},
    });
    loopback::runner on;
    recording_log log;
    const auto http = http::make_http_client(on.loop, {});
    const auto endpoint = make_endpoint("openai", *http, log, there.url() + "/v1");
    batch_submission what{"gpt-5.4-mini", "mark-1", {}};
    what.calls.push_back(
        {"request-1", endpoint->render(question("a", "gpt-5.4-mini")).value().body});
    const batch_receipt receipt = on.run(endpoint->submit(what, on.context()));
    ASSERT_TRUE(receipt.status) << receipt.status.error().message();
    const auto status = on.run(endpoint->poll(receipt.status->id, on.context()));
    ASSERT_TRUE(status);
    EXPECT_EQ(status->state, batch_state::ended);
    std::set<std::string> answered;
    std::set<std::string> failed;
    const auto fetched = on.run(endpoint->fetch(
        *status,
        [&](batch_response received) -> result<void> {
            (received.response ? answered : failed).insert(received.id);
            return {};
        },
        on.context()));
    ASSERT_TRUE(fetched) << fetched.error().message();
    EXPECT_EQ(answered, (std::set<std::string>{"request-1", "request-2"}));
    EXPECT_EQ(failed, (std::set<std::string>{"request-4", "request-5", "request-6"}));
    for (const std::string& each : there.requests())
        EXPECT_NE(each.find("uthorization: Bearer sk-0123456789abcdef"), std::string::npos);
    on.run(http->close());
}

TEST(batch_exchange, a_download_that_breaks_is_begun_again) {
    const std::string body = wire("openai/response-doc/output.jsonl");
    service there({{"GET /v1/files/file-1/content",
                    "HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(body.size() + 10) +
                        "\r\n\r\n" + body}});
    there.cut_downloads(100);
    loopback::runner on;
    recording_log log;
    const auto http = http::make_http_client(on.loop, {});
    const auto endpoint = make_endpoint("openai", *http, log, there.url() + "/v1");
    batch_status ended;
    ended.id = "b";
    ended.files = {"file-1"};
    std::size_t responses = 0;
    const auto fetched = on.run(endpoint->fetch(
        ended,
        [&](batch_response) -> result<void> {
            ++responses;
            return {};
        },
        on.context()));
    EXPECT_FALSE(fetched);
    EXPECT_GE(there.requests().size(), 2U);
    EXPECT_GE(responses, 2U) << "whole lines are handed out";
    on.run(http->close());
}

} // namespace
} // namespace heddle::testing::batches
