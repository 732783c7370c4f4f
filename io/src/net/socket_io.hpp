// Non-blocking TCP sockets by their descriptors.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace heddle::net {

enum class io_status : std::uint8_t {
    done,
    would_block,
    end,       ///< reading: orderly end
    truncated, ///< reading with TLS: end without close_notify
    failed     ///< see ec
};

struct io_outcome {
    io_status status = io_status::done;
    std::size_t count = 0;
    boost::system::error_code ec;
};

/// A new non-blocking socket with TCP_NODELAY for the family of `to`, with a connect begun.
/// Result: the descriptor, or -1 and `ec`. A connect under way is not an error.
[[nodiscard]] int begin_connect(const boost::asio::ip::tcp::endpoint& to,
                                boost::system::error_code& ec) noexcept;
/// How a connect that has come to its end went.
[[nodiscard]] boost::system::error_code connect_outcome(int descriptor) noexcept;

/// Takes a connection that waits at `listener`: non-blocking, with TCP_NODELAY. `peer`: who it is.
/// Result: the descriptor, or -1 and `ec`.
[[nodiscard]] int accept_one(int listener, boost::asio::ip::tcp::endpoint& peer,
                             boost::system::error_code& ec) noexcept;

enum class more_follows : std::uint8_t { no, yes };
[[nodiscard]] io_outcome read_some(int descriptor, std::span<char> into) noexcept;
[[nodiscard]] io_outcome write_some(int descriptor, std::string_view from,
                                    more_follows more) noexcept;

} // namespace heddle::net
