// A receiver that is busy holds back the server, over real sockets.
#include "client_fixture.hpp"

#include <door.hpp>

#include <hang_guard.hpp>

#include <atomic>

#include <sys/socket.h>

namespace heddle::http {
namespace {

using heddle::testing::door;
using loopback::ok_response;
using loopback::server;
using loopback::server_options;

constexpr std::size_t hose_size = 32 * 1024 * 1024;
/// More than the kernel keeps between two ends of which one does not read, and far less than all.
constexpr std::size_t max_kernel_bytes = 16 * 1024 * 1024;
constexpr std::size_t one_read = 64 * 1024;

/// Bytes that show where in the stream they belong. The period is prime, so that no buffer's size
/// hides a piece that is missing or comes twice.
class pattern {
public:
    pattern() {
        std::uint32_t state = 1;
        for (std::size_t i = 0; i < period; ++i) {
            state = state * 1664525U + 1013904223U;
            text_ += static_cast<char>('!' + (state >> 24) % 90);
        }
        text_ += text_;
    }
    [[nodiscard]] std::string_view from(std::size_t position, std::size_t most) const {
        return std::string_view(text_).substr(position % period, std::min(most, period));
    }
    [[nodiscard]] bool matches(std::string_view piece, std::size_t position) const {
        while (!piece.empty()) {
            const std::string_view wanted = from(position, piece.size());
            if (!piece.starts_with(wanted)) return false;
            piece.remove_prefix(wanted.size());
            position += wanted.size();
        }
        return true;
    }

private:
    static constexpr std::size_t period = 65'521;
    std::string text_;
};

/// With and without TLS.
class client_back_pressure : public client_test, public ::testing::WithParamInterface<bool> {
protected:
    void serve(server::script what) {
        server_options options;
        if (GetParam()) options.tls = authority.issue({});
        far = std::make_unique<server>(std::move(what), std::move(options));
        http_client_options ours;
        if (GetParam()) ours.ca_file = authority.file();
        make(std::move(ours));
    }
    /// Answers with hose_size bytes as fast as it can.
    void serve_hose() {
        serve([this](loopback::connection& peer, int) {
            const int small = 64 * 1024;
            ::setsockopt(peer.descriptor(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
            while (!peer.read_request().empty()) {
                if (!peer.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(hose_size) +
                               "\r\n\r\n"))
                    return;
                for (std::size_t at = 0; at < hose_size;) {
                    const std::string_view piece =
                        bytes.from(at, std::min<std::size_t>(hose_size - at, 60'000));
                    if (!peer.send(piece)) return;
                    at += piece.size();
                    sent = at;
                }
            }
        });
    }
    /// Begins a stream whose receiver closes the gate at its first piece and then every `step`
    /// bytes.
    void begin(std::size_t step, ports::http_limits limits = {}, coro::deadline until = {}) {
        http_request request = request_to(far->url());
        request.limits = limits;
        request.gate = &gate;
        taken = 0;
        outcome.reset();
        const ports::http_body_sink sink = [this, step](std::string_view piece) -> result<void> {
            EXPECT_TRUE(gate.open() || taken + piece.size() - held_at <= one_read);
            in_order = in_order && bytes.matches(piece, taken);
            taken += piece.size();
            if (gate.open() && taken >= next_close) {
                held_at = taken - piece.size();
                next_close = taken + step;
                gate.close();
            }
            return {};
        };
        next_close = 1;
        coro::spawn(
            test.loop,
            run(client.get(), std::move(request), sink, test.context(&cancel, until), &outcome),
            [](std::exception_ptr) {});
    }
    static coro::task<void> run(ports::http_port* client, http_request request,
                                ports::http_body_sink sink, coro::call_context context,
                                std::optional<result<http_response>>* into) {
        auto ended = co_await client->stream(std::move(request), {}, std::move(sink), context);
        into->emplace(std::move(ended));
    }

    template <class Condition>
    [[nodiscard]] bool wait_for(Condition condition) {
        return hang_guard::comes_true([&] {
            test.turn(1ms);
            return condition();
        });
    }
    void turn_for(std::chrono::milliseconds span) {
        const auto end = coro::clock::now() + span;
        while (coro::clock::now() < end) {
            test.turn(1ms);
            std::this_thread::sleep_for(200us);
        }
    }
    /// Until the server cannot send any more.
    void let_the_server_fill_its_pipe() {
        for (std::size_t before = sent - 1; before != sent;) {
            before = sent;
            turn_for(100ms);
        }
    }
    [[nodiscard]] bool closed() {
        return wait_for([this] { return !gate.open(); });
    }
    [[nodiscard]] bool closed_or_ended() {
        return wait_for([this] { return !gate.open() || outcome.has_value(); });
    }
    [[nodiscard]] bool ended() {
        return wait_for([this] { return outcome.has_value(); });
    }
    void expect_whole(std::size_t size) {
        ASSERT_TRUE(ended());
        EXPECT_TRUE(*outcome) << outcome->error().message();
        EXPECT_EQ(taken, size);
        EXPECT_TRUE(in_order);
    }

    loopback::authority authority;
    pattern bytes;
    door gate;
    coro::cancel_source cancel;
    std::atomic<std::size_t> sent{0};
    std::size_t taken = 0;
    std::size_t held_at = 0;
    std::size_t next_close = 0;
    bool in_order = true;
    std::optional<result<http_response>> outcome;
    std::unique_ptr<server> far;
};

TEST_P(client_back_pressure, reaches_the_server) {
    serve_hose();
    begin(hose_size);
    ASSERT_TRUE(closed());
    let_the_server_fill_its_pipe();
    EXPECT_LE(taken, one_read);
    EXPECT_FALSE(outcome);
    EXPECT_GT(sent, taken); // it did try
    EXPECT_LT(sent, max_kernel_bytes);
    RecordProperty("bytes_sent_while_held_back", static_cast<int>(sent));
    gate.reopen();
    expect_whole(hose_size);
    // The connection has not suffered.
    EXPECT_EQ(client->counters().idle_connections, 1U);
    begin(hose_size);
    ASSERT_TRUE(closed());
    gate.reopen();
    expect_whole(hose_size);
    EXPECT_EQ(client->counters().connections_made, 1U);
}

TEST_P(client_back_pressure, many_times_in_one_response) {
    serve_hose();
    begin(hose_size / 64);
    int times = 0;
    for (;;) {
        ASSERT_TRUE(closed_or_ended());
        if (outcome) break;
        ++times;
        const std::size_t before = taken;
        test.turn(1ms);
        ASSERT_EQ(taken, before);
        gate.reopen();
    }
    expect_whole(hose_size);
    EXPECT_GT(times, 32);
}

TEST_P(client_back_pressure, a_gate_that_is_closed_from_the_start_lets_one_read_through_at_most) {
    serve_hose();
    gate.close();
    begin(hose_size);
    ASSERT_TRUE(wait_for([this] { return sent > 0; }));
    let_the_server_fill_its_pipe();
    EXPECT_LE(taken, one_read);
    EXPECT_LT(sent, max_kernel_bytes);
    gate.reopen();
    ASSERT_TRUE(closed()); // now by the receiver
    gate.reopen();
    expect_whole(hose_size);
}

TEST_P(client_back_pressure, an_opening_that_is_over_again_lets_nothing_through) {
    serve_hose();
    begin(hose_size);
    ASSERT_TRUE(closed());
    const std::size_t before = taken;
    for (int i = 0; i < 5; ++i) {
        gate.reopen();
        gate.close();
        turn_for(10ms);
    }
    EXPECT_EQ(taken, before);
    gate.reopen();
    expect_whole(hose_size);
}

TEST_P(client_back_pressure, is_not_taken_for_the_silence_of_the_server) {
    serve_hose();
    ports::http_limits limits;
    limits.idle = 400ms;
    begin(hose_size, limits);
    ASSERT_TRUE(closed());
    turn_for(900ms);
    EXPECT_FALSE(outcome);
    gate.reopen();
    expect_whole(hose_size);
}

TEST_P(client_back_pressure, the_silence_of_the_server_counts_from_the_opening) {
    serve([this](loopback::connection& peer, int) {
        (void)peer.read_request();
        (void)peer.send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n");
        (void)peer.send(bytes.from(0, 10));
        (void)peer.wait_closed();
    });
    ports::http_limits limits;
    limits.idle = 100ms;
    begin(hose_size, limits);
    ASSERT_TRUE(closed());
    turn_for(300ms);
    EXPECT_FALSE(outcome);
    const auto opened = coro::clock::now();
    gate.reopen();
    ASSERT_TRUE(ended());
    expect_failure(*outcome, http_errc::idle_timeout);
    EXPECT_GE(coro::clock::now() - opened, 100ms);
    EXPECT_EQ(client->counters().open_connections, 0U);
}

TEST_P(client_back_pressure, ends_with_the_whole_time_and_the_deadline) {
    serve_hose();
    ports::http_limits limits;
    limits.total = 400ms;
    begin(hose_size, limits);
    ASSERT_TRUE(closed());
    ASSERT_TRUE(ended());
    expect_failure(*outcome, http_errc::total_timeout);
    EXPECT_EQ(client->counters().open_connections, 0U);
    EXPECT_TRUE(wait_for([this] { return far->running() == 0; }));
    gate.reopen(); // nobody listens any more
    test.turn();

    begin(hose_size, {}, loopback::runner::in(400ms));
    ASSERT_TRUE(closed());
    ASSERT_TRUE(ended());
    expect_cancelled(*outcome, cancel_reason::deadline);
    EXPECT_EQ(client->counters().open_connections, 0U);
}

TEST_P(client_back_pressure, ends_with_cancellation) {
    serve_hose();
    begin(hose_size);
    ASSERT_TRUE(closed());
    turn_for(20ms);
    cancel.request(cancel_reason::user);
    EXPECT_EQ(client->counters().open_connections, 0U); // at once
    gate.reopen();
    ASSERT_TRUE(ended());
    expect_cancelled(*outcome, cancel_reason::user);
    EXPECT_LE(taken, one_read);
    EXPECT_TRUE(wait_for([this] { return far->running() == 0; }));
}

TEST_P(client_back_pressure, ends_with_cancellation_between_the_opening_and_the_next_read) {
    serve_hose();
    begin(hose_size);
    ASSERT_TRUE(closed());
    const std::size_t before = taken;
    gate.reopen();
    cancel.request(cancel_reason::user);
    ASSERT_TRUE(ended());
    expect_cancelled(*outcome, cancel_reason::user);
    EXPECT_EQ(taken, before);
    EXPECT_EQ(client->counters().open_connections, 0U);
}

TEST_P(client_back_pressure, ends_when_the_client_is_closed) {
    serve_hose();
    begin(hose_size);
    ASSERT_TRUE(closed());
    test.run(client->close());
    ASSERT_TRUE(outcome);
    EXPECT_FALSE(*outcome);
    EXPECT_EQ(client->counters().open_connections, 0U);
}

TEST_P(client_back_pressure, an_end_that_has_been_read_is_the_end) {
    serve(always(ok_response(bytes.from(0, 100))));
    begin(hose_size);
    ASSERT_TRUE(closed());
    expect_whole(100); // there is nothing to hold back
    EXPECT_FALSE(gate.open());
    EXPECT_EQ(client->counters().idle_connections, 1U);
}

TEST_P(client_back_pressure, an_end_that_comes_meanwhile_waits) {
    constexpr std::size_t size = 100'000;
    std::atomic<bool> all_sent = false;
    serve([&](loopback::connection& peer, int) {
        (void)peer.read_request();
        (void)peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"); // framed by its end
        for (std::size_t at = 0; at < size; at += 10'000) (void)peer.send(bytes.from(at, 10'000));
        peer.half_close();
        all_sent = true;
        (void)peer.wait_closed();
    });
    begin(size);
    ASSERT_TRUE(closed());
    ASSERT_TRUE(wait_for([&] { return all_sent.load(); }));
    turn_for(50ms);
    EXPECT_FALSE(outcome);
    EXPECT_LE(taken, one_read);
    gate.reopen();
    expect_whole(size);
    EXPECT_EQ(client->counters().open_connections, 0U);
}

TEST_P(client_back_pressure, what_has_left_the_socket_already_is_read_on) {
    // Two records of TLS that come together: the socket has nothing to tell about the second.
    constexpr std::size_t size = 20'000;
    serve(always(ok_response(bytes.from(0, size))));
    for (int i = 0; i < 20; ++i) {
        begin(1);
        for (;;) {
            ASSERT_TRUE(closed_or_ended());
            if (outcome) break;
            gate.reopen();
        }
        expect_whole(size);
        gate.reopen();
    }
    EXPECT_EQ(client->counters().connections_made, 1U);
}

TEST_P(client_back_pressure, a_connection_that_breaks_meanwhile_is_an_error_after_it) {
    std::atomic<bool> gone = false;
    serve([&](loopback::connection& peer, int) {
        (void)peer.read_request();
        (void)peer.send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n");
        (void)peer.send(bytes.from(0, 10));
        while (!gone) std::this_thread::sleep_for(1ms);
        peer.reset();
    });
    begin(hose_size);
    ASSERT_TRUE(closed());
    gone = true;
    ASSERT_TRUE(wait_for([this] { return far->running() == 0; }));
    turn_for(20ms);
    gate.reopen();
    ASSERT_TRUE(ended());
    ASSERT_FALSE(*outcome);
    EXPECT_EQ(client->counters().open_connections, 0U);
}

TEST_P(client_back_pressure, is_for_streams_only) {
    serve(always(ok_response(bytes.from(0, 1000))));
    gate.close();
    http_request request = request_to(far->url());
    request.gate = &gate;
    EXPECT_TRUE(call(std::move(request)));
}

INSTANTIATE_TEST_SUITE_P(plain_and_tls, client_back_pressure, ::testing::Bool(),
                         [](const auto& of) { return of.param ? "tls" : "plain"; });

} // namespace
} // namespace heddle::http
