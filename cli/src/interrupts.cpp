#include "interrupts.hpp"

#include "exit_code.hpp"
#include "signal_pipe.hpp"
#include "stream_writer.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <utility>

namespace heddle::cli {

namespace {

constexpr std::chrono::seconds time_for_strays{2};

// What a signal handler can reach is static. Null: there is nothing to say.
std::atomic<const std::string*> words_at_end{nullptr};
// Null: no programs run.
std::atomic<const process::stray_guard*> strays_at_end{nullptr};
std::atomic<bool> leaving{false};
static_assert(std::atomic<bool>::is_always_lock_free &&
              std::atomic<const std::string*>::is_always_lock_free &&
              std::atomic<const process::stray_guard*>::is_always_lock_free);

extern "C" void leave_at_signal(int) { leave_with_words(); }

sigset_t all_end_signals() {
    sigset_t all;
    sigemptyset(&all);
    for (const int each : end_signals()) sigaddset(&all, each);
    return all;
}

} // namespace

struct sigaction handle_signal(int signal, void (*handler)(int)) {
    struct sigaction action {};
    struct sigaction before {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    action.sa_mask = all_end_signals();
    ::sigaction(signal, &action, &before);
    return before;
}

void leave_with_words() noexcept {
    const sigset_t ends = all_end_signals();
    ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
    // Only another thread can be here already: it ends the process when nothing is left to end.
    while (leaving.exchange(true)) ::pause();
    if (const std::string* const words = words_at_end.exchange(nullptr)) {
        write_error_at_once(*words); // whoever reads it may have stopped
    }
    if (const process::stray_guard* const strays = strays_at_end.exchange(nullptr)) {
        strays->end_strays(time_for_strays);
    }
    ::_exit(static_cast<int>(exit_code::interrupted));
}

guard_at_end::guard_at_end() { strays_at_end = &strays_; }

guard_at_end::~guard_at_end() {
    // A signal that comes meanwhile still finds them.
    strays_.end_strays(time_for_strays);
    // Nothing there: a signal handler in another thread uses it, and ends the process then.
    while (strays_at_end.exchange(nullptr) == nullptr) ::pause();
}

void end_is_reported() noexcept { words_at_end = nullptr; }

void end_at_signals(std::string last_words) {
    static std::string words;
    words = std::move(last_words);
    words_at_end = &words;
    for (const int each : end_signals()) handle_signal(each, leave_at_signal);
}

const std::vector<int>& end_signals() {
    static const std::vector<int> signals = [] {
        std::vector<int> items{SIGINT, SIGTERM, SIGQUIT};
        struct sigaction before {};
        const bool known = ::sigaction(SIGHUP, nullptr, &before) == 0;
        if (!known || before.sa_handler != SIG_IGN) items.push_back(SIGHUP);
        return items;
    }();
    return signals;
}

struct interrupts::state : std::enable_shared_from_this<state> {
    state(boost::asio::io_context& context, std::function<void()> first,
          std::function<void()> second)
        : on_first(std::move(first)), on_second(std::move(second)),
          readable(context, ::dup(noted->descriptor())) {
        noted->note_ends(on_second ? 2 : 1);
    }

    void wait() {
        // The handler holds the state: it may run once more after stop().
        readable.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                            [held = shared_from_this()](boost::system::error_code ec) {
                                if (ec || !held->noted) return;
                                held->look();
                                if (!held->came || held->on_second) held->wait();
                            });
    }
    void look() {
        for (int signal = noted->take(); signal != 0; signal = noted->take()) {
            if (signal == SIGWINCH) continue;
            auto& which = came ? on_second : on_first;
            came = true;
            if (const auto reported = std::exchange(which, nullptr)) reported();
        }
    }

    std::optional<signal_pipe> noted{std::in_place};
    std::function<void()> on_first;
    std::function<void()> on_second;
    boost::asio::posix::stream_descriptor readable;
    bool came = false;
};

interrupts::interrupts(boost::asio::io_context& context, std::function<void()> on_first,
                       std::function<void()> on_second)
    : state_(std::make_shared<state>(context, std::move(on_first), std::move(on_second))) {
    state_->wait();
}

interrupts::~interrupts() {
    stop();
    state_->noted.reset();
}

bool interrupts::came() const noexcept { return state_->came; }

bool interrupts::look() {
    if (state_->noted) state_->look();
    return state_->came;
}

void interrupts::stop() {
    boost::system::error_code ec;
    state_->on_first = nullptr;
    state_->on_second = nullptr;
    state_->readable.close(ec);
    if (state_->came || !state_->noted) return;
    const int late = state_->noted->release();
    state_->noted.reset();
    if (late != 0) ::raise(late); // it came after the last look at them
}

} // namespace heddle::cli
