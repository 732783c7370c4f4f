#include <heddle/http/exchange_fsm.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace heddle::http {
namespace {

using namespace std::chrono_literals;
using ports::http_errc;
using step = exchange_step;
using boost::system::error_code;

const error_code broken_pipe = make_error_code(boost::system::errc::broken_pipe);
const error_code was_reset = make_error_code(boost::system::errc::connection_reset);
const std::string whole_answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// A machine with a clock of its own.
struct bench {
    explicit bench(exchange_rules given = {}) : rules(std::move(given)) {
        rules.origin = "http://h:80";
        rules.limits.connect = 10ms;
        rules.limits.first_byte = 100ms;
        rules.limits.idle = 50ms;
        rules.limits.total = 1000ms;
        fsm = std::make_unique<exchange_fsm>(cache, rules,
                                             response_target{&response, nullptr, nullptr});
    }

    [[nodiscard]] http_errc code() const {
        if (!fsm->outcome() || fsm->outcome()->code().category() != ports::http_category())
            return http_errc::ok;
        return static_cast<http_errc>(fsm->outcome()->code().value());
    }
    [[nodiscard]] bool succeeded() const { return fsm->done() && !fsm->outcome(); }

    parser_cache cache;
    exchange_rules rules;
    ports::http_response response;
    std::unique_ptr<exchange_fsm> fsm;
    exchange_fsm::time_point now = exchange_fsm::time_point(1h);
};

/// The way of a successful exchange, one event at a time: tests go along it to a place and fail
/// there.
enum class place { start, waiting, opening, sending, partly_sent, head, in_head, in_body };

const std::vector<place> all_places{place::waiting,     place::opening, place::sending,
                                    place::partly_sent, place::head,    place::in_head,
                                    place::in_body};

void go_to(bench& b, place where, connection_origin origin = connection_origin::fresh) {
    ASSERT_EQ(b.fsm->start(b.now), step::acquire);
    if (where == place::waiting) return;
    if (origin == connection_origin::fresh) {
        ASSERT_EQ(b.fsm->opening(b.now), step::open);
        if (where == place::opening) return;
    }
    ASSERT_EQ(b.fsm->connected(origin, b.now), step::send);
    if (where == place::sending) return;
    ASSERT_EQ(b.fsm->sent(false, b.now), step::send);
    if (where == place::partly_sent) return;
    ASSERT_EQ(b.fsm->sent(true, b.now), step::receive);
    if (where == place::head) return;
    ASSERT_EQ(b.fsm->received("HTTP/1.1 200 OK\r\nContent-", b.now), step::receive);
    if (where == place::in_head) return;
    ASSERT_EQ(b.fsm->received("Length: 5\r\n\r\nhe", b.now), step::receive);
}

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
            EXPECT_EQ(b.fsm->received(whole_answer, b.now), step::wait);
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

// --- stale connections
// -----------------------------------------------------------------------------

TEST(exchange_fsm, a_stale_pooled_connection_is_replaced_once_by_a_fresh_one) {
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

TEST(exchange_fsm, the_replacement_can_succeed) {
    bench b;
    go_to(b, place::head, connection_origin::pooled);
    (void)b.fsm->ended(stream_end::reset, was_reset, b.now);
    (void)b.fsm->connected(connection_origin::fresh, b.now);
    (void)b.fsm->sent(true, b.now);
    EXPECT_EQ(b.fsm->received(whole_answer, b.now), step::finish);
    EXPECT_TRUE(b.succeeded());
    EXPECT_TRUE(b.fsm->keeps_connection());
}

TEST(exchange_fsm, after_a_byte_of_the_answer_nothing_is_sent_again) {
    for (const place where : {place::in_head, place::in_body}) {
        exchange_rules rules;
        rules.idempotent = true;
        bench b(rules);
        go_to(b, where, connection_origin::pooled);
        EXPECT_EQ(b.fsm->ended(stream_end::reset, was_reset, b.now), step::finish);
        EXPECT_EQ(b.code(), http_errc::connection_reset);
    }
}

TEST(exchange_fsm, a_stale_connection_that_breaks_while_sending_is_replaced) {
    bench b;
    go_to(b, place::partly_sent, connection_origin::pooled);
    EXPECT_EQ(b.fsm->send_failed(broken_pipe, b.now), step::receive); // first look for an answer
    EXPECT_EQ(b.fsm->ended(stream_end::reset, was_reset, b.now), step::reopen);
}

TEST(exchange_fsm, on_a_fresh_connection_only_an_idempotent_request_is_sent_again) {
    for (const bool idempotent : {false, true}) {
        exchange_rules rules;
        rules.idempotent = idempotent;
        bench b(rules);
        go_to(b, place::head);
        EXPECT_EQ(b.fsm->ended(stream_end::clean, {}, b.now),
                  idempotent ? step::reopen : step::finish);
    }
}

TEST(exchange_fsm, what_is_paid_for_each_time_is_written_once) {
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

TEST(exchange_fsm, time_limits_are_no_reason_to_replace_a_connection) {
    bench b;
    go_to(b, place::head, connection_origin::pooled);
    EXPECT_EQ(b.fsm->timed(b.now + 100ms), step::finish);
    EXPECT_EQ(b.code(), http_errc::first_byte_timeout);
}

TEST(exchange_fsm, the_replacement_does_not_get_more_time_in_total) {
    bench b;
    go_to(b, place::head, connection_origin::pooled);
    const auto begin = b.now;
    b.now += 995ms;
    ASSERT_EQ(b.fsm->ended(stream_end::clean, {}, b.now), step::reopen);
    EXPECT_EQ(b.fsm->next_time(), begin + 1000ms);
}

TEST(exchange_fsm, a_pooled_connection_that_ends_late_is_not_replaced) {
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

TEST(exchange_fsm, what_could_not_be_written_is_sent_again_however_long_the_writing_took) {
    bench b;
    go_to(b, place::partly_sent, connection_origin::pooled);
    b.now += 900s;
    EXPECT_EQ(b.fsm->send_failed(broken_pipe, b.now), step::receive);
    EXPECT_EQ(b.fsm->ended(stream_end::reset, was_reset, b.now), step::reopen);
}

TEST(exchange_fsm, behind_interim_answers_the_first_byte_is_waited_for_as_long_as_before) {
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
    EXPECT_EQ(b.fsm->received(whole_answer.substr(0, 3), b.now), step::receive);
    EXPECT_EQ(b.fsm->next_time(), b.now + 50ms);
    EXPECT_EQ(b.fsm->received(whole_answer.substr(3), b.now), step::finish);
    EXPECT_TRUE(b.succeeded());
}

TEST(exchange_fsm, an_end_behind_an_interim_answer_is_none_of_a_stale_connection) {
    bench b;
    go_to(b, place::head, connection_origin::pooled);
    EXPECT_EQ(b.fsm->received("HTTP/1.1 102 Processing\r\n\r\n", b.now), step::receive);
    EXPECT_EQ(b.fsm->timed(b.now + 99ms), step::wait);
    EXPECT_EQ(b.fsm->ended(stream_end::clean, {}, b.now), step::finish); // it was read
    EXPECT_NE(b.fsm->outcome()->message().find("before it responded"), std::string::npos);
}

// --- answers at odd moments
// ------------------------------------------------------------------------

TEST(exchange_fsm, an_answer_before_the_request_is_sent_is_taken_and_not_kept) {
    bench b;
    go_to(b, place::partly_sent);
    EXPECT_EQ(b.fsm->received(whole_answer, b.now), step::finish);
    EXPECT_TRUE(b.succeeded());
    EXPECT_EQ(b.response.body, "hello");
    EXPECT_FALSE(b.fsm->keeps_connection());
}

TEST(exchange_fsm, an_answer_that_begins_early_does_not_stop_the_sending) {
    bench b;
    go_to(b, place::partly_sent);
    EXPECT_EQ(b.fsm->received("HTTP/1.1 200 OK\r\n", b.now), step::wait);
    EXPECT_TRUE(b.fsm->sending());
    EXPECT_EQ(b.fsm->sent(true, b.now), step::receive);
    EXPECT_EQ(b.fsm->received("Content-Length: 0\r\n\r\n", b.now), step::finish);
    EXPECT_TRUE(b.succeeded());
}

TEST(exchange_fsm, an_answer_behind_a_broken_pipe_is_found) {
    bench b;
    go_to(b, place::partly_sent);
    EXPECT_EQ(b.fsm->send_failed(broken_pipe, b.now), step::receive);
    EXPECT_EQ(b.fsm->received(whole_answer, b.now), step::finish);
    EXPECT_TRUE(b.succeeded());
    EXPECT_FALSE(b.fsm->keeps_connection());
}

TEST(exchange_fsm, a_broken_pipe_without_an_answer_names_the_cause) {
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
    EXPECT_EQ(big.fsm->received(whole_answer, big.now), step::finish);
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
    EXPECT_EQ(b.fsm->received(whole_answer, b.now), step::finish);
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
