// Ctrl-C and SIGTERM.
#pragma once

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>

namespace heddle::cli {

/// The first SIGINT or SIGTERM calls `on_first` on the loop. From then on a second one ends the
/// process at once with exit code 130, whatever the loop is doing.
class interrupts {
public:
    interrupts(boost::asio::io_context& context, std::function<void()> on_first);
    ~interrupts();
    interrupts(const interrupts&) = delete;
    interrupts& operator=(const interrupts&) = delete;

    [[nodiscard]] bool came() const noexcept;
    /// Waits for signals no longer, so that the loop can end. They then have their usual effect.
    void stop();

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace heddle::cli
