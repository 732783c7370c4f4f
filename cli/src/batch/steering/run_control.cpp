#include "batch/steering/run_control.hpp"

#include "batch/progress/batch_progress.hpp"
#include "batch/request/run_manifest.hpp"
#include "json_or_text.hpp"

#include <heddle/base/json_parser.hpp>
#include <heddle/setup/json_line.hpp>
#include <heddle/store/run_store.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <list>
#include <thread>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace heddle::cli {

namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using socket_type = asio::local::stream_protocol::socket;

constexpr std::size_t max_line = 4096;
constexpr std::size_t max_clients = 8;
constexpr auto patience = std::chrono::seconds(5);

error failed(const std::string& what) {
    return error(errc::io_error, what + ": " + std::strerror(errno));
}

/// An address of a socket holds 107 bytes: a longer path is reached by its folder's descriptor.
class socket_address {
public:
    explicit socket_address(const std::string& folder) {
        std::string path = control_socket(folder);
        if (path.size() >= sizeof(sockaddr_un::sun_path)) {
            folder_ = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
            path = "/proc/self/fd/" + std::to_string(folder_) + "/control.sock";
        }
        address_.sun_family = AF_UNIX;
        std::memcpy(address_.sun_path, path.c_str(), path.size() + 1);
    }
    ~socket_address() {
        if (folder_ >= 0) ::close(folder_);
    }
    socket_address(const socket_address&) = delete;
    socket_address& operator=(const socket_address&) = delete;

    [[nodiscard]] const sockaddr* get() const noexcept {
        return reinterpret_cast<const sockaddr*>(&address_);
    }
    [[nodiscard]] static socklen_t size() noexcept { return sizeof(sockaddr_un); }

private:
    sockaddr_un address_{};
    int folder_ = -1;
};

json::object refusal(std::string message) {
    return {{"ok", false}, {"message", std::move(message)}};
}

/// What a request does to the run, as the response.
json::object perform(const std::string& line, batch_steering& batch) {
    boost::system::error_code wrong;
    constexpr std::size_t max_depth = 4;
    const json::value parsed = parse_json(line, wrong, max_depth);
    if (wrong || !parsed.is_object()) return refusal("the request is not a JSON object");
    const json::object& request = parsed.get_object();
    const json::value* what = request.if_contains("do");
    const std::string action =
        what && what->is_string() ? std::string(what->get_string()) : std::string();
    json::object response{{"ok", true}};
    if (action == "pause" || action == "resume") {
        batch.pause(action == "pause");
    } else if (action == "cancel") {
        batch.cancel();
    } else if (action == "set") {
        run_limits limits;
        for (const auto& each : request) {
            if (each.key() == "do") continue;
            std::string name(each.key());
            std::replace(name.begin(), name.end(), '_', '-');
            if (!each.value().is_number() && !each.value().is_null())
                return refusal(name + " must be a number or null");
            const double value =
                each.value().is_null() ? no_limit : each.value().to_number<double>();
            if (auto fits = check_limit(name, value); !fits) return refusal(fits.error().message());
            limits.emplace(std::move(name), value);
        }
        if (limits.empty()) return refusal(std::string("set needs one of ") + known_limits);
        batch.set(limits);
    } else if (action != "status") {
        return refusal("there is no request '" + action + "'");
    }
    const batch_counts counts = batch.counts();
    json::value progress = json_or_text(progress_json(counts, 0, 0, "progress"));
    for (const char* unknown : {"seconds", "rows_per_second"}) progress.as_object().erase(unknown);
    response["progress"] = std::move(progress);
    response["line"] = progress_line(counts, 0, 0, 0);
    return response;
}

class socket_control final : public run_control {
public:
    socket_control(coro::event_loop& loop, std::string path, int listening, batch_steering& batch)
        : shared_(std::make_shared<shared>(loop.context(), listening, batch)),
          path_(std::move(path)) {
        shared_->accept();
    }
    ~socket_control() override {
        shared_->close();
        ::unlink(path_.c_str());
    }

private:
    struct client {
        explicit client(socket_type accepted)
            : socket(std::move(accepted)), timer(socket.get_executor()), text(max_line) {}
        socket_type socket;
        asio::steady_timer timer;
        asio::streambuf text; ///< bounds the line
        std::string response;
    };

    struct shared : std::enable_shared_from_this<shared> {
        shared(asio::io_context& context, int listening, batch_steering& of)
            : acceptor(context, asio::local::stream_protocol(), listening), batch(&of) {}

        void accept() {
            acceptor.async_accept([self = shared_from_this()](boost::system::error_code failed_to,
                                                              socket_type accepted) {
                if (!self->batch) return;
                if (!failed_to && self->clients.size() < max_clients)
                    self->serve(std::move(accepted));
                if (failed_to != asio::error::operation_aborted) self->accept();
            });
        }
        void serve(socket_type accepted) {
            const auto one =
                clients.insert(clients.end(), std::make_shared<client>(std::move(accepted)));
            (*one)->timer.expires_after(patience);
            (*one)->timer.async_wait([held = *one](boost::system::error_code stopped) {
                boost::system::error_code ignored;
                if (!stopped) held->socket.close(ignored);
            });
            asio::async_read_until(
                (*one)->socket, (*one)->text, '\n',
                [self = shared_from_this(), held = *one](boost::system::error_code failed_to,
                                                         std::size_t size) {
                    if (failed_to || !self->batch) return self->end(held);
                    std::string line(size, '\0');
                    held->text.sgetn(line.data(), static_cast<std::streamsize>(size));
                    held->response = setup::json_line(perform(line, *self->batch));
                    asio::async_write(
                        held->socket, asio::buffer(held->response),
                        [self, held](boost::system::error_code, std::size_t) { self->end(held); });
                });
        }
        void end(const std::shared_ptr<client>& held) {
            boost::system::error_code ignored;
            held->timer.cancel();
            held->socket.close(ignored);
            clients.remove(held);
        }
        void close() {
            batch = nullptr;
            boost::system::error_code ignored;
            acceptor.close(ignored);
            const auto all = clients;
            for (const auto& each : all) end(each);
        }

        asio::local::stream_protocol::acceptor acceptor;
        batch_steering* batch; ///< null: it is over
        std::list<std::shared_ptr<client>> clients;
    };

    std::shared_ptr<shared> shared_;
    std::string path_;
};

} // namespace

std::string control_socket(const std::string& folder) { return folder + "/control.sock"; }

result<std::unique_ptr<run_control>> run_control::serve(coro::event_loop& loop,
                                                        const std::string& folder,
                                                        batch_steering& batch) {
    const std::string path = control_socket(folder);
    // This process has the journal of the run: nobody else listens.
    ::unlink(path.c_str());
    const int listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listening < 0) return failed(path);
    const socket_address address(folder);
    const mode_t before = ::umask(0177); // nobody else may connect, at no time
    const bool bound = ::bind(listening, address.get(), socket_address::size()) == 0;
    ::umask(before);
    if (!bound || ::listen(listening, 16) != 0) {
        const error lost = failed(path);
        ::close(listening);
        return lost;
    }
    return std::make_unique<socket_control>(loop, path, listening, batch);
}

namespace {

/// Why a run has not answered.
struct unanswered {
    error why;
    bool is_closed = false; ///< nobody listens, or no longer: its process may listen again
};

[[nodiscard]] std::variant<std::string, unanswered> ask_once(const std::string& folder,
                                                             const std::string& request) {
    const auto closed = [&folder] {
        return unanswered{error(errc::io_error, "the run in " + folder + " has not answered"),
                          true};
    };
    const auto lost = [&folder] { return unanswered{failed(control_socket(folder))}; };
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return unanswered{failed(folder)};
    const struct closer {
        int descriptor;
        ~closer() { ::close(descriptor); }
    } closing{socket};
    const timeval limit{std::chrono::seconds(patience).count(), 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    const socket_address address(folder);
    if (::connect(socket, address.get(), socket_address::size()) != 0) {
        if (errno != ENOENT && errno != ECONNREFUSED) return lost();
        return unanswered{
            error(errc::not_found, "the run in " + folder + " is not going")
                .with_hint("start its command again: it continues; 'heddle runs show' shows it"),
            true};
    }
    const std::string line = request + "\n";
    if (::send(socket, line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size()))
        return errno == EPIPE ? closed() : lost();
    std::string response;
    char buffer[4096];
    constexpr std::size_t max_response = 1U << 20;
    while (response.find('\n') == std::string::npos && response.size() < max_response) {
        const ssize_t got = ::recv(socket, buffer, sizeof buffer, 0);
        if (got < 0) return errno == ECONNRESET ? closed() : lost();
        if (got == 0) break;
        response.append(buffer, static_cast<std::size_t>(got));
    }
    if (response.empty() || response.back() != '\n') return closed();
    response.pop_back();
    return response;
}

} // namespace

result<std::string> ask_run(const std::string& folder, const std::string& request) {
    auto response = ask_once(folder, request);
    if (auto* const text = std::get_if<std::string>(&response)) return std::move(*text);
    return std::get<unanswered>(std::move(response)).why;
}

result<std::string> ask_open_run(const std::string& folder, const std::string& request) {
    constexpr int max_tries = 100;
    constexpr auto interval = std::chrono::milliseconds(30);
    for (int left = max_tries;; --left) {
        // First: it listens again before it lets go of the run.
        const bool is_open = store::is_run_open(folder);
        auto response = ask_once(folder, request);
        if (auto* const text = std::get_if<std::string>(&response)) return std::move(*text);
        auto& none = std::get<unanswered>(response);
        if (!none.is_closed || !is_open || left == 0) return std::move(none.why);
        std::this_thread::sleep_for(interval);
    }
}

result<std::string> find_going_run(const std::string& name) {
    result<std::string> found = find_run(name);
    if (found) return found;
    for (const std::string& folder : {name, name + ".run"}) {
        if (ask_run(folder, R"({"do":"status"})")) return folder;
    }
    return found;
}

} // namespace heddle::cli
