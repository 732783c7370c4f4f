#include "run_to_end.hpp"

#include <heddle/coro/spawn.hpp>

#include <exception>
#include <utility>

namespace heddle::cli {

void run_to_end(coro::event_loop& loop, coro::task<void> work,
                const std::function<void()>& on_end) {
    std::exception_ptr broken;
    coro::spawn(loop, std::move(work), [&](std::exception_ptr thrown) {
        broken = thrown;
        if (on_end) on_end();
        // All work has been joined and every socket is closed; what may be left is the next look
        // of the timer wheel at deadlines that no longer matter.
        loop.context().stop();
    });
    loop.context().run();
    if (broken) std::rethrow_exception(broken);
}

} // namespace heddle::cli
