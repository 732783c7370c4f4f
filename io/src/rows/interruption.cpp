#include "rows/interruption.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

namespace heddle::rows {

interruption::interruption() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void interruption::request() noexcept {
    requested_.store(true, std::memory_order_release);
    const std::uint64_t one = 1;
    if (event_.open()) {
        [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
    }
}

bool interruption::wait_for(int number) const noexcept {
    // Without an event (no descriptor was free) the flag is polled.
    const int timeout = event_.open() ? -1 : 50;
    while (!requested()) {
        std::array<pollfd, 2> both{{{number, POLLIN, 0}, {event_.get(), POLLIN, 0}}};
        const int ready = ::poll(both.data(), both.size(), timeout);
        if (ready < 0 && errno != EINTR) return !requested(); // the read reports what is wrong
        if (ready > 0 && both[0].revents != 0) return !requested();
    }
    return false;
}

} // namespace heddle::rows
