// A batch endpoint in memory, which outlives the processes that use it.
#pragma once

#include <heddle/providers/batch/batch_endpoint.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

class fake_batches final : public providers::batch_endpoint {
public:
    struct batch {
        providers::batch_status status;
        std::vector<providers::batch_call> calls;
        bool was_cancelled = false;
    };
    using response_maker = std::function<providers::batch_response(const providers::batch_call&)>;

    std::string_view provider_name() const noexcept override { return "openai"; }
    providers::batch_limits limits() const noexcept override { return most; }
    std::size_t size_of(const providers::batch_call& call) const noexcept override {
        return call.body.size() + call.id.size();
    }
    result<providers::rendered_call> render(const ports::chat_request& request) override {
        return providers::rendered_call{"\"" + request.messages.front().text + "\"", {}};
    }
    coro::task<providers::batch_receipt> submit(providers::batch_submission what,
                                                coro::call_context) override {
        ++submissions;
        if (refuses_submissions)
            co_return providers::batch_receipt{failure(ports::llm_errc::authentication)};
        if (loses_submissions)
            co_return providers::batch_receipt{failure(ports::llm_errc::connection), true};
        batch fresh;
        fresh.status.id = "b" + std::to_string(batches.size() + 1);
        if (keeps_marks) fresh.status.mark = what.mark;
        if (shows_sizes) fresh.status.total = what.calls.size();
        fresh.status.created = created;
        fresh.calls = std::move(what.calls);
        batches.push_back(fresh);
        if (loses_responses)
            co_return providers::batch_receipt{failure(ports::llm_errc::connection), true};
        co_return providers::batch_receipt{fresh.status};
    }
    coro::task<result<providers::batch_status>> poll(std::string id, coro::call_context) override {
        ++polls;
        for (const batch& each : batches)
            if (each.status.id == id) co_return each.status;
        providers::batch_status gone;
        gone.id = id;
        gone.state = providers::batch_state::gone;
        co_return gone;
    }
    coro::task<result<void>> fetch(providers::batch_status of, providers::batch_sink sink,
                                   coro::call_context) override {
        for (const batch& each : batches) {
            if (each.status.id != of.id) continue;
            std::size_t handed = 0;
            for (const providers::batch_call& call : each.calls) {
                if (call.body == silent) continue;
                if (each.was_cancelled && handed >= performed_until_cancelled) {
                    const providers::batch_response missed{
                        call.id, providers::batch_response::fate::cancelled,
                        failure(ports::llm_errc::overloaded, true)};
                    if (auto taken = sink(missed); !taken) co_return taken;
                    continue;
                }
                if (handed++ == breaks_after.value_or(each.calls.size()))
                    co_return failure(ports::llm_errc::connection);
                if (auto taken = sink(responses(call)); !taken) co_return taken;
            }
        }
        co_return result<void>();
    }
    coro::task<result<std::vector<providers::batch_status>>> list(std::int64_t,
                                                                  coro::call_context) override {
        ++lists;
        std::vector<providers::batch_status> all;
        for (const batch& each : batches) all.push_back(each.status);
        co_return all;
    }
    coro::task<result<void>> cancel(std::string id, coro::call_context) override {
        for (batch& each : batches) {
            if (each.status.id != id) continue;
            if (each.status.state != providers::batch_state::running)
                co_return failure(ports::llm_errc::invalid_request);
            each.was_cancelled = true;
            each.status.state = ends_when_cancelled ? providers::batch_state::ended
                                                    : providers::batch_state::cancelled;
            each.status.has_results = true;
        }
        co_return result<void>();
    }

    /// All batches that run are in that state.
    void end(providers::batch_state state = providers::batch_state::ended) {
        for (batch& each : batches) {
            if (each.status.state != providers::batch_state::running) continue;
            each.status.state = state;
            each.status.has_results = true;
        }
    }
    /// How often the call with that body is in a batch.
    [[nodiscard]] std::size_t times(const std::string& body) const {
        std::size_t count = 0;
        for (const batch& each : batches)
            for (const auto& call : each.calls) count += call.body == body ? 1 : 0;
        return count;
    }
    static error failure(ports::llm_errc kind, bool retryable = false) {
        return error(ports::make_error_code(kind), "openai: it failed").with_retryable(retryable);
    }
    static providers::batch_response fails(const providers::batch_call& call, ports::llm_errc kind,
                                           bool retryable) {
        return {call.id, providers::batch_response::fate::failed, failure(kind, retryable)};
    }
    static providers::batch_response replies(const providers::batch_call& call) {
        ports::chat_response response;
        response.text = "to " + call.body;
        response.model = "m-2026";
        response.usage = ports::token_usage{};
        response.usage->input = 1000;
        response.usage->output = 100;
        return {call.id, providers::batch_response::fate::answered, response};
    }

    providers::batch_limits most{100, 1'000'000};
    bool keeps_marks = true;
    bool shows_sizes = true;
    bool refuses_submissions = false; ///< with a clear error
    bool loses_submissions = false;   ///< before the service has them
    bool loses_responses = false;     ///< after the service has them
    std::optional<std::size_t> breaks_after;
    std::size_t performed_until_cancelled = 0; ///< calls of a batch
    bool ends_when_cancelled = false;          ///< as Anthropic, which has no state for it
    std::string silent;                        ///< body of the call that no line answers
    std::int64_t created = 4'000'000'000;
    response_maker responses = &fake_batches::replies;
    std::deque<batch> batches;
    int submissions = 0;
    int polls = 0;
    int lists = 0;
};

} // namespace heddle::cli
