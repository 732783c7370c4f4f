#include <heddle/coro/thread_without_signals.hpp>

#include <utility>

#include <csignal>

namespace heddle::coro {

std::thread thread_without_signals(std::function<void()> body) {
    struct restored { // also where no thread can be started
        sigset_t before{};
        ~restored() { ::pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    } mask;
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &mask.before);
    return std::thread(std::move(body));
}

} // namespace heddle::coro
