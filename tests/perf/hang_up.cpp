// Clients of a server with a workflow for each request that all hang up at once: how long it takes
// until the model has seen the end of all requests.
//   bench_hang_up NAME PATH COMMAND…
// COMMAND serves PATH on @PORT@, with @DIR@/heddle.toml and @DIR@/flow.heddle. The model is silent,
// and belongs to this program. Beside it: the CPU time that the server takes for that, which other
// work of the machine does not change, and what as many plain connections cost.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;
using namespace std::chrono_literals;

double milliseconds(clock_type::duration span) {
    return std::chrono::duration<double, std::milli>(span).count();
}

sockaddr_in address_of(std::uint16_t port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(port);
    return at;
}

/// Accepts connections, reads what comes, and never sends anything.
class silent_model {
public:
    silent_model() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in at = address_of(0);
        socklen_t size = sizeof at;
        if (::bind(listener_, reinterpret_cast<sockaddr*>(&at), size) != 0 ||
            ::listen(listener_, 65'535) != 0 ||
            ::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
            std::perror("listen");
            std::exit(2);
        }
        port_ = ntohs(at.sin_port);
        std::thread([this] { serve(); }).detach();
    }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] int open() const noexcept { return asking_; } ///< that have sent something

private:
    [[noreturn]] void serve() {
        const int set = ::epoll_create1(EPOLL_CLOEXEC);
        const auto watch = [set](int descriptor) {
            epoll_event event{};
            event.events = EPOLLIN;
            event.data.fd = descriptor;
            ::epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event);
        };
        watch(listener_);
        std::vector<bool> has_asked(1 << 20);
        for (;;) {
            epoll_event events[256];
            const int count = ::epoll_wait(set, events, 256, -1);
            for (int i = 0; i < count; ++i) {
                const int descriptor = events[i].data.fd;
                if (descriptor == listener_) {
                    const int fresh =
                        ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
                    if (fresh >= 0) watch(fresh);
                    continue;
                }
                char buffer[4096];
                const ssize_t size = ::recv(descriptor, buffer, sizeof buffer, 0);
                const auto place = static_cast<std::size_t>(descriptor);
                if (size > 0) {
                    if (!has_asked[place]) ++asking_;
                    has_asked[place] = true;
                } else if (size == 0 || errno != EAGAIN) {
                    ::close(descriptor);
                    if (has_asked[place]) --asking_;
                    has_asked[place] = false;
                }
            }
        }
    }

    int listener_;
    std::uint16_t port_ = 0;
    std::atomic<int> asking_{0};
};

int connected(std::uint16_t port) {
    const int one = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in to = address_of(port);
    if (::connect(one, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return one;
    ::close(one);
    return -1;
}

/// The CPU time of all threads of a process.
double cpu_milliseconds(pid_t process) {
    double all = 0;
    const std::string folder = "/proc/" + std::to_string(process) + "/task";
    for (const auto& each : std::filesystem::directory_iterator(folder)) {
        std::ifstream in(each.path() / "schedstat");
        double nanoseconds = 0;
        in >> nanoseconds;
        all += nanoseconds / 1e6;
    }
    return all;
}

void wait_until_open(const silent_model& model, int count) {
    const auto limit = clock_type::now() + 60s;
    while (model.open() != count) {
        if (clock_type::now() > limit) {
            std::fprintf(stderr, "%d of %d requests are open after 60 s\n", model.open(), count);
            std::exit(1);
        }
        std::this_thread::sleep_for(100us);
    }
}

/// Opens `clients` connections, sends `request` on each, and closes them. `server`: 0 for none.
void round(const silent_model& model, std::uint16_t port, int clients, const std::string& request,
           pid_t server, const char* what) {
    std::vector<int> all;
    for (int i = 0; i < clients; ++i) {
        all.push_back(connected(port));
        (void)::send(all.back(), request.data(), request.size(), MSG_NOSIGNAL);
    }
    wait_until_open(model, clients);
    std::this_thread::sleep_for(300ms);
    const double before = server ? cpu_milliseconds(server) : 0;
    const auto begun = clock_type::now();
    for (const int each : all) ::close(each);
    const auto closed = clock_type::now();
    wait_until_open(model, 0);
    const auto seen = clock_type::now();
    std::printf("%-20s %d clients: closed in %6.1f ms, the model has seen it after %6.1f ms", what,
                clients, milliseconds(closed - begun), milliseconds(seen - begun));
    if (server) {
        std::this_thread::sleep_for(200ms);
        std::printf(", %.1f us of CPU a call", (cpu_milliseconds(server) - before) * 1e3 / clients);
    }
    std::puts("");
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    if (const auto at = text.find(what); at != std::string::npos) text.replace(at, what.size(), by);
    return text;
}

/// Starts the server, with a configuration and a workflow in the folder.
pid_t serve(const std::vector<std::string>& command, const std::string& folder, std::uint16_t port,
            std::uint16_t model) {
    std::ofstream(folder + "/flow.heddle")
        << "(defatom ask (params question) (instructions \"{{question}}\")) "
           "(define (answer question) (content (ask question)))";
    std::ofstream(folder + "/heddle.toml")
        << "model = \"near:m\"\n[providers.near]\ntype = \"vllm\"\nbase_url = "
           "\"http://127.0.0.1:"
        << model << "/v1\"\n";
    std::vector<std::string> words;
    for (const std::string& each : command)
        words.push_back(replaced(replaced(each, "@PORT@", std::to_string(port)), "@DIR@", folder));
    std::vector<char*> arguments;
    for (std::string& each : words) arguments.push_back(each.data());
    arguments.push_back(nullptr);
    const pid_t child = ::fork();
    if (child != 0) return child;
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nowhere, STDOUT_FILENO);
    ::execv(arguments.front(), arguments.data());
    std::perror(arguments.front());
    std::_Exit(2);
}

int number_of(const char* variable, int usual) {
    const char* text = std::getenv(variable);
    return text ? std::atoi(text) : usual;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fputs("usage: bench_hang_up NAME PATH COMMAND…\n", stderr);
        return 2;
    }
    const int clients = number_of("HEDDLE_BENCH_CONNECTIONS", 1'000);
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
    const silent_model model;
    const std::string folder =
        std::filesystem::temp_directory_path() / ("heddle-hang-up-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    constexpr std::uint16_t port = 18'231;
    const pid_t server = serve({argv + 3, argv + argc}, folder, port, model.port());
    int first = -1;
    for (int i = 0; i < 300 && first < 0; ++i) {
        std::this_thread::sleep_for(50ms);
        first = connected(port);
    }
    ::close(first);
    const std::string body = R"({"question": "hi"})";
    const std::string request = "POST " + std::string(argv[2]) +
                                " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: "
                                "application/json\r\nContent-Length: " +
                                std::to_string(body.size()) + "\r\n\r\n" + body;
    for (int i = 0; i < number_of("HEDDLE_BENCH_ROUNDS", 3); ++i) {
        round(model, port, clients, request, server, argv[1]);
        round(model, model.port(), clients, "x", 0, "without a server");
    }
    ::kill(server, SIGTERM);
    ::waitpid(server, nullptr, 0);
    std::filesystem::remove_all(folder);
}
