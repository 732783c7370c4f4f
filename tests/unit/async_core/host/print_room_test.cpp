// What is printed waits for room without a hold on the other branches.
#include <heddle/coro/spawn.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/host/engine.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/printer.hpp>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace heddle::host {
namespace {

class print_room : public ::testing::Test {
protected:
    print_room() {
        engine_parts parts;
        parts.print = [this](std::string_view text) { printed += text; };
        parts.print_room = [this](coro::call_context context) { return wait(context); };
        engine_ = std::make_unique<engine>(loop_, std::move(parts));
        session_ = *engine_->new_session();
    }

    coro::task<result<void>> wait(coro::call_context context) {
        ++asked;
        const auto at = context.loop->now() + waits;
        result<void> slept = co_await coro::sleep_until(context, at);
        co_return slept;
    }

    static coro::task<void> evaluate(session* on, std::string text,
                                     std::optional<result<lang::value>>* out) {
        result<lang::value> ended = co_await on->evaluate("test", std::move(text), {});
        out->emplace(std::move(ended));
    }

    std::string run(const std::string& text) {
        std::optional<result<lang::value>> ended;
        context_.restart();
        coro::spawn(loop_, evaluate(session_.get(), text, &ended),
                    [](std::exception_ptr thrown) { EXPECT_FALSE(thrown); });
        context_.run();
        if (!ended) return "not ended";
        return *ended ? lang::print_value(**ended) : ended->error().message();
    }

    int asked = 0;
    std::chrono::milliseconds waits{0};
    std::string printed;

private:
    boost::asio::io_context context_{1};
    coro::event_loop loop_{context_};
    std::unique_ptr<engine> engine_;
    std::unique_ptr<session> session_;
};

TEST_F(print_room, is_waited_for_before_each_print) {
    waits = std::chrono::milliseconds(1);
    EXPECT_EQ(run("(progn (print 1) (print 2) 'done)"), "done");
    EXPECT_EQ(printed, "1\n2\n");
    EXPECT_EQ(asked, 2);
}

TEST_F(print_room, that_does_not_come_leaves_others_and_timeouts_alone) {
    waits = std::chrono::hours(1);
    EXPECT_EQ(run("(parallel (timeout 0.01 (print \"never\") 'late) (progn (sleep 0.001) 'other))"),
              "(late other)");
    EXPECT_EQ(printed, "");
    EXPECT_EQ(asked, 1);
}

TEST_F(print_room, that_does_not_come_leaves_a_race_alone) {
    waits = std::chrono::hours(1);
    EXPECT_EQ(run("(race (print \"never\") (progn (sleep 0.001) 'first))"), "first");
    EXPECT_EQ(printed, "");
}

} // namespace
} // namespace heddle::host
