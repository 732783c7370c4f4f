// A chat provider with the codec of Chat Completions, over an HTTP client that is scripted to
// reply.
#pragma once

#include "../provider_testing.hpp"

#include <heddle/coro/spawn.hpp>
#include <heddle/providers/common/http_chat_provider.hpp>
#include <heddle/providers/openai/provider.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::testing::http_chat {

using namespace std::chrono_literals;
using ports::chat_response;
using ports::http_errc;
using ports::llm_errc;
using providers::call_demand;
using providers::call_outcome;
using providers::call_permit;
using providers::call_ticket;

inline constexpr std::string_view ok =
    R"({"id":"1","model":"m","choices":[{"message":{"content":"fine"},"finish_reason":"stop"}],)"
    R"("usage":{"prompt_tokens":7,"completion_tokens":3}})";
inline constexpr std::string_view piece =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ab\"}}]}\n\n";
inline constexpr std::string_view last =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":"
    "{\"prompt_tokens\":7,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n";
inline const std::vector<std::pair<std::string, std::string>> as_stream = {
    {"content-type", "text/event-stream"}};

/// Records what it is asked and what is reported to it.
class recording_gate final : public providers::call_gate {
public:
    call_permit try_acquire(const call_demand& demand) override {
        demands.push_back(demand);
        if (!at_once || given == admits) return {};
        return {*this, {nullptr, ++given, demand.input_tokens, demand.output_tokens}};
    }
    coro::task<result<call_permit>> acquire(call_demand demand,
                                            coro::call_context context) override {
        ++waited;
        if (refusal) co_return *refusal;
        result<void> slept = co_await coro::sleep_until(context, context.loop->now() + wait);
        if (!slept) co_return std::move(slept).error();
        co_return call_permit(*this, {nullptr, ++given, demand.input_tokens, 0});
    }

    struct ended {
        std::uint64_t number = 0;
        int status = 0;
        std::optional<std::int64_t> requests_limit;
        std::optional<llm_errc> failure;
        bool cancelled = false;
        std::int64_t used = -1; // input and output
    };
    std::vector<call_demand> demands;
    std::vector<ended> ends;
    std::vector<std::uint64_t> sent_numbers;
    std::vector<std::uint64_t> answering_numbers;
    std::uint64_t given = 0;
    int waited = 0;
    bool at_once = true;
    std::uint64_t admits = 1'000'000;
    std::optional<error> refusal;
    std::chrono::milliseconds wait{1};

private:
    void sent(const call_ticket& ticket) noexcept override {
        sent_numbers.push_back(ticket.number);
    }
    void answering(const call_ticket& ticket) noexcept override {
        answering_numbers.push_back(ticket.number);
    }
    void end(const call_ticket& ticket, const call_outcome& outcome) noexcept override {
        ended seen;
        seen.number = ticket.number;
        seen.status = outcome.status;
        if (outcome.limits) seen.requests_limit = outcome.limits->requests_limit;
        if (outcome.failure) {
            seen.cancelled = outcome.failure->is_cancelled();
            if (outcome.failure->code().category() == ports::llm_category())
                seen.failure = static_cast<llm_errc>(outcome.failure->code().value());
        }
        if (outcome.usage) seen.used = outcome.usage->input + outcome.usage->output;
        ends.push_back(seen);
    }
};

struct fixture {
    test_loop on{coro::event_loop::time::virtual_};
    fake_http http;
    recording_log log;
    std::shared_ptr<recording_gate> gate = std::make_shared<recording_gate>();
    providers::openai::options options;
    std::unique_ptr<providers::http_chat_provider> port;
    ports::chat_request request = user_request("hello");
    std::string handed_out;

    fixture() {
        options.api_key = secret("sk-0123456789abcdef");
        options.retry.first_wait = 1ms;
        options.retry.max_retries = options.retry.max_rate_limit_retries = 2;
        options.retry.seed = 1;
    }
    providers::http_chat_provider& provider() {
        if (!port) {
            port = providers::make_openai_provider(http, options, log).value();
        }
        return *port;
    }
    void gated() { options.gate = gate; }
    result<chat_response> complete(coro::cancel_source* cancel = nullptr) {
        return on.run(provider().complete(request, on.context(cancel)));
    }
    result<chat_response> stream(coro::cancel_source* cancel = nullptr) {
        const ports::chat_delta_sink sink = [this](std::string_view text) -> result<void> {
            handed_out += text;
            return {};
        };
        return on.run(provider().stream(request, sink, on.context(cancel)));
    }
    /// Cancels at that time of the loop.
    void cancel_in(std::chrono::milliseconds span, coro::cancel_source& source) {
        coro::spawn(on.loop, wait_and_cancel(on.context(), span, &source),
                    [](std::exception_ptr thrown) { EXPECT_FALSE(thrown); });
    }
    static coro::task<void> wait_and_cancel(coro::call_context context,
                                            std::chrono::milliseconds span,
                                            coro::cancel_source* source) {
        const auto slept = co_await coro::sleep_until(context, context.loop->now() + span);
        EXPECT_TRUE(slept);
        source->request(cancel_reason::user);
    }
    void breaks(http_errc code, std::string body = {}) {
        http.reply(200, std::move(body), as_stream);
        http.responses.back().ends_with = error(make_error_code(code), "broke");
    }
};

} // namespace heddle::testing::http_chat
