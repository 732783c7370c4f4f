// Everything a server can do wrong, in one table: each row is played by a real server, plain and
// with TLS, and must end in the error it names, within its time, with bounded memory; and the next
// call of the same client must get its own response over a clean connection.
#include "server_faults.hpp"

#include <hang_guard.hpp>
#include <sanitizers.hpp>

#include <fstream>

namespace heddle::http {
namespace {

using loopback::server;
using loopback::server_options;

// --- playing it ----------------------------------------------------------------------------------

/// Peak of the resident set since reset(), where the system can tell.
class peak_memory {
public:
    static void reset() { std::ofstream("/proc/self/clear_refs") << "5"; }
    static long kilobytes() {
        std::ifstream status("/proc/self/status");
        for (std::string line; std::getline(status, line);)
            if (line.starts_with("VmHWM:")) return std::atol(line.c_str() + 6);
        return 0;
    }
};

#ifdef HEDDLE_SANITIZED
constexpr bool measures_memory = false; // they keep what was freed
#else
constexpr bool measures_memory = true;
#endif

class client_faults : public client_test {
protected:
    static constexpr auto short_limit = 150ms;

    static ports::http_limits limits_of(brief which) {
        ports::http_limits limits;
        limits.connect = limits.first_byte = limits.idle = limits.total = hang_guard::far_beyond;
        limits.max_body_bytes = 1'000'000;
        switch (which) {
        case brief::none: break;
        case brief::connect: limits.connect = short_limit; break;
        case brief::first_byte: limits.first_byte = short_limit; break;
        case brief::idle: limits.idle = short_limit; break;
        case brief::total: limits.total = short_limit; break;
        }
        return limits;
    }

    /// Reads requests and answers them as it should.
    static void serve_properly(peer_type& peer) {
        while (!peer.read_request().empty())
            if (!peer.send(loopback::ok_response("clean"))) return;
    }

    void expect_clean(std::string_view url) {
        const auto next = call(request_to(url));
        ASSERT_TRUE(next) << "the next call: " << next.error().message();
        EXPECT_EQ(next->body, "clean");
    }

    /// The row's call and the one after it. Counts itself.
    void check(const fault& row, const std::string& url, const char* manner) {
        SCOPED_TRACE(std::string(manner) + ": " + row.name);
        ++runs;
        peak_memory::reset();
        const long before = peak_memory::kilobytes();
        if (row.second) {
            expect_clean(url);
            if (row.before) test.turn(50ms); // the idle connection has time to go bad, or not
        }
        http_request request = request_to(url, std::string(row.request, 'x'));
        request.limits = limits_of(row.limit);
        const auto outcome = call(std::move(request));
        if (row.ends.empty()) {
            ASSERT_TRUE(outcome) << outcome.error().message();
            if (row.body != nullptr) {
                EXPECT_EQ(outcome->body, row.body);
            }
        } else {
            ASSERT_FALSE(outcome) << outcome->status << " " << outcome->body.substr(0, 200);
            const auto is = [&](http_errc code) {
                return outcome.error().code() == make_error_code(code);
            };
            EXPECT_TRUE(std::any_of(row.ends.begin(), row.ends.end(), is))
                << outcome.error().code().message() << ": " << outcome.error().message();
            EXPECT_TRUE(outcome.error().info().retryable.has_value());
            EXPECT_EQ(outcome.error().message().find("secret"), std::string::npos);
            const bool redirect = is(http_errc::redirect_refused);
            if (!redirect) {
                EXPECT_EQ(client->counters().open_connections, 0U);
            }
        }
        if (measures_memory && before != 0) {
            const long grown = peak_memory::kilobytes() - before;
            const long sent = static_cast<long>(row.request / 1024);
            EXPECT_LT(grown, 24'000 + 4 * sent) << "kB";
        }
        expect_clean(url);
        EXPECT_EQ(client->counters().in_flight, 0U);
    }

    /// First connection: the fault. All others serve properly.
    server::script script_of(const fault& row) {
        return [&row](peer_type& peer, int index) {
            if (index == 0) {
                if (row.second) {
                    if (peer.read_request().empty()) return;
                    (void)peer.send(loopback::ok_response("clean"));
                }
                if (!row.before && peer.read_request().empty()) return;
                if (!row.play(peer)) return;
                if (row.before && peer.read_request().empty())
                    return; // the one it did not wait for
            }
            serve_properly(peer);
        };
    }

    void play(const fault& row) {
        if (row.runs != where::tls) {
            server far(script_of(row));
            make();
            check(row, far.url(), "plain");
            test.run(client->close());
        }
        if (row.runs != where::plain) {
            server_options options;
            options.tls = authority.issue();
            server far(script_of(row), options);
            http_client_options trusting;
            trusting.ca_file = authority.file();
            make(trusting);
            check(row, far.url(), "tls");
            test.run(client->close());
        }
    }
    void play(const std::vector<fault>& rows) {
        for (const fault& row : rows) play(row);
        report(rows.size());
    }
    void report(std::size_t rows) const {
        std::printf("[   faults ] %zu behaviours, %d exchanges with them\n", rows, runs);
    }

    loopback::authority authority;
    int runs = 0;
};

TEST_F(client_faults, of_the_connection) { play(connection_faults()); }
TEST_F(client_faults, of_the_head) { play(head_faults()); }
TEST_F(client_faults, of_the_body) { play(body_faults()); }

// --- the handshake -------------------------------------------------------------------------------

struct handshake_fault {
    fault what;
    std::optional<loopback::certificate_wish> shows; ///< a certificate in place of the play
    bool unknown_authority = false;
};

TEST_F(client_faults, a_big_body_takes_little_more_memory_than_it_has_bytes) {
    if (!measures_memory) GTEST_SKIP() << "a sanitizer keeps what was freed";
    constexpr std::size_t limit = 32 << 20;
    constexpr std::size_t chunk = 64 << 10;
    const std::string piece = "10000\r\n" + std::string(chunk, 'x') + "\r\n";
    for (const bool ends : {true, false}) {
        loopback::server far([&](peer_type& peer, int) {
            (void)peer.read_request();
            (void)peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            for (std::size_t sent = 0; sent < limit; sent += chunk) (void)peer.send(piece);
            while (!ends && peer.send(piece)) {}
            (void)peer.send("0\r\n\r\n");
            (void)peer.wait_hung_up();
        });
        http_request request = request_to(far.url());
        request.limits.max_body_bytes = limit;
        peak_memory::reset();
        const long before = peak_memory::kilobytes();
        const auto outcome = call(std::move(request));
        const long grown = peak_memory::kilobytes() - before;
        EXPECT_EQ(outcome.has_value(), ends);
        if (outcome) {
            EXPECT_EQ(outcome->body, std::string(limit, 'x'));
        }
        EXPECT_LT(grown, static_cast<long>(limit / 1024 * 5 / 4)) << "kB";
    }
}

TEST_F(client_faults, of_the_handshake) {
    const auto bad = http_errc::tls_failed;
    const std::vector<handshake_fault> rows{
        {{"silence in place of the handshake", {http_errc::connect_timeout}, waits, brief::connect},
         {}},
        {{"hangs up before the handshake", {closed, broken, unconnected}, hangs_up}, {}},
        {{"resets before the handshake", {broken, closed, unconnected}, resets}, {}},
        {{"garbage in place of the handshake", {bad}, says_and_waits("garbage, garbage, garbage")},
         {}},
        {{"plain HTTP in place of the handshake", {bad}, says_and_waits(ok + "\r\n")}, {}},
        {{"an alert in place of the handshake",
          {bad},
          says_and_waits(std::string("\x15\x03\x03\0\x02\x02\x28", 7))},
         {}},
        {{"half a record and silence",
          {http_errc::connect_timeout},
          says_and_waits(std::string("\x16\x03\x03\x40\0\x02", 6)),
          brief::connect},
         {}},
        {{"half a record and the end",
          {closed, broken, bad},
          says(std::string("\x16\x03\x03\x40\0\x02", 6))},
         {}},
        {{"a record of a length that cannot be", {bad}, says_and_waits("\x16\x03\x03\xff\xff\x02")},
         {}},
        {{"a certificate for another name", {bad}, waits},
         loopback::certificate_wish{{"other.test"}, {"10.9.9.9"}, false}},
        {{"a certificate that has expired", {bad}, waits},
         loopback::certificate_wish{{"localhost"}, {"127.0.0.1"}, true}},
        {{"a certificate without names", {bad}, waits}, loopback::certificate_wish{{}, {}, false}},
        {{"a certificate of an unknown authority", {bad}, waits},
         loopback::certificate_wish{},
         true},
    };
    const loopback::authority stranger;
    for (const handshake_fault& row : rows) {
        server_options options;
        options.tls = authority.issue();
        if (row.shows) {
            options.first_tls = (row.unknown_authority ? stranger : authority).issue(*row.shows);
        } else {
            options.first_without_tls = true;
        }
        fault what = row.what;
        what.before = true;
        server far(script_of(what), options);
        http_client_options trusting;
        trusting.ca_file = authority.file();
        make(trusting);
        check(what, far.url(), "handshake");
        test.run(client->close());
    }
    report(rows.size());
}

// --- a proxy -------------------------------------------------------------------------------------

TEST_F(client_faults, of_a_proxy) {
    const auto no = http_errc::proxy_refused;
    const std::vector<fault> rows{
        sends("requires a user", "HTTP/1.1 407 x\r\nProxy-Authenticate: Basic\r\n\r\n", {no}),
        sends("forbids the tunnel", "HTTP/1.1 403 x\r\n\r\n", {no}),
        {"cannot reach the server", {no}, says(with_length("HTTP/1.1 502 x\r\n", "sorry"))},
        sends("redirects the tunnel", "HTTP/1.1 302 x\r\nLocation: /\r\n\r\n", {no}),
        {"closes after CONNECT", {closed}, hangs_up},
        {"resets after CONNECT", {broken}, resets},
        {"does not answer CONNECT", {http_errc::connect_timeout}, waits, brief::connect},
        {"half a response to CONNECT",
         {http_errc::connect_timeout},
         says_and_waits("HTTP/1.1 200"),
         brief::connect},
        sends("garbage to CONNECT", "garbage"),
        {"a header without end to CONNECT", {big_header}, repeats(ok, "X-A: b\r\n")},
        {"interim responses without end to CONNECT",
         {protocol},
         repeats("", "HTTP/1.1 100 Continue\r\n\r\n")},
        sends("more than a response to CONNECT", ok + "\r\n" + ok + "\r\n"),
        {"opens the tunnel and closes it",
         {closed, broken, unconnected},
         [](peer_type& peer) {
             (void)peer.send(ok + "\r\n");
             peer.half_close();
             return waits(peer);
         }},
        {"opens the tunnel to silence",
         {http_errc::connect_timeout},
         [](peer_type& peer) {
             (void)peer.send(ok + "\r\n");
             return waits(peer);
         },
         brief::connect},
        {"opens the tunnel to plain HTTP",
         {http_errc::tls_failed, protocol}, // the bytes may come with the response to CONNECT
         [](peer_type& peer) {
             (void)peer.send(ok + "\r\n");
             std::this_thread::sleep_for(20ms);
             (void)peer.send(with_length(ok, "plain"));
             return waits(peer);
         }},
    };
    server_options options;
    options.tls = authority.issue({{"api.example.test"}, {}, false});
    server far([](peer_type& peer, int) { serve_properly(peer); }, options);
    for (const fault& row : rows) {
        for (const bool tls : {false, true}) {
            server_options outer;
            if (tls) outer.tls = authority.issue();
            server proxy(
                [&](peer_type& peer, int index) {
                    if (peer.read_request().empty()) return;
                    if (index == 0) {
                        (void)row.play(peer);
                        return;
                    }
                    (void)peer.send(ok + "\r\n");
                    peer.relay(far.port());
                },
                outer);
            http_client_options through;
            through.ca_file = authority.file();
            through.https_proxy = secret(proxy.url());
            make(through);
            check(row, "https://api.example.test", tls ? "proxy with tls" : "plain proxy");
            test.run(client->close());
        }
    }
    report(rows.size());
}

} // namespace
} // namespace heddle::http
