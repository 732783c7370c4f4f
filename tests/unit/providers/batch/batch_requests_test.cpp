// What the endpoints for batches send, compared with the recorded exchanges.
#include "batch_testing.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace heddle::testing::batches {

void expect_head(const ports::http_request& request, const json::object& recorded) {
    EXPECT_EQ(request.method, recorded.at("method").as_string());
    EXPECT_EQ(request.target, recorded.at("path").as_string());
    for (const auto& [name, value] : recorded.at("headers").as_object()) {
        // The key is not recorded; a request without a body need not have a type.
        const bool no_body = name == "content-type" && request.body.empty();
        if (no_body || name == "content-length" || name == "transfer-encoding") continue;
        std::string wanted(value.as_string());
        if (const auto at = wanted.find("<REDACTED>"); at != std::string::npos)
            wanted.replace(at, std::string_view("<REDACTED>").size(), key);
        if (const auto at = wanted.find("; boundary"); at != std::string::npos) wanted.resize(at);
        EXPECT_TRUE(header_of(request, name).starts_with(wanted))
            << name << ": " << header_of(request, name) << " is not " << wanted;
    }
}

namespace {

batch_submission two_calls(batch_endpoint& endpoint, const std::string& model) {
    batch_submission what;
    what.model = model;
    what.mark = "nightly";
    what.calls.push_back({"row-1", endpoint.render(question("a", model)).value().body});
    what.calls.push_back({"row-2", endpoint.render(question("b", model)).value().body});
    return what;
}

TEST(batch_requests, openai_uploads_a_file_of_lines) {
    fixture at("openai");
    at.http.reply(200, wire("openai/response-mock/upload.json"));
    at.http.reply(200, wire("openai/response-doc/validating.json"));
    const batch_receipt receipt = at.submit(two_calls(*at.endpoint, "gpt-5.4-mini"));
    ASSERT_TRUE(receipt.status) << receipt.status.error().message();
    EXPECT_EQ(receipt.status->id, "batch_abc123");
    EXPECT_FALSE(receipt.may_exist);
    ASSERT_EQ(at.http.requests.size(), 2U);
    const json::object recorded = wire_object("openai/request/upload-buffer.json");
    expect_head(at.http.requests[0], recorded);
    const std::string body(recorded.at("body").as_string());
    const auto lines = [](const std::string& form) {
        const auto begin = form.find("{\"custom_id\"");
        std::istringstream in(form.substr(begin, form.find("\n\r\n", begin) - begin));
        json::array all;
        for (std::string line; std::getline(in, line);) all.push_back(json::parse(line));
        return all;
    };
    EXPECT_EQ(lines(at.http.requests[0].body), lines(body));
    const std::string& sent = at.http.requests[0].body;
    EXPECT_NE(sent.find("name=\"purpose\"\r\n\r\nbatch\r\n"), std::string::npos);
    EXPECT_NE(sent.find("filename=\"nightly.jsonl\""), std::string::npos);
    const std::string type = header_of(at.http.requests[0], "content-type");
    const std::string boundary = type.substr(type.find('=') + 1);
    EXPECT_TRUE(sent.starts_with("--" + boundary + "\r\n"));
    EXPECT_TRUE(sent.ends_with("\r\n--" + boundary + "--\r\n"));

    expect_head(at.http.requests[1], wire_object("openai/request/create.json"));
    const json::object created = json::parse(at.http.requests[1].body).as_object();
    EXPECT_EQ(created.at("input_file_id"), "file-wgObPgooZ7UBQwWX");
    EXPECT_EQ(created.at("endpoint"), "/v1/chat/completions");
    EXPECT_EQ(created.at("completion_window"), "24h");
    EXPECT_EQ(created.at("metadata").at("heddle"), "nightly");
}

TEST(batch_requests, responses_have_their_own_endpoint) {
    fixture at("responses");
    at.http.reply(200, wire("openai/response-mock/upload.json"));
    at.http.reply(200, wire("openai/response-doc/validating.json"));
    ASSERT_TRUE(at.submit(two_calls(*at.endpoint, "gpt-5.4-mini")).status);
    EXPECT_NE(at.http.requests[0].body.find(R"("url":"/v1/responses")"), std::string::npos);
    EXPECT_EQ(json::parse(at.http.requests[1].body).at("endpoint"), "/v1/responses");
}

TEST(batch_requests, anthropic_sends_its_calls_inline) {
    fixture at("anthropic");
    at.http.reply(200, wire("anthropic/response-doc/in_progress.json"));
    const batch_submission what = two_calls(*at.endpoint, "claude-sonnet-5-5");
    const std::string first = what.calls[0].body;
    ASSERT_TRUE(at.submit(what).status);
    const json::object recorded = wire_object("anthropic/request/create.json");
    expect_head(at.http.requests[0], recorded);
    const json::object sent = json::parse(at.http.requests[0].body).as_object();
    const json::array& calls = sent.at("requests").as_array();
    ASSERT_EQ(calls.size(), 2U);
    EXPECT_EQ(calls[1].at("custom_id"), "row-2");
    EXPECT_EQ(calls[0].at("params"), json::parse(first));
    const json::object& recorded_call =
        recorded.at("body").at("requests").as_array().front().as_object();
    for (const auto& [name, value] : recorded_call)
        EXPECT_TRUE(calls[0].as_object().contains(name)) << name;
    // The same codec as that of a call.
    recording_log log;
    auto codec = providers::make_anthropic_codec(with_key<providers::anthropic::options>()).value();
    EXPECT_EQ(first,
              codec->encode(question("a", "claude-sonnet-5-5"), providers::response_mode::whole)
                  .value()
                  .body);
}

TEST(batch_requests, gemini_names_the_model_in_the_path) {
    fixture at("gemini");
    at.http.reply(200, wire("gemini/response-doc/pending.json"));
    const batch_receipt receipt = at.submit(two_calls(*at.endpoint, "gemini-3.8-flash"));
    ASSERT_TRUE(receipt.status);
    EXPECT_EQ(receipt.status->id, "123456");
    const json::object recorded = wire_object("gemini/request/create-inline.json");
    expect_head(at.http.requests[0], recorded);
    json::object sent = json::parse(at.http.requests[0].body).as_object();
    EXPECT_EQ(sent.at("batch").at("displayName"),
              recorded.at("body").at("batch").at("displayName"));
    const auto& calls = sent.at("batch").at("inputConfig").at("requests").at("requests").as_array();
    ASSERT_EQ(calls.size(), 2U);
    EXPECT_EQ(calls[0].at("metadata").at("key"), "row-1");
    EXPECT_EQ(calls[0].at("request").at("contents").as_array()[0].at("parts"),
              json::parse(R"([{"text":"a"}])"));
}

TEST(batch_requests, polling_listing_and_cancelling_are_as_recorded) {
    struct one {
        const char* service;
        const char* id;
        const char* poll;
        const char* running;
        const char* since_list;
        const char* cancelled;
    };
    for (const one& each :
         {one{"openai", "batch_abc123", "openai/request/retrieve.json",
              "openai/response-doc/in_progress.json", "after=batch_abc456",
              "openai/response-doc/cancelling.json"},
          one{"anthropic", "msgbatch_013Zva2CMHLNnXjNJJKqJ2EF", "anthropic/request/retrieve.json",
              "anthropic/response-doc/in_progress.json", "after_id=msgbatch_02",
              "anthropic/response-doc/canceling.json"},
          one{"gemini", "123456", "gemini/request/get.json", "gemini/response-doc/running.json",
              "pageToken=tok2", "gemini/response-doc/cancel-ok.json"}}) {
        SCOPED_TRACE(each.service);
        const std::string service = each.service;
        fixture at(service);
        at.http.reply(200, wire(each.running));
        const auto status = at.poll(each.id);
        ASSERT_TRUE(status) << status.error().message();
        EXPECT_EQ(status->state, batch_state::running);
        expect_head(at.http.requests.back(), wire_object(each.poll));

        at.http.reply(200, wire(service + "/response-doc/list.json"));
        at.http.reply(200, "{}");
        const auto all = at.on.run(at.endpoint->list(0, at.on.context()));
        ASSERT_TRUE(all) << all.error().message();
        ASSERT_EQ(all->size(), 2U);
        EXPECT_TRUE(all->front().created);
        EXPECT_NE(at.http.requests.back().target.find(each.since_list), std::string::npos)
            << at.http.requests.back().target;

        // Batches that are older than what is looked for end the search. One with a mark may be it
        // all the same: clocks differ.
        at.http.reply(200, wire(service + "/response-doc/list.json"));
        const auto none = at.on.run(at.endpoint->list(4'000'000'000, at.on.context()));
        ASSERT_TRUE(none);
        for (const batch_status& old : *none) EXPECT_FALSE(old.mark.empty());
        EXPECT_EQ(none->empty(), service != "gemini");

        at.http.reply(200, wire(each.cancelled));
        ASSERT_TRUE(at.on.run(at.endpoint->cancel(each.id, at.on.context())));
        expect_head(at.http.requests.back(), wire_object(service + "/request/cancel.json"));
        EXPECT_TRUE(at.http.responses.empty());
    }
}

TEST(batch_requests, results_are_asked_for_as_recorded) {
    fixture at("openai");
    batch_status ended;
    ended.id = "batch_abc123";
    ended.files = {"file-cvaTdG"};
    at.http.reply(200, "");
    ASSERT_TRUE(at.fetch(ended));
    expect_head(at.http.requests.back(), wire_object("openai/request/output-content.json"));

    fixture other("anthropic");
    ended.id = "msgbatch_013Zva2CMHLNnXjNJJKqJ2EF";
    ended.has_results = true;
    other.http.reply(200, "");
    ASSERT_TRUE(other.fetch(ended));
    expect_head(other.http.requests.back(), wire_object("anthropic/request/results.2.json"));

    fixture third("gemini");
    ended.files = {"batch-123456"};
    third.http.reply(200, "");
    ASSERT_TRUE(third.fetch(ended));
    expect_head(third.http.requests.back(), wire_object("gemini/request/download.json"));
}

TEST(batch_requests, what_breaks_the_limits_is_not_sent) {
    fixture at("gemini");
    batch_submission what = two_calls(*at.endpoint, "m");
    what.calls[1].id = "row-1";
    EXPECT_FALSE(at.submit(what).status);
    what.calls[1].id = "row\"2";
    EXPECT_FALSE(at.submit(what).status);
    what.calls[1].id = "row-2";
    what.calls[1].body.resize(at.endpoint->limits().max_bytes, ' ');
    const batch_receipt receipt = at.submit(what);
    ASSERT_FALSE(receipt.status);
    EXPECT_FALSE(receipt.may_exist);
    EXPECT_TRUE(at.http.requests.empty());
}

TEST(batch_requests, a_submission_without_a_response_may_exist) {
    const error broke =
        error(make_error_code(ports::http_errc::connection_reset), "broke").with_retryable(true);
    fixture at("anthropic");
    at.http.reply(200, "");
    at.http.responses.back().ends_with = broke;
    batch_receipt receipt = at.submit(two_calls(*at.endpoint, "m"));
    ASSERT_FALSE(receipt.status);
    EXPECT_TRUE(receipt.may_exist);
    EXPECT_EQ(at.http.requests.size(), 1U) << "it is not sent again";

    at.http.reply(200, "");
    at.http.responses.back().ends_with = broke;
    at.http.responses.back().sent = false;
    EXPECT_FALSE(at.submit(two_calls(*at.endpoint, "m")).may_exist);

    at.http.reply(400, wire("anthropic/response-doc/err-400-duplicate.json"));
    receipt = at.submit(two_calls(*at.endpoint, "m"));
    EXPECT_FALSE(receipt.may_exist);
    EXPECT_EQ(receipt.status.error().code(), ports::llm_errc::invalid_request);

    at.http.reply(502, "<html>bad gateway</html>");
    EXPECT_TRUE(at.submit(two_calls(*at.endpoint, "m")).may_exist);
    at.http.reply(200, R"({"id":"../x","processing_status":"in_progress"})");
    EXPECT_TRUE(at.submit(two_calls(*at.endpoint, "m")).may_exist);
}

} // namespace
} // namespace heddle::testing::batches
