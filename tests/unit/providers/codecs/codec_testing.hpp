// What the tests of the codecs share.
#pragma once

#include "../provider_testing.hpp"

#include <heddle/providers/common/chat_codec.hpp>

#include <gtest/gtest.h>
#include <boost/json/serialize.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace heddle::testing {

inline const std::chrono::system_clock::time_point codec_now =
    std::chrono::sys_days(std::chrono::year(2026) / 11 / 21) + std::chrono::hours(5);

/// The JSON of a request that must be possible.
inline boost::json::value body_of(providers::chat_codec& codec, const ports::chat_request& request,
                                  providers::response_mode mode = providers::response_mode::whole) {
    const auto encoded = codec.encode(request, mode);
    EXPECT_TRUE(encoded) << encoded.error().message();
    return encoded ? boost::json::parse(encoded->body) : boost::json::value();
}

/// The error of a request that is refused before it is sent: "message | hint".
inline std::string refusal_of(providers::chat_codec& codec, const ports::chat_request& request) {
    const auto encoded = codec.encode(request, providers::response_mode::whole);
    EXPECT_FALSE(encoded);
    if (encoded) return {};
    EXPECT_EQ(encoded.error().code(), make_error_code(ports::llm_errc::invalid_request));
    EXPECT_EQ(encoded.error().info().retryable, false);
    return encoded.error().message() + " | " + encoded.error().info().hint;
}

/// The settings that are not sent, each as "name: reason".
inline std::vector<std::string> left_out_of(providers::chat_codec& codec,
                                            const ports::chat_request& request) {
    const auto encoded = codec.encode(request, providers::response_mode::whole);
    EXPECT_TRUE(encoded) << encoded.error().message();
    std::vector<std::string> lines;
    if (!encoded) return lines;
    for (const auto& each : encoded->left_out) lines.push_back(each.name + ": " + each.reason);
    return lines;
}

inline ports::http_response response_of(int status, std::string body,
                                        std::vector<std::pair<std::string, std::string>> headers = {
                                            {"content-type", "application/json"}}) {
    ports::http_response response;
    response.status = status;
    response.headers = std::move(headers);
    response.body = std::move(body);
    return response;
}

inline ports::chat_response read_of(providers::chat_codec& codec, std::string body) {
    auto read = codec.decode(response_of(200, std::move(body)), codec_now);
    EXPECT_TRUE(read) << read.error().message();
    return read ? *std::move(read) : ports::chat_response();
}

inline error failure_of(providers::chat_codec& codec, int status, std::string body,
                        std::vector<std::pair<std::string, std::string>> headers = {}) {
    auto read = codec.decode(response_of(status, std::move(body), std::move(headers)), codec_now);
    EXPECT_FALSE(read);
    return read ? error(errc::internal, "no error") : std::move(read).error();
}

/// Feeds a stream at once and ends it.
inline result<ports::chat_response> stream_of(providers::chat_codec& codec, std::string_view body) {
    const auto reader = codec.open_stream();
    HEDDLE_CHECK(reader->feed(body, nullptr));
    return reader->finish();
}

/// `request` with the response as the next turn, and a result for each of its calls.
inline ports::chat_request carried_on(ports::chat_request request,
                                      const ports::chat_response& response) {
    ports::chat_message turn;
    turn.role = ports::chat_role::assistant;
    turn.text = response.text;
    turn.tool_calls = response.tool_calls;
    turn.reasoning = response.reasoning;
    request.messages.push_back(std::move(turn));
    for (const auto& call : response.tool_calls) {
        ports::chat_message result;
        result.role = ports::chat_role::tool;
        result.text = "18 degrees";
        result.tool_call_id = call.id;
        result.tool_name = call.name;
        request.messages.push_back(std::move(result));
    }
    return request;
}

} // namespace heddle::testing
