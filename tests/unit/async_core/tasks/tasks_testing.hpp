// What the tests of tasks share: source text as data, a model that plays a script, a session.
#pragma once

#include <heddle/coro/wait_point.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

#include <loopback_runner.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace heddle::tasks::testing {

/// Reads one expression.
class reading {
public:
    [[nodiscard]] lang::value form(const std::string& text) {
        const std::uint32_t position = sources.add("test", text);
        auto read = lang::read_all(memory(), text, position);
        if (!read || read->size() != 1) throw std::runtime_error("the test's text is wrong");
        return (*read)[0].content;
    }
    [[nodiscard]] lang::value json(std::string_view text) {
        return lang::json_to_value(memory(), text).value();
    }
    [[nodiscard]] lang::heap& memory() { return harness.memory(); }

    lang::realm harness;
    source_map sources;
};

/// "KIND: message".
[[nodiscard]] inline std::string shown(const error& failure) {
    return std::string(lang::error_kind_name(failure)) + ": " + failure.message();
}
/// The value as JSON, or "KIND: message" of the error.
[[nodiscard]] inline std::string json_of(const result<lang::value>& ended) {
    return ended ? lang::value_to_json(*ended).value() : shown(ended.error());
}

[[nodiscard]] inline std::string reason_of(const error& failure) {
    const auto* payload = dynamic_cast<const lang::script_payload*>(failure.info().payload.get());
    return payload ? payload->reason : std::string();
}

/// Answers in turn, the last response again and again; keeps what it was asked.
class scripted_llm final : public ports::llm_port {
public:
    using reply = std::function<result<ports::chat_response>(const ports::chat_request&)>;

    void say(std::string text, ports::finish_reason finish = ports::finish_reason::stop) {
        replies.push_back([=](const ports::chat_request&) -> result<ports::chat_response> {
            ports::chat_response response;
            response.text = text;
            response.model = "scripted-1";
            response.finish = finish;
            response.usage = ports::token_usage{10, 5, 2, 0};
            return response;
        });
    }
    void break_with(ports::llm_errc code, std::string message) {
        replies.push_back([=](const ports::chat_request&) -> result<ports::chat_response> {
            return error(make_error_code(code), message);
        });
    }

    std::string_view provider_name() const noexcept override { return name; }
    unsigned max_requests_at_once() const noexcept override { return requests_at_once; }
    coro::task<result<ports::chat_response>> complete(const ports::chat_request& request,
                                                      coro::call_context context) override {
        const std::size_t index = asked.size();
        asked.push_back(request);
        reply next = replies.size() > 1 ? replies.front() : reply();
        if (next) replies.pop_front();
        else if (!replies.empty()) next = replies.front();
        if (delay.count() != 0) {
            max_at_once = std::max(max_at_once, ++waiting);
            const auto slept = co_await coro::sleep_until(context, context.loop->now() + delay);
            --waiting;
            if (!slept) co_return slept.error();
        }
        if (!next) co_return ports::chat_response{};
        co_return next(asked[index]);
    }
    coro::task<result<ports::chat_response>> stream(const ports::chat_request& request,
                                                    ports::chat_delta_sink on_delta,
                                                    coro::call_context context) override {
        result<ports::chat_response> response = co_await complete(request, context);
        if (!response) co_return response;
        for (std::size_t at = 0; at < response->text.size(); at += piece_bytes) {
            if (request.gate && !request.gate->open()) {
                ++held_back;
                const result<void> opened = co_await request.gate->opened(context);
                if (!opened) co_return opened.error();
            }
            const result<void> taken =
                on_delta(std::string_view(response->text).substr(at, piece_bytes));
            if (!taken) co_return taken.error();
            ++handed_out;
            const result<void> slept =
                co_await coro::sleep_until(context, context.loop->now() + piece_delay);
            if (!slept) {
                ++cut;
                co_return slept.error();
            }
        }
        // As a provider, which has all of it however the exchange ends.
        const result<void> ended =
            co_await coro::sleep_until(context, context.loop->now() + open_after_end);
        if (!ended) ++cut_at_end;
        co_return response;
    }

    std::size_t piece_bytes = 4;
    std::chrono::milliseconds open_after_end{0}; ///< that long the connection stays open
    int cut_at_end = 0;
    std::chrono::milliseconds piece_delay{1};
    int handed_out = 0;
    int held_back = 0;
    int cut = 0;
    std::string name = "fake";
    std::deque<reply> replies;
    std::vector<ports::chat_request> asked;
    std::chrono::milliseconds delay{0};
    int waiting = 0; ///< of those that are delayed
    int max_at_once = 0;
    unsigned requests_at_once = 1; ///< as of a provider that hedges
};

class counting_observer final : public task_observer {
public:
    void on_task_started(const task_started&) noexcept override { ++started; }
    void on_task_finished(const task_finished& event) noexcept override {
        ++finished;
        outcomes.push_back(event.outcome);
        reasons.emplace_back(event.reason);
        input_tokens += event.usage.input;
        costs.push_back(event.cost_usd);
        estimated += event.estimated ? 1 : 0;
        earlier_turns += event.earlier_turns;
        of_cache += event.of_cache ? 1 : 0;
    }
    void on_budget_wait(bool waits) noexcept override {
        if (waits) ++waits_begun;
        else ++waits_ended;
    }
    int started = 0;
    int finished = 0;
    std::int64_t input_tokens = 0;
    std::vector<task_outcome> outcomes;
    std::vector<std::string> reasons;
    std::vector<std::optional<double>> costs;
    int estimated = 0;
    std::uint64_t earlier_turns = 0;
    int of_cache = 0;
    int waits_begun = 0;
    int waits_ended = 0;
};

/// A dollar for a thousand tokens; no price for the model "unknown".
class dear_prices final : public ports::price_port {
public:
    std::optional<double> cost_usd(std::string_view, std::string_view model,
                                   const ports::token_usage& usage) const override {
        if (model == "unknown") return std::nullopt;
        return static_cast<double>(usage.input + usage.output) / 1000;
    }
};

[[nodiscard]] inline task_system_parts with_prices() {
    static const dear_prices prices;
    task_system_parts parts;
    parts.prices = &prices;
    return parts;
}

class keeping_log final : public log_port {
public:
    bool enabled(log_level level) const noexcept override { return level >= log_level::info; }
    void write(log_level, std::string_view, std::string_view message) noexcept override {
        lines.emplace_back(message);
    }
    [[nodiscard]] bool said(std::string_view part) const {
        for (const std::string& line : lines) {
            if (line.find(part) != std::string::npos) return true;
        }
        return false;
    }
    std::vector<std::string> lines;
};

/// An engine with one session whose tasks run on a scripted model.
class harness {
public:
    explicit harness(std::vector<task_template> templates = {}, task_system_parts tasks = {}) {
        models.add(llm);
        EXPECT_TRUE(models.set_default("test-model"));
        tasks.models = &models;
        tasks.observer = &observer;
        tasks.templates = std::move(templates);
        host::engine_parts parts;
        parts.log = &log;
        parts.operators = operators(std::move(tasks));
        engine.emplace(runner.loop, std::move(parts));
        session = engine->new_session().value();
    }

    result<lang::value> run(std::string text, host::run_options options = {}) {
        return runner.run(session->evaluate("test", std::move(text), options));
    }
    /// The value as JSON, or "KIND: message" of the error.
    std::string json(std::string text, host::run_options options = {}) {
        return json_of(run(std::move(text), options));
    }

    loopback::runner runner;
    scripted_llm llm;
    counting_observer observer;
    keeping_log log;
    model_registry models;
    std::optional<host::engine> engine;
    std::unique_ptr<host::session> session;
};

} // namespace heddle::tasks::testing
