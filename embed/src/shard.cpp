#include "shard.hpp"

#include "running_call.hpp"

#include <heddle/base/exceptions.hpp>

#include <cstdio>
#include <cstdlib>

namespace heddle::embed {

shard::shard(const runtime_options& options, log_port& log, boost::asio::io_context* host)
    : options_(options), log_(log),
      own_(host ? nullptr : std::make_unique<boost::asio::io_context>(1)),
      context_(host ? *host : *own_) {
    loop_.emplace(context_);
}

shard::~shard() { clear(); }

result<void> shard::open(const service_source& services, shard* first) {
    HEDDLE_TRY(services_, services.make(*loop_, log_, first ? first->services() : nullptr));
    return {};
}

void shard::start(std::shared_ptr<void> keep_alive) {
    if (!own_) return;
    work_.emplace(context_.get_executor());
    thread_ = std::thread([this, held = std::move(keep_alive)] { run(); });
}

void shard::run() noexcept {
    for (;;) {
        try {
            loop_->run();
            return;
        } catch (...) { // of a handler of the host that was completed here
            log_.write(log_level::error, "runtime",
                       error_of_exception("a completion handler").message());
        }
    }
}

bool shard::was_here() const noexcept {
    const std::thread::id last = last_thread_.load();
    return last == std::thread::id() || last == std::this_thread::get_id();
}

void shard::check_thread() {
    const std::thread::id here = std::this_thread::get_id();
    const std::thread::id before = last_thread_.exchange(here);
#ifndef NDEBUG
    // A loop without calls may move to another thread.
    if (before != std::thread::id() && before != here && !calls_.empty()) {
        std::fputs(
            "heddle: several threads run an io_context that a runtime was given as "
            "host_threads::one; construct it with host_threads::several\n",
            stderr);
        std::abort();
    }
#else
    (void)before;
#endif
}

std::shared_ptr<shard_program> shard::program(
    const std::shared_ptr<const program_version>& version) {
    // Versions that nobody can call any more.
    std::erase_if(programs_, [](const auto& each) { return each.second.version.expired(); });
    known_program& found = programs_[version.get()];
    if (!found.sessions) {
        found.version = version;
        found.sessions = std::make_shared<shard_program>(
            shard_program::parts{*loop_, *services_, log_, counters_, options_}, *version);
    }
    return found.sessions;
}

void shard::cancel_all(cancel_reason reason) noexcept {
    for (running_call* each : calls_) each->request_cancel(reason);
}

coro::task<void> shard::close_services() {
    programs_.clear();
    if (services_) co_await services_->close();
}

void shard::clear() noexcept {
    programs_.clear();
    services_.reset();
    loop_.reset();
}

void shard::join() {
    work_.reset();
    if (thread_.joinable()) thread_.join();
}

void shard::leave() {
    work_.reset();
    if (thread_.joinable()) thread_.detach();
}

void shard::drive(const bool& done) {
    const bool was_stopped = context_.stopped();
    if (was_stopped) context_.restart();
    while (!done && context_.run_one() != 0) {}
    if (was_stopped) context_.stop();
}

} // namespace heddle::embed
