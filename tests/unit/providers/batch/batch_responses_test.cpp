// What the endpoints for batches make of the documented responses.
#include "batch_testing.hpp"

#include <gtest/gtest.h>

#include <set>

namespace heddle::testing::batches {
namespace {

using ports::llm_errc;

/// The documented responses of a service that are of one kind of file.
std::vector<json::object> samples(const std::string& service, const std::string& ending) {
    std::vector<json::object> found;
    const json::value index = json::parse(wire(service + "/response-doc/index.json"));
    for (const json::value& each : index.as_array()) {
        const std::string file(each.at("file").as_string());
        if (file.ends_with(ending)) found.push_back(each.as_object());
    }
    return found;
}

bool is_over(batch_state state) { return state != batch_state::running; }

void expect_row(const json::object& wanted, const batch_response& received) {
    if (const auto* text = wanted.if_contains("text")) {
        ASSERT_TRUE(received.response) << received.response.error().message();
        EXPECT_EQ(received.response->text, text->as_string());
    }
    if (wanted.if_contains("stop")) {
        ASSERT_TRUE(received.response);
        EXPECT_EQ(received.response->finish, ports::finish_reason::length);
    }
    if (wanted.if_contains("refusal")) {
        ASSERT_TRUE(received.response);
        EXPECT_FALSE(received.response->refusal.empty());
    }
    const auto* failed = wanted.if_contains("error");
    if (!failed) return;
    ASSERT_FALSE(received.response);
    EXPECT_EQ(received.response.error().info().retryable, wanted.at("retryable").as_bool());
    static const std::map<std::string, llm_errc> kinds{
        {"invalid_request", llm_errc::invalid_request},
        {"rate_limit", llm_errc::rate_limit},
        {"request_timeout", llm_errc::request_timeout}};
    const std::string kind(failed->as_string());
    if (const auto known = kinds.find(kind); known != kinds.end()) {
        EXPECT_EQ(received.response.error().code(), known->second) << kind;
    }
    if (kind == "expired" || kind == "batch_expired") {
        EXPECT_EQ(received.what, batch_response::fate::expired);
    }
    if (kind == "canceled" || kind == "batch_cancelled") {
        EXPECT_EQ(received.what, batch_response::fate::cancelled);
    }
}

/// Of each id the first response: what follows is for the caller to refuse.
void expect_rows(const json::object& expect, const std::vector<batch_response>& responses) {
    std::map<std::string, const batch_response*> by_id;
    for (const batch_response& each : responses) by_id.emplace(each.id, &each);
    for (const json::value& each : expect.at("rows").as_array()) {
        const json::object& wanted = each.as_object();
        const auto* id = wanted.if_contains("custom_id");
        if (!id) continue;
        const auto found = by_id.find(std::string(id->as_string()));
        ASSERT_NE(found, by_id.end()) << *id;
        SCOPED_TRACE(found->first);
        expect_row(wanted, *found->second);
    }
}

TEST(batch_responses, states_are_as_documented) {
    for (const std::string service : {"openai", "anthropic", "gemini"}) {
        for (const json::object& sample : samples(service, ".json")) {
            const std::string file(sample.at("file").as_string());
            SCOPED_TRACE(service + " " + file);
            const json::object& expect = sample.at("expect").as_object();
            if (!expect.if_contains("terminal")) continue;
            if (file.find("embeddings") != std::string::npos) continue; // no calls of models
            fixture at(service);
            const json::object body = wire_object(service + "/response-doc/" + file);
            at.http.reply(200, wire(service + "/response-doc/" + file));
            const auto* id = body.if_contains("id");
            const auto status = at.poll(id ? std::string(id->as_string()) : "123456");
            ASSERT_TRUE(status) << status.error().message();
            EXPECT_EQ(is_over(status->state), expect.at("terminal").as_bool());
            if (const auto* failed = expect.if_contains("errors")) {
                EXPECT_EQ(status->state, batch_state::refused);
                const json::array& wanted = failed->as_array();
                ASSERT_EQ(status->problems.size(), wanted.size());
                for (std::size_t i = 0; i < wanted.size(); ++i) {
                    EXPECT_EQ(status->problems[i].code, wanted[i].at("code").as_string());
                    const json::value& line = wanted[i].at("line");
                    EXPECT_EQ(status->problems[i].call.has_value(), line.is_int64());
                    if (line.is_int64()) {
                        EXPECT_EQ(*status->problems[i].call + 1,
                                  static_cast<std::size_t>(line.as_int64()));
                    }
                }
                EXPECT_EQ(status->may_pass, expect.at("retryable").as_bool());
            }
            if (const auto* result_file = expect.if_contains("output_file")) {
                ASSERT_FALSE(status->files.empty());
                EXPECT_TRUE(
                    std::string_view(result_file->as_string()).ends_with(status->files.front()));
                EXPECT_TRUE(status->has_results);
            }
            const std::map<std::string, batch_state> named{
                {"expired.json", batch_state::expired},
                {"cancelled.json", batch_state::cancelled},
                {"failed.json", batch_state::refused},
                {"ended-archived.json", batch_state::gone},
                {"ended-partial.json", batch_state::ended}};
            if (const auto known = named.find(file); known != named.end()) {
                EXPECT_EQ(status->state, known->second);
            }
            if (service == "gemini" && expect.if_contains("rows")) {
                at.http.reply(200, wire(service + "/response-doc/" + file));
                ASSERT_TRUE(at.fetch(*status));
                EXPECT_EQ(at.responses.size(), expect.at("rows").as_array().size());
                expect_rows(expect, at.responses);
            }
        }
    }
}

TEST(batch_responses, lines_of_results_are_as_documented) {
    for (const std::string service : {"openai", "anthropic", "gemini"}) {
        for (const json::object& sample : samples(service, ".jsonl")) {
            const std::string file(sample.at("file").as_string());
            SCOPED_TRACE(service + " " + file);
            if (file.find("embeddings") != std::string::npos) continue;
            const bool cut = sample.at("cut").as_bool();
            for (const std::size_t piece : {0U, 1U, 7U}) {
                fixture at(file == "output-responses.jsonl" ? "responses" : service);
                // A download that ends early is tried again.
                const int tries = cut ? 3 : 1;
                for (int i = 0; i < tries; ++i) {
                    at.http.reply(200, wire(service + "/response-doc/" + file), {});
                    at.http.responses.back().piece = piece;
                }
                batch_status ended;
                ended.id = "b";
                ended.has_results = true;
                if (service != "anthropic") ended.files = {"file-1"};
                const auto fetched = at.fetch(ended);
                EXPECT_EQ(fetched.has_value(), !cut);
                EXPECT_TRUE(at.http.responses.empty());
                expect_rows(sample.at("expect").as_object(), at.responses);
            }
        }
    }
}

TEST(batch_responses, one_model_call_reads_as_usual) {
    fixture at("openai");
    at.http.reply(200, wire("openai/response-doc/output.jsonl"), {});
    batch_status ended;
    ended.id = "b";
    ended.files = {"file-1"};
    ASSERT_TRUE(at.fetch(ended));
    ASSERT_EQ(at.responses.size(), 2U);
    const auto& response = *at.responses.front().response;
    ASSERT_TRUE(response.usage);
    EXPECT_EQ(response.usage->input, 22);
    EXPECT_EQ(response.usage->output, 2);
    EXPECT_EQ(response.id, "chatcmpl-123");
}

TEST(batch_responses, the_key_is_in_no_response) {
    fixture at("openai");
    at.http.reply(200,
                  R"({"custom_id":"a","response":{"status_code":200,"body":{"id":"1","model":"m",)"
                  R"("choices":[{"message":{"content":"sk-0123456789abcdef"},)"
                  R"("finish_reason":"stop"}]}},"error":null})"
                  "\n"
                  R"({"custom_id":"b","response":{"status_code":401,"body":{"error":{"message":)"
                  R"("bad key sk-0123456789abcdef"}}},"error":null})",
                  {});
    batch_status ended;
    ended.id = "b";
    ended.files = {"file-1"};
    ASSERT_TRUE(at.fetch(ended));
    ASSERT_EQ(at.responses.size(), 2U);
    EXPECT_EQ(at.responses[0].response->text, "[hidden]");
    EXPECT_EQ(at.responses[1].response.error().message().find(key), std::string::npos);
}

TEST(batch_responses, names_of_a_service_do_not_leave_their_place) {
    fixture at("openai");
    for (const std::string_view id : {"../files/x", "a/b", "a?b", ".."}) {
        json::object body = wire_object("openai/response-doc/completed.json");
        body["output_file_id"] = id;
        at.http.reply(200, json::serialize(body));
        EXPECT_FALSE(at.poll("batch_abc123")) << id;
        body["id"] = id;
        at.http.reply(200, json::serialize(body));
        EXPECT_FALSE(at.poll("batch_abc123")) << id;
    }
    // Of another batch.
    at.http.reply(200, wire("openai/response-doc/completed.json"));
    EXPECT_FALSE(at.poll("batch_other"));
}

TEST(batch_responses, a_line_that_cannot_be_read_hides_no_other) {
    fixture at("openai");
    const std::string good = wire("openai/response-doc/output.jsonl");
    at.http.reply(200, "not JSON\n[1]\n{\"custom_id\":\"x\"}\n" + good + "\n", {});
    batch_status ended;
    ended.id = "b";
    ended.files = {"file-1"};
    const auto fetched = at.fetch(ended);
    ASSERT_FALSE(fetched);
    EXPECT_EQ(fetched.error().code(), llm_errc::protocol);
    EXPECT_EQ(at.responses.size(), 2U);
}

TEST(batch_responses, a_batch_that_is_not_found_is_gone) {
    for (const std::string service : {"openai", "anthropic", "gemini"}) {
        fixture at(service);
        at.http.reply(404, wire(service + "/response-doc/err-404.json"));
        const auto status = at.poll("none");
        ASSERT_TRUE(status);
        EXPECT_EQ(status->state, batch_state::gone);
    }
}

TEST(batch_responses, questions_are_asked_again_when_they_fail) {
    fixture at("anthropic");
    at.http.reply(529, R"({"type":"error","error":{"type":"overloaded_error","message":"x"}})");
    at.http.reply(200, wire("anthropic/response-doc/ended.json"));
    const auto status = at.poll("msgbatch_013Zva2CMHLNnXjNJJKqJ2EF");
    ASSERT_TRUE(status);
    EXPECT_EQ(status->state, batch_state::ended);
    EXPECT_TRUE(status->has_results);
    at.http.reply(401, R"({"type":"error","error":{"type":"authentication_error","message":"x"}})");
    EXPECT_FALSE(at.poll("msgbatch_013Zva2CMHLNnXjNJJKqJ2EF"));
    EXPECT_TRUE(at.http.responses.empty());
}

} // namespace
} // namespace heddle::testing::batches
