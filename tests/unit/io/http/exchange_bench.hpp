// An exchange on a clock of its own, and the way through it.
#pragma once

#include <heddle/http/exchange_fsm.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace heddle::http {

using namespace std::chrono_literals;
using ports::http_errc;
using step = exchange_step;
using boost::system::error_code;

inline const error_code broken_pipe = make_error_code(boost::system::errc::broken_pipe);
inline const error_code was_reset = make_error_code(boost::system::errc::connection_reset);
inline const std::string whole_response = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

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

inline const std::vector<place> all_places{place::waiting,     place::opening, place::sending,
                                           place::partly_sent, place::head,    place::in_head,
                                           place::in_body};

inline void go_to(bench& b, place where, connection_origin origin = connection_origin::fresh) {
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

} // namespace heddle::http
