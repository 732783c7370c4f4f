// Models that follow a plan, and a loop with virtual time around them.
#pragma once

#include <heddle/providers/routing/route.hpp>

#include "../provider_testing.hpp"

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::testing {

using namespace std::chrono_literals;
using ports::chat_request;
using ports::chat_response;
using ports::llm_errc;
using providers::curable_elsewhere;
using providers::error_kinds;
using providers::fallback_route;
using providers::hedge_rules;
using providers::hedged_route;

/// A model that follows a plan: after a delay a response or an error, pieces before it.
class planned_model final : public ports::llm_port {
public:
    struct step {
        std::chrono::milliseconds delay{0};
        std::optional<llm_errc> fails;
        std::vector<std::string> pieces{"one ", "two"};
        std::chrono::milliseconds between{0};
        std::uint32_t attempts = 0; ///< that an error counts; 0: it does not say
        bool caused = false;        ///< an error has a cause of its own
        bool unsent = false;        ///< an error reports that nothing was sent
    };
    explicit planned_model(std::string name) : name_(std::move(name)) {}

    std::string_view provider_name() const noexcept override { return name_; }
    coro::task<result<chat_response>> complete(const chat_request& request,
                                               coro::call_context context) override {
        return play(&request, {}, context);
    }
    coro::task<result<chat_response>> stream(const chat_request& request,
                                             ports::chat_delta_sink on_delta,
                                             coro::call_context context) override {
        return play(&request, std::move(on_delta), context);
    }

    std::deque<step> plan; ///< the last is repeated
    std::vector<std::string> models;
    chat_request last;
    int running = 0;
    int cancelled = 0;

private:
    coro::task<result<chat_response>> play(const chat_request* request,
                                           ports::chat_delta_sink on_delta,
                                           coro::call_context context) {
        models.push_back(request->model);
        last = *request;
        const step now = plan.empty() ? step{} : plan.front();
        if (plan.size() > 1) plan.pop_front();
        ++running;
        result<void> waited = co_await coro::sleep_until(context, context.loop->now() + now.delay);
        chat_response response;
        for (const std::string& piece : now.pieces) {
            if (!waited || !on_delta) break;
            waited = on_delta(piece);
            if (!waited) break;
            response.text += piece;
            waited = co_await coro::sleep_until(context, context.loop->now() + now.between);
        }
        --running;
        if (!waited) {
            ++cancelled;
            co_return std::move(waited).error();
        }
        if (now.fails) {
            error failed(ports::make_error_code(*now.fails), name_ + " failed");
            if (now.attempts != 0) failed = std::move(failed).with_attempts(now.attempts);
            if (now.unsent) failed = std::move(failed).with_attempts(0);
            if (now.caused) {
                failed = std::move(failed).with_cause(
                    error(ports::make_error_code(ports::http_errc::connect_failed), "refused"));
            }
            co_return failed;
        }
        if (!on_delta) response.text = "one two";
        response.model = request->model;
        response.usage = ports::token_usage{100, 10, 0, 0, 0};
        co_return response;
    }

    std::string name_;
};

struct route_harness {
    template <class T>
    T run(coro::task<T> work) {
        std::optional<T> value;
        coro::spawn(loop, keep(std::move(work), &value), [](std::exception_ptr thrown) {
            if (thrown) std::rethrow_exception(thrown);
        });
        loop.run();
        return std::move(*value);
    }
    template <class T>
    static coro::task<void> keep(coro::task<T> work, std::optional<T>* value) {
        T result = co_await std::move(work);
        value->emplace(std::move(result));
    }
    coro::call_context context(coro::cancel_source* cancel = nullptr, coro::deadline until = {}) {
        return {&loop, cancel, until};
    }

    boost::asio::io_context io{1};
    coro::event_loop loop{io, coro::event_loop::time::virtual_};
    recording_log log;
    planned_model a{"a"};
    planned_model b{"b"};
    planned_model c{"c"};
    chat_request request = user_request("hello", "m-a");
    std::string text;
    ports::chat_delta_sink sink = [this](std::string_view piece) {
        text += piece;
        return result<void>();
    };
};

inline hedge_rules after(std::chrono::milliseconds wait, double most = 1) {
    hedge_rules rules;
    rules.after = wait;
    rules.max_extra_calls = most;
    return rules;
}

} // namespace heddle::testing
