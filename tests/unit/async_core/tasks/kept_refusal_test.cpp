// A call that a budget or a limit has stopped, as a durable run records it.
#include "tasks/run/kept_refusal.hpp"
#include "tasks/run/kept_failure.hpp"

#include <heddle/lang/heap.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using ended = result<ports::chat_response>;

TEST(request_refusal, marks_only_the_failure_that_it_has_caused) {
    request_refusal refusal;
    const error refused = refusal.note({"tokens", 1900, 2000, "the limit is reached"});
    ended other = error(ports::make_error_code(ports::llm_errc::server), "broken");
    refusal.mark(other);
    EXPECT_FALSE(stopped_by(other.error()));
    ended stopped = error(refused.code(), "svc: " + refused.message()).with_trace("after a failed");
    refusal.mark(stopped);
    const stopped_call* stop = stopped_by(stopped.error());
    ASSERT_TRUE(stop);
    EXPECT_EQ(stop->over.resource, "tokens");
    EXPECT_EQ(stop->over.message, "the limit is reached, after a failed");
    refusal.clear();
    stopped = refused;
    refusal.mark(stopped);
    EXPECT_FALSE(stopped_by(stopped.error()));
}

TEST(request_refusal, is_kept_with_what_was_sent_before) {
    boost::asio::io_context io{1};
    coro::event_loop loop{io, coro::event_loop::time::virtual_};
    const task_time time({&loop, nullptr, {}});
    const lang::heap_owner memory(lang::heap::create());
    request_refusal refusal;
    const error refused = refusal.note({"tokens", 1900, 2000, "the limit is reached"});
    ended stopped =
        ports::between_attempts(refused, {{"a", "m", ports::token_usage{10, 5}, 0, "m"}}, 1);
    refusal.mark(stopped);
    const auto body = encode_failure(stopped.error(), time);
    ASSERT_TRUE(body);
    const error read = decode_failure(*memory, *body, time);
    const stopped_call* stop = stopped_by(read);
    ASSERT_TRUE(stop) << read.message();
    EXPECT_EQ(stop->over.resource, "tokens");
    EXPECT_EQ(stop->over.used, 1900);
    EXPECT_EQ(stop->over.limit, 2000);
    EXPECT_EQ(stop->over.message, "the limit is reached");
    EXPECT_TRUE(ports::is_unpaid(read));
    ASSERT_EQ(ports::lost_with(read).size(), 1U);
    EXPECT_EQ(ports::lost_with(read)[0].provider, "a");
    for (std::size_t size = 0; size < body->size(); ++size)
        EXPECT_FALSE(stopped_by(decode_failure(*memory, body->substr(0, size), time))) << size;
}

TEST(kept_failure, has_what_could_not_be_read_of_a_response) {
    boost::asio::io_context io{1};
    coro::event_loop loop{io, coro::event_loop::time::virtual_};
    const task_time time({&loop, nullptr, {}});
    const lang::heap_owner memory(lang::heap::create());
    const error broken(ports::make_error_code(ports::llm_errc::connection), "broken");
    const auto body = encode_failure(ports::with_received(broken, 4321), time);
    ASSERT_TRUE(body);
    const error read = decode_failure(*memory, *body, time);
    EXPECT_FALSE(ports::is_unpaid(read));
    std::vector<ports::lost_request> lost;
    ports::add_lost(lost, read);
    ASSERT_EQ(lost.size(), 1U) << read.message();
    EXPECT_EQ(lost[0].received, 4321U);
    for (std::size_t size = 0; size < body->size(); ++size)
        (void)decode_failure(*memory, body->substr(0, size), time);
}

} // namespace
} // namespace heddle::tasks
