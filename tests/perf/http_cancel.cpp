// How long it takes from asking for cancellation to closed sockets, over many calls in flight.
//   bench_http_cancel [CALLS] [ROUNDS]
// The server is a child process on another core; it notes when each connection ends. Three clocks
// for each socket: from its own cancellation (each call has a source of its own below one root),
// from the request at the root until close() has returned, and until the peer has seen the end.
//
// Beside it: what closing as many plain sockets costs, in several ways.
#include <heddle/coro/nursery.hpp>
#include <heddle/coro/spawn.hpp>
#include <heddle/http/client.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace heddle;

namespace {

using clock_type = std::chrono::steady_clock; // one clock for both processes

double milliseconds(clock_type::duration span) {
    return std::chrono::duration<double, std::milli>(span).count();
}

double cpu_seconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void stay_on(int core) {
    if (std::thread::hardware_concurrency() < 2) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

constexpr std::size_t max_calls = 20'000;

/// Written by the server, read by the client.
struct shared_notes {
    std::atomic<int> open{0};
    std::atomic<int> ended{0};
    std::int64_t end_times[max_calls]; ///< nanoseconds of clock_type
};

[[noreturn]] void serve(int listener, shared_notes& notes) {
    stay_on(0);
    const int set = epoll_create1(EPOLL_CLOEXEC);
    const auto watch = [set](int descriptor) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = descriptor;
        epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event);
    };
    watch(listener);
    for (;;) {
        epoll_event events[256];
        const int count = epoll_wait(set, events, 256, -1);
        for (int i = 0; i < count; ++i) {
            const int descriptor = events[i].data.fd;
            if (descriptor == listener) {
                const int fresh = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
                if (fresh < 0) continue;
                watch(fresh);
                ++notes.open;
                continue;
            }
            char buffer[4096];
            const ssize_t size = recv(descriptor, buffer, sizeof buffer, 0);
            if (size > 0 || (size < 0 && errno == EAGAIN)) continue;
            const int number = notes.ended.load();
            notes.end_times[static_cast<std::size_t>(number) % max_calls] =
                clock_type::now().time_since_epoch().count();
            close(descriptor);
            --notes.open;
            ++notes.ended;
        }
    }
}

class probe final : public coro::cancel_hook {
public:
    clock_type::time_point at{};

private:
    void on_cancel(cancel_reason) noexcept override { at = clock_type::now(); }
};

struct call_watch {
    explicit call_watch(coro::cancel_source& root) : own(&root) { own.hook(before); }
    coro::cancel_source own;
    probe before; ///< hooked in before the call, and `after` when it is under way
    probe after;
};

coro::task<result<void>> one_call(ports::http_port* client, ports::http_request request,
                                  coro::call_context context) {
    const auto outcome = co_await client->exchange(std::move(request), context);
    (void)outcome;
    co_return result<void>();
}

coro::task<void> all_calls(ports::http_port* client, ports::http_request request,
                           std::vector<std::unique_ptr<call_watch>>* watches,
                           coro::call_context context) {
    coro::nursery calls(context);
    for (const auto& watch : *watches)
        calls.start(one_call(client, request, context.with_cancel(watch->own)));
    const auto outcome = co_await calls.join();
    (void)outcome;
}

void report(const char* what, std::vector<double> spans) {
    std::sort(spans.begin(), spans.end());
    const auto at = [&spans](double share) {
        return spans[std::min(spans.size() - 1,
                              static_cast<std::size_t>(share * static_cast<double>(spans.size())))];
    };
    std::printf("  %-42s p50 %8.3f  p90 %8.3f  p99 %8.3f  max %8.3f ms\n", what, at(0.5), at(0.9),
                at(0.99), spans.back());
}

void round(std::size_t calls, std::uint16_t port, shared_notes& notes) {
    boost::asio::io_context io(1);
    coro::event_loop loop(io);
    const auto client = http::make_http_client(loop);
    ports::http_request request;
    request.origin = *client->origin("http://127.0.0.1:" + std::to_string(port));
    request.target = "/v1/chat/completions";
    request.body = std::string(200, 'x');
    coro::cancel_source root;
    std::vector<std::unique_ptr<call_watch>> watches;
    for (std::size_t i = 0; i < calls; ++i) watches.push_back(std::make_unique<call_watch>(root));
    bool ended = false;
    notes.ended = 0;
    coro::spawn(loop, all_calls(client.get(), request, &watches, {&loop, nullptr, {}}),
                [&ended](std::exception_ptr) { ended = true; });
    while (notes.open != static_cast<int>(calls)) io.run_one_for(std::chrono::milliseconds(1));
    io.run_for(std::chrono::milliseconds(300));
    for (const auto& watch : watches) watch->own.hook(watch->after);

    const double cpu_before = cpu_seconds();
    const auto asked = clock_type::now();
    root.request(cancel_reason::user);
    const auto closed = clock_type::now();
    const double cpu_closed = cpu_seconds();
    const std::size_t still_open = client->counters().open_connections;
    while (!ended) io.run_one();
    const auto done = clock_type::now();
    while (notes.ended != static_cast<int>(calls))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));

    std::vector<double> own;
    std::vector<double> since_asked;
    std::vector<double> seen;
    for (const auto& watch : watches) {
        own.push_back(milliseconds(watch->after.at - watch->before.at));
        since_asked.push_back(milliseconds(watch->after.at - asked));
    }
    for (std::size_t i = 0; i < calls; ++i) {
        seen.push_back(
            milliseconds(clock_type::time_point(clock_type::duration(notes.end_times[i])) - asked));
    }
    std::printf(
        "%zu calls: all closed after %.1f ms (%.2f us of CPU a socket, %zu left open), all "
        "ended after %.1f ms\n",
        calls, milliseconds(closed - asked),
        (cpu_closed - cpu_before) * 1e6 / static_cast<double>(calls), still_open,
        milliseconds(done - asked));
    report("own cancellation to closed socket", std::move(own));
    report("request at the root to closed socket", std::move(since_asked));
    report("request at the root to end seen by the peer", std::move(seen));
}

// --- the floor: the same number of plain sockets, closed in several ways -------------------------

enum class manner { close, reset, range, two_threads };

void close_all(const std::vector<int>& sockets, manner how) {
    const auto close_some = [&sockets](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) close(sockets[i]);
    };
    switch (how) {
    case manner::close: close_some(0, sockets.size()); return;
    case manner::reset: {
        const linger abrupt{1, 0};
        for (const int one : sockets) {
            setsockopt(one, SOL_SOCKET, SO_LINGER, &abrupt, sizeof abrupt);
            close(one);
        }
        return;
    }
    case manner::range: // they were opened one after the other
        close_range(static_cast<unsigned>(sockets.front()), static_cast<unsigned>(sockets.back()),
                    0);
        return;
    case manner::two_threads: {
        std::thread other([&] {
            stay_on(0);
            close_some(0, sockets.size() / 2);
        });
        close_some(sockets.size() / 2, sockets.size());
        other.join();
        return;
    }
    }
}

void raw_round(std::size_t calls, const sockaddr_in& to, shared_notes& notes, manner how,
               const char* name) {
    const int set = epoll_create1(EPOLL_CLOEXEC);
    std::vector<int> sockets;
    notes.ended = 0;
    for (std::size_t i = 0; i < calls; ++i) {
        const int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(one, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) std::abort();
        (void)send(one, "request", 7, MSG_NOSIGNAL);
        epoll_event event{};
        event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | static_cast<std::uint32_t>(EPOLLET);
        epoll_ctl(set, EPOLL_CTL_ADD, one, &event);
        sockets.push_back(one);
    }
    while (notes.open != static_cast<int>(calls))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const double cpu_before = cpu_seconds();
    const auto began = clock_type::now();
    close_all(sockets, how);
    const auto ended = clock_type::now();
    std::printf("  %-42s %6.2f us of CPU a socket, all closed after %.1f ms\n", name,
                (cpu_seconds() - cpu_before) * 1e6 / static_cast<double>(calls),
                milliseconds(ended - began));
    close(set);
    while (notes.ended != static_cast<int>(calls))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

} // namespace

int main(int argc, char** argv) {
    const std::size_t calls =
        std::min(max_calls, static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 10'000));
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);

    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    if (bind(listener, reinterpret_cast<sockaddr*>(&at), size) != 0 ||
        listen(listener, 65535) != 0 ||
        getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
        std::perror("listen");
        return 2;
    }
    void* const room = mmap(nullptr, sizeof(shared_notes), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return 2;
    auto* const notes = new (room) shared_notes;
    const pid_t server = fork();
    if (server == 0) serve(listener, *notes);
    close(listener);
    stay_on(1);
    for (int i = 0; i < rounds; ++i) round(calls, ntohs(at.sin_port), *notes);
    std::printf("%zu plain sockets without a client:\n", calls);
    for (int i = 0; i < rounds; ++i) {
        raw_round(calls, at, *notes, manner::close, "close");
        raw_round(calls, at, *notes, manner::reset, "close with a reset (SO_LINGER 0)");
        raw_round(calls, at, *notes, manner::range, "close_range, one system call");
        raw_round(calls, at, *notes, manner::two_threads, "close on two threads");
    }
    kill(server, SIGKILL);
    waitpid(server, nullptr, 0);
    return 0;
}
