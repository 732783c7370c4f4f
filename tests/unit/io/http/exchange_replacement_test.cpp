// Pooled connections that turn out to be closed, and what may be sent again.
#include "exchange_bench.hpp"

namespace heddle::http {
namespace {

TEST(exchange_replacement, a_stale_pooled_connection_is_replaced_once_by_a_fresh_one) {
    for (const auto how : {stream_end::clean, stream_end::truncated, stream_end::reset}) {
        bench b;
        go_to(b, place::head, connection_origin::pooled);
        EXPECT_EQ(b.fsm->ended(how, {}, b.now), step::reopen);
        EXPECT_EQ(b.fsm->next_time(), b.now + 10ms); // the connect limit
        EXPECT_EQ(b.fsm->connected(connection_origin::fresh, b.now), step::send);
        EXPECT_EQ(b.fsm->sent(true, b.now), step::receive);
        EXPECT_EQ(b.fsm->ended(how, {}, b.now), step::finish); // not a second time
        EXPECT_NE(b.code(), http_errc::ok);
    }
}

TEST(exchange_replacement, the_replacement_can_succeed) {
    bench b;
    go_to(b, place::head, connection_origin::pooled);
    (void)b.fsm->ended(stream_end::reset, was_reset, b.now);
    (void)b.fsm->connected(connection_origin::fresh, b.now);
    (void)b.fsm->sent(true, b.now);
    EXPECT_EQ(b.fsm->received(whole_response, b.now), step::finish);
    EXPECT_TRUE(b.succeeded());
    EXPECT_TRUE(b.fsm->keeps_connection());
}

TEST(exchange_replacement, after_a_byte_of_the_response_nothing_is_sent_again) {
    for (const place where : {place::in_head, place::in_body}) {
        exchange_rules rules;
        rules.idempotent = true;
        bench b(rules);
        go_to(b, where, connection_origin::pooled);
        EXPECT_EQ(b.fsm->ended(stream_end::reset, was_reset, b.now), step::finish);
        EXPECT_EQ(b.code(), http_errc::connection_reset);
    }
}

TEST(exchange_replacement, a_stale_connection_that_breaks_while_sending_is_replaced) {
    bench b;
    go_to(b, place::partly_sent, connection_origin::pooled);
    EXPECT_EQ(b.fsm->send_failed(broken_pipe, b.now), step::receive); // first look for a response
    EXPECT_EQ(b.fsm->ended(stream_end::reset, was_reset, b.now), step::reopen);
}

TEST(exchange_replacement, on_a_fresh_connection_only_an_idempotent_request_is_sent_again) {
    for (const bool idempotent : {false, true}) {
        exchange_rules rules;
        rules.idempotent = idempotent;
        bench b(rules);
        go_to(b, place::head);
        EXPECT_EQ(b.fsm->ended(stream_end::clean, {}, b.now),
                  idempotent ? step::reopen : step::finish);
    }
}

TEST(exchange_replacement, what_is_paid_for_each_time_is_written_once) {
    exchange_rules rules;
    rules.once = true;
    {
        bench b(rules);
        go_to(b, place::head, connection_origin::pooled);
        EXPECT_EQ(b.fsm->ended(stream_end::clean, {}, b.now), step::finish);
    }
    bench b(rules);
    go_to(b, place::partly_sent, connection_origin::pooled);
    EXPECT_EQ(b.fsm->send_failed(broken_pipe, b.now), step::receive);
    EXPECT_EQ(b.fsm->ended(stream_end::reset, was_reset, b.now), step::reopen);
}

TEST(exchange_replacement, time_limits_are_no_reason_to_replace_a_connection) {
    bench b;
    go_to(b, place::head, connection_origin::pooled);
    EXPECT_EQ(b.fsm->timed(b.now + 100ms), step::finish);
    EXPECT_EQ(b.code(), http_errc::first_byte_timeout);
}

TEST(exchange_replacement, the_replacement_does_not_get_more_time_in_total) {
    bench b;
    go_to(b, place::head, connection_origin::pooled);
    const auto begin = b.now;
    b.now += 995ms;
    ASSERT_EQ(b.fsm->ended(stream_end::clean, {}, b.now), step::reopen);
    EXPECT_EQ(b.fsm->next_time(), begin + 1000ms);
}

TEST(exchange_replacement, a_pooled_connection_that_ends_late_is_not_replaced) {
    // Whoever took the request may have worked on it, and will be paid.
    for (const auto after : {1000ms, 1001ms, 60'000ms}) {
        for (const auto how : {stream_end::clean, stream_end::truncated, stream_end::reset}) {
            bench b;
            go_to(b, place::head, connection_origin::pooled);
            const bool at_once = after <= exchange_fsm::stale_within;
            EXPECT_EQ(b.fsm->ended(how, {}, b.now + after), at_once ? step::reopen : step::finish);
            if (at_once) continue;
            EXPECT_EQ(b.code(), how == stream_end::reset ? http_errc::connection_reset
                                                         : http_errc::connection_closed);
            EXPECT_EQ(b.fsm->outcome()->info().retryable, true);
            EXPECT_NE(b.fsm->outcome()->info().hint.find("may have acted"), std::string::npos);
        }
    }
}

TEST(exchange_replacement, what_could_not_be_written_is_sent_again_however_long_the_writing_took) {
    bench b;
    go_to(b, place::partly_sent, connection_origin::pooled);
    b.now += 900s;
    EXPECT_EQ(b.fsm->send_failed(broken_pipe, b.now), step::receive);
    EXPECT_EQ(b.fsm->ended(stream_end::reset, was_reset, b.now), step::reopen);
}

TEST(exchange_replacement,
     behind_interim_responses_the_first_byte_is_waited_for_as_long_as_before) {
    const std::string hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    bench b;
    go_to(b, place::head);
    const auto sent = b.now;
    b.now += 20ms;
    EXPECT_EQ(b.fsm->received(hints, b.now), step::receive);
    EXPECT_EQ(b.fsm->next_time(), sent + 100ms); // first_byte, and not idle
    // In pieces: while the head of one comes, silence is bound by `idle`.
    EXPECT_EQ(b.fsm->received(hints.substr(0, 15), b.now), step::receive);
    EXPECT_EQ(b.fsm->next_time(), b.now + 50ms);
    EXPECT_EQ(b.fsm->received(hints.substr(15), b.now), step::receive);
    EXPECT_EQ(b.fsm->next_time(), sent + 100ms);
    b.now = sent + 99ms;
    EXPECT_EQ(b.fsm->timed(b.now), step::wait);
    EXPECT_EQ(b.fsm->received(whole_response.substr(0, 3), b.now), step::receive);
    EXPECT_EQ(b.fsm->next_time(), b.now + 50ms);
    EXPECT_EQ(b.fsm->received(whole_response.substr(3), b.now), step::finish);
    EXPECT_TRUE(b.succeeded());
}

TEST(exchange_replacement, an_end_behind_an_interim_response_is_none_of_a_stale_connection) {
    bench b;
    go_to(b, place::head, connection_origin::pooled);
    EXPECT_EQ(b.fsm->received("HTTP/1.1 102 Processing\r\n\r\n", b.now), step::receive);
    EXPECT_EQ(b.fsm->timed(b.now + 99ms), step::wait);
    EXPECT_EQ(b.fsm->ended(stream_end::clean, {}, b.now), step::finish); // it was read
    EXPECT_NE(b.fsm->outcome()->message().find("before it responded"), std::string::npos);
}

} // namespace
} // namespace heddle::http
