// Messages with descriptors over a local socket.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <sys/socket.h>
#include <sys/uio.h>

namespace heddle::process {

/// Sends `message` as it lies in memory. False: errno has the reason. Takes no memory and no lock.
template <class Message, std::size_t Count>
[[nodiscard]] bool send_with(int socket, const Message& message,
                             const std::array<int, Count>& descriptors) noexcept {
    iovec data{const_cast<Message*>(&message), sizeof message};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(Count * sizeof(int))> room{};
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = room.data();
    header.msg_controllen = room.size();
    cmsghdr* const ancillary = CMSG_FIRSTHDR(&header);
    ancillary->cmsg_level = SOL_SOCKET;
    ancillary->cmsg_type = SCM_RIGHTS;
    ancillary->cmsg_len = CMSG_LEN(Count * sizeof(int));
    std::memcpy(CMSG_DATA(ancillary), descriptors.data(), Count * sizeof(int));
    ssize_t sent = 0;
    do sent = ::sendmsg(socket, &header, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == static_cast<ssize_t>(sizeof message);
}

/// Waits for the next one. False at the end of the socket, or if the message is malformed.
template <class Message, std::size_t Count>
[[nodiscard]] bool receive_with(int socket, Message& message,
                                std::array<int, Count>& descriptors) noexcept {
    iovec data{&message, sizeof message};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(Count * sizeof(int))> room{};
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = room.data();
    header.msg_controllen = room.size();
    ssize_t count = 0;
    do count = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    const cmsghdr* const ancillary = CMSG_FIRSTHDR(&header);
    if (count != static_cast<ssize_t>(sizeof message) || ancillary == nullptr ||
        ancillary->cmsg_len != CMSG_LEN(Count * sizeof(int))) {
        return false;
    }
    std::memcpy(descriptors.data(), CMSG_DATA(ancillary), Count * sizeof(int));
    return true;
}

} // namespace heddle::process
