#include "server_faults.hpp"

#include "packed_bytes.hpp"

#include <algorithm>
#include <cstdio>

namespace heddle::http {

using loopback::packed;

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

fault sends(const char* name, std::string bytes, std::vector<http_errc> ends) {
    return {name, std::move(ends), says_and_waits(std::move(bytes))};
}

namespace {

using play_type = std::function<bool(peer_type&)>;

/// On the second exchange of a connection: the client tries again.
fault second(const char* name, play_type play) {
    return {.name = name, .ends = {}, .play = std::move(play), .body = "clean", .second = true};
}

/// On a connection that has served one exchange and waits for the next.
fault idle_fault(const char* name, play_type play) {
    fault row = second(name, std::move(play));
    row.before = true;
    return row;
}

} // namespace

std::vector<fault> connection_faults() {
    return {
        {.name = "closes before it reads the request",
         .ends = {closed, broken, unconnected},
         .play = hangs_up,
         .before = true},
        {.name = "resets before it reads the request",
         .ends = {broken, closed, unconnected},
         .play = resets,
         .before = true},
        {"closes after the request", {closed}, hangs_up},
        {"resets after the request", {broken}, resets},
        {"ends its direction after the request",
         {closed},
         [](peer_type& peer) {
             peer.half_close();
             return waits(peer);
         }},
        {"sends nothing", {http_errc::first_byte_timeout}, waits, brief::first_byte},
        {.name = "reads nothing of a big request",
         .ends = {idle},
         .play = [](peer_type& peer) { return !peer.wait_hung_up(); },
         .limit = brief::idle,
         .before = true,
         .request = 30'000'000},
        {.name = "resets inside a big request",
         .ends = {broken, closed, unconnected},
         .play = resets,
         .before = true,
         .request = 30'000'000},
        {.name = "answers and hangs up inside a big request",
         .ends = {},
         .play =
             [](peer_type& peer) {
                 (void)peer.send(with_length("HTTP/1.1 413 Too Large\r\n", "big"));
                 return !peer.wait_hung_up();
             },
         .body = "big",
         .before = true,
         .request = 30'000'000},
        {.name = "answers before it reads the request",
         .ends = {},
         .play = says_and_goes_on(with_length(ok, "early")),
         .body = "early",
         .before = true},
        second("hangs up on the second request", hangs_up),
        second("resets on the second request", resets),
        {.name = "sends half a response on the second request",
         .ends = {closed},
         .play = says(hundred + "half"),
         .second = true},
        idle_fault("closes the idle connection", hangs_up),
        idle_fault("resets the idle connection", resets),
        idle_fault("sends 408 on the idle connection",
                   says(with_length("HTTP/1.1 408 x\r\n", "late"))),
        idle_fault("answers on the idle connection unasked",
                   says_and_waits(with_length(ok, "evil"))),
    };
}

std::vector<fault> head_faults() {
    const std::string crowd = many("X-Filler: some text to fill a line\r\n", 4000);
    return {
        sends("garbage in place of the status line", "\x01\x02\x03garbage"),
        sends("the banner of another protocol", "SSH-2.0-OpenSSH_9.2\r\n"),
        {"HTTP/0.9", {protocol}, says("<html>hello</html>")},
        sends("HTTP/2", std::string("\0\0\x12\x04\0\0\0\0\0", 9)),
        {"a TLS alert where plain text is spoken",
         {protocol},
         says_and_waits(std::string("\x15\x03\x01\0\x02\x02\x46", 7)),
         brief::none,
         "",
         where::plain},
        sends("a status that is not a number", "HTTP/1.1 abc OK\r\n\r\n"),
        sends("a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n"),
        sends("a version that is none", "HTTP/1.x 200 OK\r\n\r\n"),
        {"a status line without end",
         {big_header},
         repeats("HTTP/1.1 200 ", std::string(4096, 'x'))},
        {"a status line that stalls", {idle}, says_and_waits("HTTP/1.1 20"), brief::idle},
        {"nothing but line ends", {protocol}, repeats("", many("\r\n", 100))},
        {"interim responses without end", {protocol}, repeats("", "HTTP/1.1 100 Continue\r\n\r\n")},
        {"interim responses with huge headers",
         {big_header, protocol},
         repeats("", "HTTP/1.1 103 x\r\n" + crowd + "\r\n")},
        sends("a switch of protocols",
              "HTTP/1.1 101 x\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n"),
        {"an interim response and the end", {closed}, says("HTTP/1.1 100 Continue\r\n\r\n")},
        {"an interim response and silence",
         {http_errc::first_byte_timeout},
         says_and_waits("HTTP/1.1 100 Continue\r\n\r\n"),
         brief::first_byte},
        {"an interim response before the real one",
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
        sends("a header without colon", ok + "Content-Length\r\n\r\n"),
        sends("a header with a blank in its name", ok + "X Y: z\r\n\r\n"),
        sends("a header without name", ok + ": z\r\n\r\n"),
        sends("a control character in a header", ok + std::string("X: a\0b\r\n\r\n", 10)),
        sends("a bare line feed as line end", ok + "X: a\nY: b\r\n\r\n"),
        sends("a negative length", ok + "Content-Length: -1\r\n\r\n"),
        sends("a length beyond 64 bits", ok + "Content-Length: 99999999999999999999\r\n\r\n"),
        sends("a length with a sign", ok + "Content-Length: +5\r\n\r\nhello"),
        sends("a length in another base", ok + "Content-Length: 0x5\r\n\r\nhello"),
        sends("a list of lengths", ok + "Content-Length: 5, 6\r\n\r\nhello"),
        sends("two lengths", ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"),
        sends("a length and chunks",
              ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        sends("chunks and a length",
              ok + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
        sends("a transfer coding of its own",
              ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        sends("chunked twice",
              ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"),
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
        {"two responses to one request",
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
        sends("a body larger than allowed", ok + "Content-Length: 1000001\r\n\r\n", {big_body}),
        sends("a body of four exabytes", ok + "Content-Length: 4611686018427387904\r\n\r\n",
              {big_body}),
        {"chunks without end", {big_body}, repeats(chunked, chunk_of(4096))},
        sends("a negative chunk size", chunked + "-5\r\nhello\r\n0\r\n\r\n"),
        sends("a chunk size beyond 64 bits", chunked + "10000000000000005\r\nhello\r\n0\r\n\r\n",
              {protocol, big_body}),
        sends("a chunk size just below 64 bits", chunked + "ffffffffffffffff\r\nhello\r\n",
              {big_body, protocol}),
        sends("a chunk size that is not a number", chunked + "five\r\nhello\r\n"),
        sends("a chunk size with 0x", chunked + "0x5\r\nhello\r\n0\r\n\r\n"),
        sends("a chunk without size", chunked + "\r\nhello\r\n"),
        {"zeros before a chunk size without end",
         {protocol, big_header},
         repeats(chunked, std::string(4096, '0'))},
        {"a chunk extension without end",
         {protocol, big_header},
         repeats(chunked + "5;x=", std::string(4096, 'y'))},
        sends("a chunk longer than its size", chunked + "3\r\nhello\r\n0\r\n\r\n"),
        sends("a chunk without line end", chunked + "5\r\nhello0\r\n\r\n"),
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
        sends("a gzip body that ends too early",
              with_length(gzip, packed(std::string(5000, '0')).substr(0, 20))),
        sends("a gzip body that is none", with_length(gzip, "{\"plain\": 1}")),
        sends("a gzip bomb", with_length(gzip, packed(std::string(50'000'000, '0'))), {big_body}),
        {"gzip members without end", {big_body}, repeats(gzip + "\r\n", many(packed(""), 100))},
        sends("a coding nobody asked for", with_length(ok + "Content-Encoding: br\r\n", "xx")),
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
        {"bytes that are not a TLS record",
         {broken},
         [](peer_type& peer) {
             (void)!::write(peer.descriptor(), "this is not a TLS record at all", 31);
             return waits(peer);
         },
         brief::none,
         "",
         where::tls},
    };
}

} // namespace heddle::http
