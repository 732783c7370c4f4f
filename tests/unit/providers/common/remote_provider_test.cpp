#include <heddle/providers/common/remote_provider.hpp>

#include <heddle/coro/wait_point.hpp>
#include <heddle/ports/send_gate.hpp>

#include "../provider_testing.hpp"

#include <loop_thread.hpp>
#include <loopback_runner.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;
using loopback::loop_thread;
using loopback::runner;
using ports::chat_request;
using ports::chat_response;
using providers::remote_provider;
using ::testing::ElementsAre;

/// A service that does what a test wants, and notes on which thread.
class home_service final : public ports::llm_port {
public:
    using behaviour = std::function<coro::task<result<chat_response>>(
        const chat_request&, ports::chat_delta_sink, coro::call_context)>;

    std::string_view provider_name() const noexcept override { return "home"; }
    bool keeps_responses() const noexcept override { return true; }
    unsigned max_requests_at_once() const noexcept override { return 3; }
    coro::task<result<chat_response>> complete(const chat_request& request,
                                               coro::call_context context) override {
        thread = std::this_thread::get_id();
        return play(request, {}, context);
    }
    coro::task<result<chat_response>> stream(const chat_request& request,
                                             ports::chat_delta_sink on_delta,
                                             coro::call_context context) override {
        thread = std::this_thread::get_id();
        return play(request, std::move(on_delta), context);
    }

    behaviour play;
    std::thread::id thread;
};

struct remote_test : ::testing::Test {
    runner here;
    home_service service;
    loop_thread home;
    remote_provider port{home.address(), service};
    chat_request request = user_request("hello", "m");
    std::string text;
    std::vector<std::thread::id> receivers;
    ports::chat_delta_sink sink = [this](std::string_view piece) {
        text += piece;
        receivers.push_back(std::this_thread::get_id());
        return result<void>();
    };
};

TEST_F(remote_test, describes_the_service) {
    EXPECT_EQ(port.provider_name(), "home");
    EXPECT_TRUE(port.keeps_responses());
    EXPECT_EQ(port.max_requests_at_once(), 3u);
}

TEST_F(remote_test, request_and_response_cross_whole) {
    chat_request seen;
    std::string task;
    service.play = [&](const chat_request& asked, ports::chat_delta_sink,
                       coro::call_context context) -> coro::task<result<chat_response>> {
        EXPECT_EQ(context.step, nullptr);
        seen = asked;
        task = asked.origin.task;
        chat_response response;
        response.text = "fine";
        response.attempts = 3;
        response.lost.push_back({"home", "m", ports::token_usage{7, 1}, 12});
        response.warnings = {"no seed"};
        response.usage = ports::token_usage{100, 10};
        co_return response;
    };
    request.temperature = 0.5;
    std::string name = "shout";
    request.origin = {name, ""};
    const auto response = here.run(port.complete(request, here.context())).value();
    EXPECT_EQ(service.thread, home.id());
    EXPECT_EQ(seen.messages.front().text, "hello");
    EXPECT_EQ(seen.temperature, 0.5);
    EXPECT_EQ(task, "shout");
    EXPECT_EQ(response.text, "fine");
    EXPECT_EQ(response.attempts, 3u);
    ASSERT_EQ(response.lost.size(), 1u);
    EXPECT_EQ(response.lost.front().usage->input, 7);
    EXPECT_THAT(response.warnings, ElementsAre("no seed"));
    EXPECT_EQ(response.usage->input, 100);
}

TEST_F(remote_test, errors_cross_with_what_they_have_cost) {
    service.play = [](const chat_request&, ports::chat_delta_sink,
                      coro::call_context) -> coro::task<result<chat_response>> {
        chat_response part;
        part.text = "half";
        co_return error(ports::make_error_code(ports::llm_errc::overloaded), "busy")
            .with_hint("later")
            .with_retry_after(3s)
            .with_attempts(4)
            .with_payload(std::make_shared<ports::partial_response>(std::move(part)));
    };
    const auto failed = here.run(port.complete(request, here.context()));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code(), ports::llm_errc::overloaded);
    EXPECT_EQ(failed.error().info().hint, "later");
    EXPECT_EQ(failed.error().info().retry_after, 3s);
    EXPECT_EQ(ports::attempts_of(failed.error()), 4u);
    ASSERT_TRUE(ports::part_of(failed.error()));
    EXPECT_EQ(ports::part_of(failed.error())->text, "half");
}

home_service::behaviour stream_of(int count, std::string piece, std::atomic<int>* delivered) {
    return [=](const chat_request& asked, ports::chat_delta_sink on_delta,
               coro::call_context context) -> coro::task<result<chat_response>> {
        chat_response response;
        for (int i = 0; i < count; ++i) {
            if (asked.gate) {
                result<void> opened = co_await asked.gate->opened(context);
                if (!opened) co_return opened.error();
            }
            result<void> taken = on_delta(piece);
            if (!taken) {
                EXPECT_FALSE(taken.error().info().payload); // it belongs to the other thread
                co_return taken.error();
            }
            response.text += piece;
            ++*delivered;
        }
        co_return response;
    };
}

TEST_F(remote_test, pieces_arrive_here_in_order_before_the_end) {
    std::atomic<int> delivered = 0;
    service.play = stream_of(1000, "word ", &delivered);
    const auto response = here.run(port.stream(request, sink, here.context())).value();
    EXPECT_EQ(text, response.text);
    EXPECT_EQ(receivers.size(), 1000u);
    EXPECT_TRUE(std::all_of(receivers.begin(), receivers.end(), [](std::thread::id each) {
        return each == std::this_thread::get_id();
    }));
}

/// Closed until it is opened.
class door final : public ports::flow_gate {
public:
    [[nodiscard]] bool open() const noexcept override { return open_; }
    void set_open(bool now) {
        open_ = now;
        if (now) report_open();
    }

private:
    bool open_ = false;
};

TEST_F(remote_test, a_busy_receiver_holds_the_service_back) {
    constexpr int kilobytes = 4000;
    std::atomic<int> delivered = 0;
    service.play = stream_of(kilobytes, std::string(1024, '.'), &delivered);
    door gate;
    request.gate = &gate;
    int seen_closed = 0;
    boost::asio::steady_timer timer(here.io, 300ms);
    timer.async_wait([&](boost::system::error_code) {
        seen_closed = delivered;
        EXPECT_TRUE(text.empty());
        gate.set_open(true);
    });
    const auto response = here.run(port.stream(request, sink, here.context())).value();
    EXPECT_EQ(seen_closed, static_cast<int>(remote_provider::max_pending_bytes / 1024));
    EXPECT_EQ(text.size(), std::size_t{kilobytes} * 1024);
    EXPECT_EQ(response.text.size(), text.size());
}

TEST_F(remote_test, the_end_waits_for_the_receiver_and_counts_if_it_is_cancelled) {
    std::atomic<int> delivered = 0;
    service.play = stream_of(3, "word ", &delivered);
    door gate;
    request.gate = &gate;
    coro::cancel_source cancel;
    boost::asio::steady_timer timer(here.io, 200ms);
    timer.async_wait([&](boost::system::error_code) {
        EXPECT_EQ(delivered, 3);
        cancel.request(cancel_reason::user);
    });
    const auto failed = here.run(port.stream(request, sink, here.context(&cancel)));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().cancelled_because(), cancel_reason::user);
    ASSERT_TRUE(ports::part_of(failed.error()));
    EXPECT_EQ(ports::part_of(failed.error())->text, "word word word ");
}

class own_payload final : public error_payload {};

TEST_F(remote_test, a_receiver_that_refuses_ends_the_call_with_its_own_error) {
    std::atomic<int> delivered = 0;
    service.play = stream_of(1'000'000, "word ", &delivered);
    const auto payload = std::make_shared<own_payload>();
    const auto refuse = [&](std::string_view) {
        return result<void>(error(errc::invalid_argument, "enough").with_payload(payload));
    };
    const auto failed = here.run(port.stream(request, refuse, here.context()));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message(), "enough");
    EXPECT_EQ(failed.error().info().payload, payload);
    EXPECT_LT(delivered, 1'000'000);
}

TEST_F(remote_test, a_receiver_that_refuses_ends_a_service_that_is_silent) {
    service.play = [](const chat_request&, ports::chat_delta_sink on_delta,
                      coro::call_context context) -> coro::task<result<chat_response>> {
        const result<void> taken = on_delta("one");
        EXPECT_TRUE(taken);
        result<void> slept = co_await coro::sleep_until(context, coro::clock::now() + 2min);
        if (slept) co_return chat_response{};
        chat_response part;
        part.text = "one";
        co_return std::move(slept).error().with_payload(
            std::make_shared<ports::partial_response>(std::move(part)));
    };
    const auto refuse = [](std::string_view) {
        return result<void>(error(errc::invalid_argument, "enough"));
    };
    const auto failed = here.run(port.stream(request, refuse, here.context()));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message(), "enough");
    ASSERT_TRUE(ports::part_of(failed.error()));
    EXPECT_EQ(ports::part_of(failed.error())->text, "one");
}

class noted_waits final : public ports::limit_wait_listener {
public:
    void on_limit_wait(bool waits) noexcept override {
        seen.push_back(waits);
        threads.push_back(std::this_thread::get_id());
    }
    std::vector<bool> seen;
    std::vector<std::thread::id> threads;
};

TEST_F(remote_test, waits_for_limits_are_shown_here) {
    service.play = [](const chat_request& asked, ports::chat_delta_sink,
                      coro::call_context context) -> coro::task<result<chat_response>> {
        asked.waits->on_limit_wait(true);
        const result<void> slept = co_await coro::sleep_until(context, coro::clock::now() + 50ms);
        EXPECT_TRUE(slept);
        asked.waits->on_limit_wait(false);
        co_return chat_response{};
    };
    noted_waits waits;
    request.waits = &waits;
    EXPECT_TRUE(here.run(port.complete(request, here.context())));
    EXPECT_THAT(waits.seen, ElementsAre(true, false));
    EXPECT_EQ(waits.threads.front(), std::this_thread::get_id());
}

/// Admits with terms, or refuses.
class noted_admission final : public ports::send_gate {
public:
    coro::task<result<ports::send_terms>> before_sending(
        const chat_request& request, const std::vector<ports::lost_request>& lost,
        coro::call_context context) override {
        thread = std::this_thread::get_id();
        model = request.model;
        lost_count = lost.size();
        step = context.step;
        co_await coro::yield_now(*context.loop);
        if (refusal) co_return *refusal;
        co_return ports::send_terms{42};
    }
    void on_unpaid() noexcept override {
        ++unpaid;
        unpaid_thread = std::this_thread::get_id();
    }
    std::optional<error> refusal;
    int unpaid = 0;
    std::thread::id unpaid_thread;
    std::thread::id thread;
    std::string model;
    std::size_t lost_count = 0;
    ports::step_memory* step = nullptr;
};

TEST_F(remote_test, requests_are_admitted_here) {
    std::optional<std::int64_t> allowed;
    service.play = [&](const chat_request& asked, ports::chat_delta_sink,
                       coro::call_context context) -> coro::task<result<chat_response>> {
        chat_request other = asked; // as a route sends it
        other.model = "other";
        const std::vector<ports::lost_request> lost(2);
        result<ports::send_terms> terms =
            co_await asked.sends->before_sending(other, lost, context);
        EXPECT_EQ(std::this_thread::get_id(), home.id());
        if (!terms)
            co_return terms.error().info().payload ? error(errc::internal, "payload")
                                                   : std::move(terms).error();
        allowed = terms->max_output_tokens;
        co_return chat_response{};
    };
    noted_admission admission;
    request.sends = &admission;
    EXPECT_TRUE(here.run(port.complete(request, here.context())));
    EXPECT_EQ(admission.thread, std::this_thread::get_id());
    EXPECT_EQ(admission.model, "other");
    EXPECT_EQ(admission.lost_count, 2u);
    EXPECT_EQ(allowed, 42);

    const auto payload = std::make_shared<own_payload>();
    admission.refusal = error(errc::limit_exceeded, "the budget is used up").with_payload(payload);
    const auto failed = here.run(port.complete(request, here.context()));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message(), "the budget is used up");
    EXPECT_EQ(failed.error().info().payload, payload);
}

TEST_F(remote_test, requests_that_cost_nothing_are_reported_here) {
    service.play = [&](const chat_request& asked, ports::chat_delta_sink,
                       coro::call_context context) -> coro::task<result<chat_response>> {
        asked.sends->on_unpaid();
        const std::vector<ports::lost_request> none;
        result<ports::send_terms> terms =
            co_await asked.sends->before_sending(asked, none, context);
        EXPECT_TRUE(terms);
        asked.sends->on_unpaid();
        co_return chat_response{};
    };
    noted_admission admission;
    request.sends = &admission;
    EXPECT_TRUE(here.run(port.complete(request, here.context())));
    EXPECT_EQ(admission.unpaid, 2);
    EXPECT_EQ(admission.unpaid_thread, std::this_thread::get_id());
}

TEST_F(remote_test, cancellation_ends_the_service_first) {
    std::atomic<bool> ended = false;
    service.play = [&](const chat_request&, ports::chat_delta_sink,
                       coro::call_context context) -> coro::task<result<chat_response>> {
        result<void> slept = co_await coro::sleep_until(context, coro::clock::now() + 2min);
        ended = true;
        if (!slept) co_return std::move(slept).error().with_attempts(1);
        co_return chat_response{};
    };
    coro::cancel_source cancel;
    boost::asio::steady_timer timer(here.io, 50ms);
    timer.async_wait([&](boost::system::error_code) { cancel.request(cancel_reason::budget); });
    const auto failed = here.run(port.complete(request, here.context(&cancel)));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().cancelled_because(), cancel_reason::budget);
    EXPECT_TRUE(ended);
}

TEST_F(remote_test, a_home_that_ends_ends_its_calls) {
    std::promise<void> begun;
    service.play = [&](const chat_request&, ports::chat_delta_sink on_delta,
                       coro::call_context context) -> coro::task<result<chat_response>> {
        const result<void> taken = on_delta("one");
        EXPECT_TRUE(taken);
        begun.set_value();
        result<void> slept = co_await coro::sleep_until(context, coro::clock::now() + 2min);
        co_return std::move(slept).error();
    };
    std::thread ender([&] {
        begun.get_future().wait();
        home.end();
    });
    const auto failed = here.run(port.stream(request, sink, here.context()));
    ender.join();
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().cancelled_because(), cancel_reason::shutdown);
    EXPECT_EQ(text, "one");
}

TEST_F(remote_test, a_caller_whose_loop_ends_leaves_no_call_behind) {
    std::promise<cancel_reason> reason;
    std::promise<void> begun;
    service.play = [&](const chat_request&, ports::chat_delta_sink on_delta,
                       coro::call_context context) -> coro::task<result<chat_response>> {
        (void)on_delta("one");
        begun.set_value();
        result<void> slept = co_await coro::sleep_until(context, coro::clock::now() + 2min);
        reason.set_value(slept.error().cancelled_because());
        (void)on_delta("two");
        co_return std::move(slept).error();
    };
    {
        loop_thread caller;
        const auto ask = [](remote_provider* to, const chat_request* what,
                            coro::event_loop* loop) -> coro::task<void> {
            const auto ignored = co_await to->stream(
                *what, [](std::string_view) { return result<void>(); }, {loop, nullptr, {}});
            (void)ignored;
        };
        boost::asio::post(caller.loop().get_executor(), [&] {
            coro::spawn(caller.loop(), ask(&port, &request, &caller.loop()),
                        [](std::exception_ptr) {});
        });
        begun.get_future().wait();
    }
    EXPECT_EQ(reason.get_future().get(), cancel_reason::shutdown);
}

} // namespace
} // namespace heddle::testing
