// A client that knows nothing of HTTP.
#pragma once

#include "hang_guard.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace heddle::loopback {

/// A blocking client. Every wait ends at the guard against hangs.
class raw_client {
public:
    explicit raw_client(std::uint16_t port, int receive_buffer = 0)
        : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const timeval longest{hang_guard::limit.count(), 0};
        ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
        ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
        if (receive_buffer != 0) {
            ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &receive_buffer,
                         sizeof receive_buffer);
        }
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        // A client that is not connected reads nothing: the test will show it.
        (void)::connect(descriptor_, reinterpret_cast<sockaddr*>(&to), sizeof to);
    }
    ~raw_client() { close(); }
    raw_client(const raw_client&) = delete;
    raw_client& operator=(const raw_client&) = delete;

    void close() {
        if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    }
    /// The connection ends with a reset.
    void reset() {
        const linger at_once{1, 0};
        ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close();
    }
    void end_sending() const { ::shutdown(descriptor_, SHUT_WR); }
    /// False if the server does not take it any more.
    bool send(std::string_view text) const {
        while (!text.empty()) {
            const ssize_t count = ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL);
            if (count <= 0) return false;
            text.remove_prefix(static_cast<std::size_t>(count));
        }
        return true;
    }
    /// What comes next; empty at the end, a reset or when nothing comes.
    std::string read_some() const {
        char block[16 * 1024];
        const ssize_t count = ::recv(descriptor_, block, sizeof block, 0);
        return {block, count > 0 ? static_cast<std::size_t>(count) : 0};
    }
    /// Everything until `end` has come or the server closes.
    std::string read_until(std::string_view end) const {
        std::string seen;
        while (seen.find(end) == std::string::npos) {
            const std::string more = read_some();
            if (more.empty()) break;
            seen += more;
        }
        return seen;
    }
    std::string read_all() const {
        std::string seen;
        for (std::string more = read_some(); !more.empty(); more = read_some()) seen += more;
        return seen;
    }

private:
    int descriptor_;
};

/// Requests of HTTP/1.1, which end the connection unless `fields` are others.
inline std::string get(std::string_view path, std::string_view fields = "Connection: close\r\n") {
    return "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(fields) +
           "\r\n";
}
inline std::string post(std::string_view path, std::string_view body,
                        std::string_view fields = "Connection: close\r\n") {
    return "POST " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(fields) +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}
inline int status_of(std::string_view response) {
    return response.starts_with("HTTP/1.1 ") ? std::stoi(std::string(response.substr(9, 3))) : 0;
}
inline std::string body_of(std::string_view response) {
    const std::size_t end = response.find("\r\n\r\n");
    return std::string(end == response.npos ? "" : response.substr(end + 4));
}

} // namespace heddle::loopback
