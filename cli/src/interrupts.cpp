#include "interrupts.hpp"

#include "exit_code.hpp"

#include <boost/asio/signal_set.hpp>

#include <unistd.h>

#include <csignal>

namespace heddle::cli {

namespace {

extern "C" void leave_at_once(int) { ::_exit(static_cast<int>(exit_code::interrupted)); }

} // namespace

const std::vector<int>& end_signals() {
    static const std::vector<int> signals = [] {
        std::vector<int> made{SIGINT, SIGTERM, SIGQUIT};
        struct sigaction before {};
        const bool known = ::sigaction(SIGHUP, nullptr, &before) == 0;
        if (!known || before.sa_handler != SIG_IGN) made.push_back(SIGHUP);
        return made;
    }();
    return signals;
}

struct interrupts::state {
    state(boost::asio::io_context& context, std::function<void()> first)
        : signals(context), on_first(std::move(first)) {
        for (const int each : end_signals()) signals.add(each);
    }

    boost::asio::signal_set signals;
    std::function<void()> on_first;
    bool came = false;
};

interrupts::interrupts(boost::asio::io_context& context, std::function<void()> on_first)
    : state_(std::make_shared<state>(context, std::move(on_first))) {
    // The handler holds the state: it may run once more after stop().
    state_->signals.async_wait([held = state_](boost::system::error_code ec, int) {
        if (ec) return;
        held->came = true;
        // Out of the loop's hands: a second signal must work even when the loop does not.
        held->signals.clear(ec);
        for (const int each : end_signals()) std::signal(each, leave_at_once);
        const auto first = std::exchange(held->on_first, nullptr);
        if (first) first();
    });
}

interrupts::~interrupts() { stop(); }

bool interrupts::came() const noexcept { return state_->came; }

void interrupts::stop() {
    boost::system::error_code ec;
    state_->on_first = nullptr;
    state_->signals.cancel(ec);
    if (!state_->came) state_->signals.clear(ec);
}

} // namespace heddle::cli
