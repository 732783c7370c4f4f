// Everything a server can do wrong, in one table: each row is played by a real server, plain and
// with TLS, and must end in the error it names, within its time, with bounded memory; and the next
// call of the same client must get its own answer over a clean connection.
#include "client_fixture.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>

namespace heddle::http {
namespace {

using loopback::server;
using loopback::server_options;
using peer_type = loopback::connection;

std::string packed(std::size_t zeros) {
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    std::string text(zeros, '0');
    std::string out(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(text.data());
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(out.size() - stream.avail_out);
    deflateEnd(&stream);
    return out;
}

/// Which limit of time is short in a row; the others are far beyond what a loaded machine needs.
enum class brief { none, connect, first_byte, idle, total };

enum class where { both, plain, tls };

struct fault {
    const char* name;
    /// What the exchange may end in; empty: it succeeds with `body`.
    std::vector<http_errc> ends;
    /// Played after the request was read; returns true to go on serving the connection properly.
    std::function<bool(peer_type&)> play;
    brief limit = brief::none;
    const char* body = "";
    where runs = where::both;
    bool second = false;     ///< the connection serves one exchange properly before
    bool before = false;     ///< played without reading the request
    std::size_t request = 2; ///< bytes of the request's body
};

// --- what servers do -----------------------------------------------------------------------------

std::function<bool(peer_type&)> says(std::string bytes) { // ... and hangs up
    return [bytes = std::move(bytes)](peer_type& peer) {
        (void)peer.send(bytes);
        return false;
    };
}
std::function<bool(peer_type&)> says_and_waits(std::string bytes) {
    return [bytes = std::move(bytes)](peer_type& peer) {
        (void)peer.send(bytes);
        (void)peer.wait_closed();
        return false;
    };
}
std::function<bool(peer_type&)> says_and_resets(std::string bytes) {
    return [bytes = std::move(bytes)](peer_type& peer) {
        (void)peer.send(bytes);
        std::this_thread::sleep_for(20ms); // let it arrive: a reset overtakes what was not read
        peer.reset();
        return false;
    };
}
std::function<bool(peer_type&)> says_and_goes_on(std::string bytes) {
    return [bytes = std::move(bytes)](peer_type& peer) { return peer.send(bytes); };
}
std::function<bool(peer_type&)> repeats(std::string begin, std::string again) {
    return [begin = std::move(begin), again = std::move(again)](peer_type& peer) {
        if (!peer.send(begin)) return false;
        while (peer.send(again)) {}
        return false;
    };
}
std::function<bool(peer_type&)> trickles(std::string begin, std::size_t count) {
    return [begin = std::move(begin), count](peer_type& peer) {
        (void)peer.send(begin);
        (void)peer.trickle(std::string(count, 'x'), 1, 5ms);
        return false;
    };
}
bool waits(peer_type& peer) {
    (void)peer.wait_closed();
    return false;
}
bool hangs_up(peer_type&) { return false; }
bool resets(peer_type& peer) {
    peer.reset();
    return false;
}

const std::string ok = "HTTP/1.1 200 OK\r\n";
const std::string hundred = ok + "Content-Length: 100\r\n\r\n";
const std::string chunked = ok + "Transfer-Encoding: chunked\r\n\r\n";
const std::string gzip = ok + "Content-Encoding: gzip\r\n";

std::string chunk_of(std::size_t size) {
    char head[32];
    std::snprintf(head, sizeof head, "%zx\r\n", size);
    return head + std::string(size, 'x') + "\r\n";
}
std::string with_length(const std::string& head, const std::string& body) {
    return head + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}
std::string many(const std::string& what, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += what;
    return out;
}

// --- the table -----------------------------------------------------------------------------------

constexpr auto closed = http_errc::connection_closed;
constexpr auto broken = http_errc::connection_reset;
constexpr auto protocol = http_errc::protocol_error;
constexpr auto big_header = http_errc::header_too_large;
constexpr auto big_body = http_errc::body_too_large;
constexpr auto idle = http_errc::idle_timeout;
constexpr auto unconnected = http_errc::connect_failed; // a reset may come before we look

std::vector<fault> connection_faults() {
    return {
        {"closes before it reads the request",
         {closed, broken, unconnected},
         hangs_up,
         brief::none,
         "",
         where::both,
         false,
         true},
        {"resets before it reads the request",
         {broken, closed, unconnected},
         resets,
         brief::none,
         "",
         where::both,
         false,
         true},
        {"closes after the request", {closed}, hangs_up},
        {"resets after the request", {broken}, resets},
        {"ends its direction after the request",
         {closed},
         [](peer_type& peer) {
             peer.half_close();
             return waits(peer);
         }},
        {"says nothing", {http_errc::first_byte_timeout}, waits, brief::first_byte},
        {"reads nothing of a big request",
         {idle},
         [](peer_type& peer) { return !peer.wait_hung_up(); },
         brief::idle,
         "",
         where::both,
         false,
         true,
         30'000'000},
        {"resets inside a big request",
         {broken, closed, unconnected},
         resets,
         brief::none,
         "",
         where::both,
         false,
         true,
         30'000'000},
        {"answers and hangs up inside a big request",
         {},
         [](peer_type& peer) {
             (void)peer.send(with_length("HTTP/1.1 413 Too Large\r\n", "big"));
             return !peer.wait_hung_up();
         },
         brief::none,
         "big",
         where::both,
         false,
         true,
         30'000'000},
        {"answers before it reads the request",
         {},
         says_and_goes_on(with_length(ok, "early")),
         brief::none,
         "early",
         where::both,
         false,
         true},
        {"hangs up on the second request", {}, hangs_up, brief::none, "clean", where::both, true},
        {"resets on the second request", {}, resets, brief::none, "clean", where::both, true},
        {"says half an answer on the second request",
         {closed},
         says(hundred + "half"),
         brief::none,
         "",
         where::both,
         true},
        {"closes the idle connection", {}, hangs_up, brief::none, "clean", where::both, true, true},
        {"resets the idle connection", {}, resets, brief::none, "clean", where::both, true, true},
        {"says 408 on the idle connection",
         {},
         says(with_length("HTTP/1.1 408 x\r\n", "late")),
         brief::none,
         "clean",
         where::both,
         true,
         true},
        {"answers on the idle connection unasked",
         {},
         says_and_waits(with_length(ok, "evil")),
         brief::none,
         "clean",
         where::both,
         true,
         true},
    };
}

std::vector<fault> head_faults() {
    const std::string crowd = many("X-Filler: some text to fill a line\r\n", 4000);
    return {
        {"garbage in place of the status line", {protocol}, says_and_waits("\x01\x02\x03garbage")},
        {"the banner of another protocol", {protocol}, says_and_waits("SSH-2.0-OpenSSH_9.2\r\n")},
        {"HTTP/0.9", {protocol}, says("<html>hello</html>")},
        {"HTTP/2", {protocol}, says_and_waits(std::string("\0\0\x12\x04\0\0\0\0\0", 9))},
        {"a TLS alert where plain text is spoken",
         {protocol},
         says_and_waits(std::string("\x15\x03\x01\0\x02\x02\x46", 7)),
         brief::none,
         "",
         where::plain},
        {"a status that is no number", {protocol}, says_and_waits("HTTP/1.1 abc OK\r\n\r\n")},
        {"a status of four digits", {protocol}, says_and_waits("HTTP/1.1 2000 OK\r\n\r\n")},
        {"a version that is none", {protocol}, says_and_waits("HTTP/1.x 200 OK\r\n\r\n")},
        {"a status line without end",
         {big_header},
         repeats("HTTP/1.1 200 ", std::string(4096, 'x'))},
        {"a status line that stands still", {idle}, says_and_waits("HTTP/1.1 20"), brief::idle},
        {"nothing but line ends", {protocol}, repeats("", many("\r\n", 100))},
        {"interim answers without end", {protocol}, repeats("", "HTTP/1.1 100 Continue\r\n\r\n")},
        {"interim answers with huge headers",
         {big_header, protocol},
         repeats("", "HTTP/1.1 103 x\r\n" + crowd + "\r\n")},
        {"a switch of protocols",
         {protocol},
         says_and_waits("HTTP/1.1 101 x\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n")},
        {"an interim answer and the end", {closed}, says("HTTP/1.1 100 Continue\r\n\r\n")},
        {"an interim answer and silence",
         {http_errc::first_byte_timeout},
         says_and_waits("HTTP/1.1 100 Continue\r\n\r\n"),
         brief::first_byte},
        {"an interim answer before the real one",
         {},
         says_and_goes_on("HTTP/1.1 100 Continue\r\n\r\n" + with_length(ok, "fine")),
         brief::none,
         "fine"},
        {"the end inside the header", {closed}, says(ok + "Content-Len")},
        {"a reset inside the header", {broken}, says_and_resets(ok + "Content-Len")},
        {"silence inside the header", {idle}, says_and_waits(ok + "Content-Len"), brief::idle},
        {"a trickled header", {http_errc::total_timeout}, trickles(ok + "X: ", 2000), brief::total},
        {"one huge header", {big_header}, repeats(ok + "X: ", std::string(4096, 'x'))},
        {"headers without end", {big_header}, repeats(ok, "X-A: b\r\n")},
        {"a header without colon", {protocol}, says_and_waits(ok + "Content-Length\r\n\r\n")},
        {"a header with a blank in its name", {protocol}, says_and_waits(ok + "X Y: z\r\n\r\n")},
        {"a header without name", {protocol}, says_and_waits(ok + ": z\r\n\r\n")},
        {"a control character in a header",
         {protocol},
         says_and_waits(ok + std::string("X: a\0b\r\n\r\n", 10))},
        {"a bare line feed as line end", {protocol}, says_and_waits(ok + "X: a\nY: b\r\n\r\n")},
        {"a negative length", {protocol}, says_and_waits(ok + "Content-Length: -1\r\n\r\n")},
        {"a length beyond 64 bits",
         {protocol},
         says_and_waits(ok + "Content-Length: 99999999999999999999\r\n\r\n")},
        {"a length with a sign",
         {protocol},
         says_and_waits(ok + "Content-Length: +5\r\n\r\nhello")},
        {"a length in another base",
         {protocol},
         says_and_waits(ok + "Content-Length: 0x5\r\n\r\nhello")},
        {"a list of lengths", {protocol}, says_and_waits(ok + "Content-Length: 5, 6\r\n\r\nhello")},
        {"two lengths",
         {protocol},
         says_and_waits(ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!")},
        {"a length and chunks",
         {protocol},
         says_and_waits(ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")},
        {"chunks and a length",
         {protocol},
         says_and_waits(ok + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n")},
        {"a transfer coding of its own",
         {protocol},
         says_and_waits(ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")},
        {"chunked twice",
         {protocol},
         says_and_waits(ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n")},
    };
}

std::vector<fault> body_faults() {
    return {
        {"a length that is too long, and the end", {closed}, says(hundred + "half")},
        {"a length that is too long, and silence",
         {idle},
         says_and_waits(hundred + "half"),
         brief::idle},
        {"a length that is too short",
         {},
         says_and_waits(ok + "Content-Length: 4\r\n\r\nhalf more"),
         brief::none,
         "half"},
        {"two answers to one request",
         {},
         says_and_waits(with_length(ok, "one") + with_length(ok, "evil")),
         brief::none,
         "one"},
        {"a reset inside the body", {broken}, says_and_resets(hundred + "half")},
        {"a trickled body",
         {http_errc::total_timeout},
         trickles(ok + "Content-Length: 5000\r\n\r\n", 2000),
         brief::total},
        {"a body without end", {big_body}, repeats(ok + "\r\n", std::string(16'384, 'x'))},
        {"a body larger than allowed",
         {big_body},
         says_and_waits(ok + "Content-Length: 1000001\r\n\r\n")},
        {"a body of four exabytes",
         {big_body},
         says_and_waits(ok + "Content-Length: 4611686018427387904\r\n\r\n")},
        {"chunks without end", {big_body}, repeats(chunked, chunk_of(4096))},
        {"a negative chunk size", {protocol}, says_and_waits(chunked + "-5\r\nhello\r\n0\r\n\r\n")},
        {"a chunk size beyond 64 bits",
         {protocol, big_body},
         says_and_waits(chunked + "10000000000000005\r\nhello\r\n0\r\n\r\n")},
        {"a chunk size just below 64 bits",
         {big_body, protocol},
         says_and_waits(chunked + "ffffffffffffffff\r\nhello\r\n")},
        {"a chunk size that is no number",
         {protocol},
         says_and_waits(chunked + "five\r\nhello\r\n")},
        {"a chunk size with 0x", {protocol}, says_and_waits(chunked + "0x5\r\nhello\r\n0\r\n\r\n")},
        {"a chunk without size", {protocol}, says_and_waits(chunked + "\r\nhello\r\n")},
        {"zeros before a chunk size without end",
         {protocol, big_header},
         repeats(chunked, std::string(4096, '0'))},
        {"a chunk extension without end",
         {protocol, big_header},
         repeats(chunked + "5;x=", std::string(4096, 'y'))},
        {"a chunk longer than its size",
         {protocol},
         says_and_waits(chunked + "3\r\nhello\r\n0\r\n\r\n")},
        {"a chunk without line end", {protocol}, says_and_waits(chunked + "5\r\nhello0\r\n\r\n")},
        {"a line feed after a chunk size",
         {idle},
         says_and_waits(chunked + "5\nhello\n0\n\n"),
         brief::idle},
        {"trailers without end", {protocol, big_header}, repeats(chunked + "0\r\n", "X-T: v\r\n")},
        {"the end inside a chunk", {closed}, says(chunked + "5\r\nhel")},
        {"the end before the last chunk", {closed}, says(chunked + "5\r\nhello\r\n")},
        {"silence before the last chunk",
         {idle},
         says_and_waits(chunked + "5\r\nhello\r\n"),
         brief::idle},
        {"a thousand chunks of one byte",
         {},
         says_and_goes_on(chunked + many("1\r\nx\r\n", 1000) + "0\r\n\r\n"),
         brief::none,
         nullptr},
        {"a gzip body that ends too early",
         {protocol},
         says_and_waits(with_length(gzip, packed(5000).substr(0, 20)))},
        {"a gzip body that is none",
         {protocol},
         says_and_waits(with_length(gzip, "{\"plain\": 1}"))},
        {"a gzip bomb", {big_body}, says_and_waits(with_length(gzip, packed(50'000'000)))},
        {"gzip members without end", {big_body}, repeats(gzip + "\r\n", many(packed(0), 100))},
        {"a coding nobody asked for",
         {protocol},
         says_and_waits(with_length(ok + "Content-Encoding: br\r\n", "xx"))},
        {"a redirect in a circle",
         {http_errc::redirect_refused},
         [](peer_type& peer) {
             const std::string again = with_length("HTTP/1.1 307 x\r\nLocation: /v1\r\n", "moved");
             for (int i = 0; i < 5; ++i)
                 if (!peer.send(again) || peer.read_request().empty()) return false;
             return peer.send(again);
         }},
        {"a redirect to another origin",
         {http_errc::redirect_refused},
         says_and_goes_on(
             with_length("HTTP/1.1 302 x\r\nLocation: https://evil.test/?secret\r\n", ""))},
        {"a redirect to nowhere",
         {http_errc::redirect_refused},
         says_and_goes_on(with_length("HTTP/1.1 308 x\r\nLocation: http://[\r\n", ""))},
        {"a redirect with a body without end",
         {big_body},
         repeats("HTTP/1.1 302 x\r\nLocation: /v2\r\n\r\n", std::string(16'384, 'x'))},
        {"the end without goodbye where the end frames the body",
         {closed},
         [](peer_type& peer) {
             (void)peer.send(ok + "\r\nuntil the end");
             peer.cut();
             return waits(peer);
         },
         brief::none,
         "",
         where::tls},
        {"bytes that are no TLS record",
         {broken},
         [](peer_type& peer) {
             (void)!::write(peer.descriptor(), "this is no record of TLS at all", 31);
             return waits(peer);
         },
         brief::none,
         "",
         where::tls},
    };
}

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

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool measures_memory = false; // they keep what was freed
#else
constexpr bool measures_memory = true;
#endif

class client_faults : public client_test {
protected:
    static constexpr auto short_limit = 150ms;
    static constexpr auto patience = 8s;

    static ports::http_limits limits_of(brief which) {
        ports::http_limits limits;
        limits.connect = limits.first_byte = limits.idle = limits.total = 30s;
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
            if (!peer.send(loopback::answer("clean"))) return;
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
        const auto began = coro::clock::now();
        const auto outcome = call(std::move(request));
        EXPECT_LT(coro::clock::now() - began, patience);
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
                    (void)peer.send(loopback::answer("clean"));
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
        {"wants a user",
         {no},
         says_and_waits("HTTP/1.1 407 x\r\nProxy-Authenticate: Basic\r\n\r\n")},
        {"forbids the tunnel", {no}, says_and_waits("HTTP/1.1 403 x\r\n\r\n")},
        {"cannot reach the server", {no}, says(with_length("HTTP/1.1 502 x\r\n", "sorry"))},
        {"redirects the tunnel", {no}, says_and_waits("HTTP/1.1 302 x\r\nLocation: /\r\n\r\n")},
        {"closes after CONNECT", {closed}, hangs_up},
        {"resets after CONNECT", {broken}, resets},
        {"says nothing to CONNECT", {http_errc::connect_timeout}, waits, brief::connect},
        {"half an answer to CONNECT",
         {http_errc::connect_timeout},
         says_and_waits("HTTP/1.1 200"),
         brief::connect},
        {"garbage to CONNECT", {protocol}, says_and_waits("garbage")},
        {"a header without end to CONNECT", {big_header}, repeats(ok, "X-A: b\r\n")},
        {"interim answers without end to CONNECT",
         {protocol},
         repeats("", "HTTP/1.1 100 Continue\r\n\r\n")},
        {"more than an answer to CONNECT", {protocol}, says_and_waits(ok + "\r\n" + ok + "\r\n")},
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
         {http_errc::tls_failed, protocol}, // the bytes may come with the answer to CONNECT
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
