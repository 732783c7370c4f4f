// What is counted, and the parts of requests.
#include "serve/serve_metrics.hpp"
#include "serve/json_response.hpp"
#include "serve/openapi.hpp"

#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

using namespace std::chrono_literals;

bool has_line(const std::string& text, const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(serve_metrics, are_in_the_format_of_prometheus) {
    serve_metrics metrics;
    metrics.ended("greet", 200, 30ms);
    metrics.ended("greet", 504, 400s);
    const serve_metrics::request_in_progress third(metrics);
    { const serve_metrics::request_in_progress fourth(metrics); }
    metrics.refused(429);
    metrics.called_by("a\"b\\c\nd");
    metrics.model_failed("llm_error");
    runtime_stats runtime;
    runtime.all.input_tokens = 7;
    runtime.all.cost_usd = 0.5;
    const std::string text = metrics.text(runtime, false);
    for (const char* line : {
             "# TYPE heddle_requests_total counter",
             "heddle_requests_total{function=\"greet\",status=\"200\"} 1",
             "heddle_requests_total{function=\"greet\",status=\"504\"} 1",
             "heddle_requests_total{function=\"-\",status=\"429\"} 1",
             "heddle_request_seconds_bucket{function=\"greet\",le=\"0.025\"} 0",
             "heddle_request_seconds_bucket{function=\"greet\",le=\"0.05\"} 1",
             "heddle_request_seconds_bucket{function=\"greet\",le=\"300\"} 1",
             "heddle_request_seconds_bucket{function=\"greet\",le=\"+Inf\"} 2",
             "heddle_request_seconds_sum{function=\"greet\"} 400.03",
             "heddle_request_seconds_count{function=\"greet\"} 2",
             "heddle_client_requests_total{client=\"a\\\"b\\\\c\\nd\"} 1",
             "heddle_model_errors_total{reason=\"llm_error\"} 1",
             "heddle_requests_in_progress 1",
             "heddle_tokens_total{direction=\"input\"} 7",
             "heddle_cost_usd_total 0.5",
             "heddle_ready 0",
         })
        EXPECT_TRUE(has_line(text, line)) << line << "\n" << text;
}

TEST(serve_requests, bound_their_own_time) {
    const auto time_in = [](std::string_view target, std::string_view field) {
        http::server_request request;
        request.target = target;
        if (!field.empty()) request.fields.push_back({"x-heddle-timeout", field});
        const auto read = time_of(request, 10s);
        return read ? *read : std::chrono::nanoseconds(-1);
    };
    EXPECT_EQ(time_in("/v1/call/f", ""), 10s);
    EXPECT_EQ(time_in("/v1/call/f", "0.25"), 250ms);
    EXPECT_EQ(time_in("/v1/call/f?timeout=2", ""), 2s);
    EXPECT_EQ(time_in("/v1/call/f?x=1&timeout=2", ""), 2s);
    EXPECT_EQ(time_in("/v1/call/f?timeout=2", "3"), 3s);
    EXPECT_EQ(time_in("/v1/call/f", "1e30"), 10s);
    EXPECT_EQ(time_in("/v1/call/f?timeout=1e99", ""), 10s);
    EXPECT_EQ(time_in("/v1/call/f?mytimeout=2", ""), 10s);
    for (const char* wrong : {"soon", "-1", "+1", "0x1p3", "0", "nan", "inf", "1s"})
        EXPECT_EQ(time_in("/v1/call/f", wrong), std::chrono::nanoseconds(-1)) << wrong;
}

TEST(serve_requests, bodies_are_json_that_names_itself) {
    const auto read = [](std::string_view type, std::string_view body) {
        http::server_request request;
        request.body = body;
        if (!type.empty()) request.fields.push_back({"Content-Type", type});
        const auto got = json_of(request);
        return got ? got->to_string() : std::string("refused");
    };
    EXPECT_EQ(read("application/json", "{\"a\":1}"), "{\"a\":1}");
    EXPECT_EQ(read("Application/JSON; charset=utf-8", "[1]"), "[1]");
    EXPECT_EQ(read("", ""), "null");
    // What a page of another site may send without being asked for permission.
    for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded"})
        EXPECT_EQ(read(type, "{}"), "refused") << type;
    EXPECT_EQ(read("application/json", "{"), "refused");
}

TEST(openapi, paths_are_encoded) {
    EXPECT_EQ(path_encoded("valid?"), "valid%3F");
    EXPECT_EQ(path_encoded("one/f"), "one/f");
    EXPECT_EQ(path_encoded("\xc3\xa4-1"), "%C3%A4-1");
}

} // namespace
} // namespace heddle::cli
