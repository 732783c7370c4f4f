#include "exchange_bench.hpp"

#include <functional>

namespace heddle::http {
namespace {

TEST(exchange_fsm, a_whole_exchange_keeps_its_connection) {
    bench b;
    go_to(b, place::in_body);
    EXPECT_EQ(b.fsm->received("llo", b.now), step::finish);
    EXPECT_TRUE(b.succeeded());
    EXPECT_TRUE(b.fsm->keeps_connection());
    EXPECT_EQ(b.response.body, "hello");
    EXPECT_EQ(b.fsm->next_time(), exchange_fsm::time_point::max());
}

TEST(exchange_fsm, connection_close_does_not_keep_it) {
    bench b;
    go_to(b, place::head);
    EXPECT_EQ(
        b.fsm->received("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", b.now),
        step::finish);
    EXPECT_TRUE(b.succeeded());
    EXPECT_FALSE(b.fsm->keeps_connection());
}

TEST(exchange_fsm, head_requests_end_with_the_head) {
    exchange_rules rules;
    rules.head_request = true;
    bench b(rules);
    go_to(b, place::head);
    EXPECT_EQ(b.fsm->received("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n", b.now),
              step::finish);
    EXPECT_TRUE(b.succeeded());
    EXPECT_TRUE(b.fsm->keeps_connection());
}

TEST(exchange_fsm, a_body_that_does_not_end_is_not_awaited_once_the_receiver_has_enough) {
    bool enough = false;
    exchange_rules rules;
    rules.enough = &enough;
    bench b(rules);
    b.rules.limits.idle = 60s;
    b.rules.limits.total = 600s;
    b.fsm = std::make_unique<exchange_fsm>(b.cache, b.rules,
                                           response_target{&b.response, nullptr, nullptr});
    go_to(b, place::in_body);
    EXPECT_EQ(b.fsm->next_time(), b.now + 60s);
    enough = true;
    EXPECT_EQ(b.fsm->received("l", b.now), step::receive);
    EXPECT_EQ(b.fsm->next_time(), b.now + exchange_fsm::after_enough);
    // What arrives all the same does not prolong it.
    EXPECT_EQ(b.fsm->received("l", b.now + 100ms), step::receive);
    EXPECT_EQ(b.fsm->next_time(), b.now + exchange_fsm::after_enough);
    EXPECT_EQ(b.fsm->timed(b.now + 100ms), step::wait);
    EXPECT_EQ(b.fsm->timed(b.now + exchange_fsm::after_enough), step::finish);
    EXPECT_EQ(b.code(), http_errc::idle_timeout);
    EXPECT_FALSE(b.fsm->keeps_connection());
}

TEST(exchange_fsm, a_body_that_ends_in_time_keeps_its_connection_though_there_was_enough) {
    const bool enough = true;
    exchange_rules rules;
    rules.enough = &enough;
    bench b(rules);
    go_to(b, place::in_body);
    EXPECT_EQ(b.fsm->received("llo", b.now + 10ms), step::finish);
    EXPECT_TRUE(b.succeeded());
    EXPECT_TRUE(b.fsm->keeps_connection());
}

// --- failing at each step in turn ---------------------------------------------------------------

TEST(exchange_fsm, cancelling_at_each_place_ends_it_and_closes) {
    for (const place where : all_places) {
        for (const auto origin : {connection_origin::fresh, connection_origin::pooled}) {
            if (origin == connection_origin::pooled && where == place::opening) continue;
            SCOPED_TRACE(static_cast<int>(where));
            bench b;
            go_to(b, where, origin);
            EXPECT_EQ(b.fsm->cancelled(cancel_reason::sibling), step::finish);
            ASSERT_TRUE(b.fsm->outcome());
            EXPECT_EQ(b.fsm->outcome()->cancelled_because(), cancel_reason::sibling);
            EXPECT_FALSE(b.fsm->keeps_connection());
            // Whatever comes after the end changes nothing.
            EXPECT_EQ(b.fsm->cancelled(cancel_reason::user), step::wait);
            EXPECT_EQ(b.fsm->received(whole_response, b.now), step::wait);
            EXPECT_EQ(b.fsm->ended(stream_end::reset, was_reset, b.now), step::wait);
            EXPECT_EQ(b.fsm->connected(connection_origin::fresh, b.now), step::wait);
            EXPECT_EQ(b.fsm->opening(b.now), step::wait);
            EXPECT_EQ(b.fsm->sent(true, b.now), step::wait);
            EXPECT_EQ(b.fsm->send_failed(broken_pipe, b.now), step::wait);
            EXPECT_EQ(b.fsm->failed(error(errc::internal, "x")), step::wait);
            EXPECT_EQ(b.fsm->timed(b.now + 1h), step::wait);
            EXPECT_EQ(b.fsm->outcome()->cancelled_because(), cancel_reason::sibling);
        }
    }
}

TEST(exchange_fsm, each_place_has_its_time_limit) {
    struct expectation {
        place where;
        exchange_fsm::time_point::duration after;
        http_errc code;
        bool retryable;
    };
    for (const expectation& e :
         {expectation{place::waiting, 1000ms, http_errc::total_timeout, false},
          expectation{place::opening, 10ms, http_errc::connect_timeout, true},
          expectation{place::sending, 50ms, http_errc::idle_timeout, true},
          expectation{place::partly_sent, 50ms, http_errc::idle_timeout, true},
          expectation{place::head, 100ms, http_errc::first_byte_timeout, true},
          expectation{place::in_head, 50ms, http_errc::idle_timeout, true},
          expectation{place::in_body, 50ms, http_errc::idle_timeout, true}}) {
        SCOPED_TRACE(static_cast<int>(e.where));
        bench b;
        go_to(b, e.where);
        EXPECT_EQ(b.fsm->next_time(), b.now + e.after);
        EXPECT_EQ(b.fsm->timed(b.now + e.after - 1ns), step::wait);
        EXPECT_EQ(b.fsm->timed(b.now + e.after), step::finish);
        EXPECT_EQ(b.code(), e.code);
        EXPECT_EQ(b.fsm->outcome()->info().retryable, e.retryable);
        EXPECT_FALSE(b.fsm->outcome()->info().hint.empty());
        EXPECT_EQ(b.fsm->outcome()->message().rfind("http://h:80: ", 0), 0U);
        EXPECT_FALSE(b.fsm->keeps_connection());
    }
}

TEST(exchange_fsm, progress_moves_the_idle_limit_but_not_the_total) {
    bench b;
    go_to(b, place::in_body);
    const auto begin = b.now;
    for (int i = 0; i < 3; ++i) {
        b.now += 40ms;
        EXPECT_EQ(b.fsm->timed(b.now), step::wait);
        EXPECT_EQ(b.fsm->received(i < 2 ? "l" : "", b.now), step::receive);
        EXPECT_EQ(b.fsm->next_time(), std::min(b.now + 50ms, begin + 1000ms));
    }
    EXPECT_EQ(b.fsm->timed(begin + 1000ms), step::finish);
    EXPECT_EQ(b.code(), http_errc::total_timeout);
}

TEST(exchange_fsm, the_calls_deadline_cancels_at_each_place) {
    for (const place where : all_places) {
        exchange_rules rules;
        rules.until = coro::deadline(exchange_fsm::time_point(1h) + 5ms);
        bench b(rules);
        go_to(b, where);
        EXPECT_EQ(b.fsm->next_time(), b.now + 5ms);
        EXPECT_EQ(b.fsm->timed(b.now + 5ms), step::finish);
        EXPECT_EQ(b.fsm->outcome()->cancelled_because(), cancel_reason::deadline);
    }
}

TEST(exchange_fsm, a_deadline_that_passed_is_not_started) {
    exchange_rules rules;
    rules.until = coro::deadline(exchange_fsm::time_point(1h));
    bench b(rules);
    EXPECT_EQ(b.fsm->start(b.now), step::finish);
    EXPECT_EQ(b.fsm->outcome()->cancelled_because(), cancel_reason::deadline);
}

TEST(exchange_fsm, an_enormous_limit_means_none) {
    exchange_rules rules;
    bench b(rules);
    b.rules.limits.total = std::chrono::milliseconds::max();
    b.rules.limits.first_byte = std::chrono::milliseconds::max();
    b.fsm = std::make_unique<exchange_fsm>(b.cache, b.rules,
                                           response_target{&b.response, nullptr, nullptr});
    go_to(b, place::head);
    EXPECT_EQ(b.fsm->next_time(), exchange_fsm::time_point::max());
    EXPECT_EQ(b.fsm->timed(b.now + 24h * 365), step::wait);
}

TEST(exchange_fsm, a_fresh_connection_that_ends_early_is_an_error_at_each_place) {
    struct expectation {
        place where;
        const char* words;
    };
    for (const expectation& e : {expectation{place::head, "before it responded"},
                                 expectation{place::in_head, "inside the response header"},
                                 expectation{place::in_body, "after 2 bytes"}}) {
        for (const auto how : {stream_end::clean, stream_end::truncated, stream_end::reset}) {
            bench b;
            go_to(b, e.where);
            EXPECT_EQ(b.fsm->ended(how, how == stream_end::reset ? was_reset : error_code(), b.now),
                      step::finish);
            EXPECT_EQ(b.code(), how == stream_end::reset ? http_errc::connection_reset
                                                         : http_errc::connection_closed);
            EXPECT_EQ(b.fsm->outcome()->info().retryable, true);
            EXPECT_NE(b.fsm->outcome()->message().find(e.words), std::string::npos)
                << b.fsm->outcome()->message();
            EXPECT_FALSE(b.fsm->keeps_connection());
        }
    }
}

TEST(exchange_fsm, opening_that_fails_hands_its_error_on) {
    bench b;
    go_to(b, place::opening);
    EXPECT_EQ(b.fsm->failed(error(make_error_code(http_errc::connect_failed), "refused")),
              step::finish);
    EXPECT_EQ(b.code(), http_errc::connect_failed);
}

// --- responses at odd moments --------------------------------------------------------------------

TEST(exchange_fsm, a_response_before_the_request_is_sent_is_taken_and_not_kept) {
    bench b;
    go_to(b, place::partly_sent);
    EXPECT_EQ(b.fsm->received(whole_response, b.now), step::finish);
    EXPECT_TRUE(b.succeeded());
    EXPECT_EQ(b.response.body, "hello");
    EXPECT_FALSE(b.fsm->keeps_connection());
}

TEST(exchange_fsm, a_response_that_begins_early_does_not_stop_the_sending) {
    bench b;
    go_to(b, place::partly_sent);
    EXPECT_EQ(b.fsm->received("HTTP/1.1 200 OK\r\n", b.now), step::wait);
    EXPECT_TRUE(b.fsm->sending());
    EXPECT_EQ(b.fsm->sent(true, b.now), step::receive);
    EXPECT_EQ(b.fsm->received("Content-Length: 0\r\n\r\n", b.now), step::finish);
    EXPECT_TRUE(b.succeeded());
}

TEST(exchange_fsm, a_response_behind_a_broken_pipe_is_found) {
    bench b;
    go_to(b, place::partly_sent);
    EXPECT_EQ(b.fsm->send_failed(broken_pipe, b.now), step::receive);
    EXPECT_EQ(b.fsm->received(whole_response, b.now), step::finish);
    EXPECT_TRUE(b.succeeded());
    EXPECT_FALSE(b.fsm->keeps_connection());
}

TEST(exchange_fsm, a_broken_pipe_without_a_response_names_the_cause) {
    bench b;
    go_to(b, place::partly_sent);
    (void)b.fsm->send_failed(broken_pipe, b.now);
    EXPECT_EQ(b.fsm->ended(stream_end::clean, {}, b.now), step::finish);
    EXPECT_NE(b.fsm->outcome()->message().find(broken_pipe.message()), std::string::npos);
}

TEST(exchange_fsm, a_body_framed_by_the_end_needs_an_orderly_one) {
    for (const auto how : {stream_end::clean, stream_end::truncated, stream_end::reset}) {
        bench b;
        go_to(b, place::head);
        EXPECT_EQ(b.fsm->received("HTTP/1.1 200 OK\r\n\r\nhello", b.now), step::receive);
        EXPECT_EQ(b.fsm->ended(how, {}, b.now), step::finish);
        EXPECT_EQ(b.succeeded(), how == stream_end::clean);
        EXPECT_FALSE(b.fsm->keeps_connection());
    }
}

TEST(exchange_fsm, protocol_errors_and_limits_name_the_origin) {
    bench garbage;
    go_to(garbage, place::head);
    EXPECT_EQ(garbage.fsm->received("SSH-2.0-OpenSSH\r\n", garbage.now), step::finish);
    EXPECT_EQ(garbage.code(), http_errc::protocol_error);
    EXPECT_EQ(garbage.fsm->outcome()->message().rfind("http://h:80: ", 0), 0U);
    EXPECT_EQ(garbage.fsm->outcome()->info().retryable, false);
    bench big;
    big.rules.limits.max_body_bytes = 3;
    big.fsm = std::make_unique<exchange_fsm>(big.cache, big.rules,
                                             response_target{&big.response, nullptr, nullptr});
    go_to(big, place::head);
    EXPECT_EQ(big.fsm->received(whole_response, big.now), step::finish);
    EXPECT_EQ(big.code(), http_errc::body_too_large);
}

TEST(exchange_fsm, what_a_sink_returns_is_the_outcome) {
    bench b;
    const ports::http_body_sink sink = [](std::string_view) -> result<void> {
        return error(errc::invalid_argument, "enough");
    };
    b.fsm = std::make_unique<exchange_fsm>(b.cache, b.rules,
                                           response_target{&b.response, nullptr, &sink});
    go_to(b, place::head);
    EXPECT_EQ(b.fsm->received(whole_response, b.now), step::finish);
    EXPECT_EQ(b.fsm->outcome()->message(), "enough");
    EXPECT_FALSE(b.fsm->keeps_connection());
}

TEST(exchange_fsm, while_held_only_the_whole_time_and_the_deadline_run) {
    for (const place where : {place::partly_sent, place::in_head, place::in_body}) {
        bench b;
        go_to(b, where);
        b.fsm->hold();
        b.now += 999ms;
        EXPECT_EQ(b.fsm->timed(b.now), step::wait);
        EXPECT_EQ(b.fsm->next_time(), b.now + 1ms);
        b.now += 1ms;
        EXPECT_EQ(b.fsm->timed(b.now), step::finish);
        EXPECT_EQ(b.code(), http_errc::total_timeout);
    }
    exchange_rules rules;
    rules.until = coro::deadline(exchange_fsm::time_point(1h) + 200ms);
    bench b(rules);
    go_to(b, place::in_body);
    b.fsm->hold();
    b.now += 200ms;
    EXPECT_EQ(b.fsm->timed(b.now), step::finish);
    ASSERT_TRUE(b.fsm->outcome());
    EXPECT_EQ(b.fsm->outcome()->cancelled_because(), cancel_reason::deadline);
}

TEST(exchange_fsm, after_a_hold_the_idle_time_begins_anew) {
    bench b;
    go_to(b, place::in_body);
    b.fsm->hold();
    b.now += 500ms;
    b.fsm->release(b.now);
    EXPECT_EQ(b.fsm->next_time(), b.now + 50ms);
    EXPECT_EQ(b.fsm->timed(b.now), step::wait);
    b.now += 50ms;
    EXPECT_EQ(b.fsm->timed(b.now), step::finish);
    EXPECT_EQ(b.code(), http_errc::idle_timeout);
    bench fine;
    go_to(fine, place::in_body);
    fine.fsm->hold();
    fine.fsm->release(fine.now);
    EXPECT_EQ(fine.fsm->received("llo", fine.now), step::finish);
    EXPECT_TRUE(fine.fsm->keeps_connection());
}

} // namespace
} // namespace heddle::http
