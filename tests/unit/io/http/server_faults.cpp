#include "server_faults.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdio>

namespace heddle::http {

namespace {

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

} // namespace

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

} // namespace heddle::http
