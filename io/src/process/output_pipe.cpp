#include "output_pipe.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <unistd.h>

namespace heddle::process {

namespace {

constexpr std::size_t piece_size = 64 * 1024; // what a pipe holds
constexpr int pieces_a_turn = 4;              // others get their turn
constexpr int pieces_at_close = 64;

} // namespace

output_pipe::output_pipe(coro::event_loop& loop, fs::descriptor reading_end, std::size_t most,
                         std::function<void()> ended)
    : end_(loop.get_executor()), most_(most), report_(std::move(ended)) {
    boost::system::error_code failed;
    const int number = reading_end.release();
    end_.assign(number, failed);
    if (failed) {
        ::close(number);
        ended_ = true;
    }
}

void output_pipe::start() {
    if (!ended_) wait();
}

void output_pipe::wait() {
    end_.async_wait(boost::asio::posix::descriptor_base::wait_read,
                    [self = shared_from_this()](const boost::system::error_code& failed) {
                        if (failed || self->ended_) return; // closed
                        self->read_some();
                    });
}

bool output_pipe::read_piece() noexcept {
    std::array<char, piece_size> piece;
    ssize_t count = 0;
    do count = ::read(end_.native_handle(), piece.data(), piece.size());
    while (count < 0 && errno == EINTR);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    if (count <= 0) {
        ended_ = true;
        return false;
    }
    const auto read = static_cast<std::size_t>(count);
    const std::size_t kept = std::min(read, most_ - text_.size());
    text_.append(piece.data(), kept);
    dropped_ += read - kept;
    return true;
}

void output_pipe::read_some() noexcept {
    for (int i = 0; i < pieces_a_turn; ++i) {
        if (!read_piece()) break;
    }
    if (!ended_) return wait();
    boost::system::error_code ignored;
    end_.close(ignored);
    report_();
}

void output_pipe::close() noexcept {
    if (!end_.is_open()) return;
    for (int i = 0; !ended_ && i < pieces_at_close; ++i) {
        if (!read_piece()) break;
    }
    ended_ = true;
    boost::system::error_code ignored;
    end_.close(ignored);
}

} // namespace heddle::process
