#include "shard.hpp"

#include "host_call.hpp"
#include "running_call.hpp"
#include "thread_check.hpp"

#include <heddle/base/exceptions.hpp>

#include <algorithm>
#include <chrono>

namespace heddle::embed {

namespace {

/// For handlers of completed calls to arrive at the thread, once all is closed.
constexpr std::chrono::seconds least_time{1};

} // namespace

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

template <class Run>
void shard::run_with(Run run_loop) noexcept {
    for (;;) {
        try {
            run_loop();
            return;
        } catch (...) { // of a handler of the host that was completed here
            log_.write(log_level::error, "runtime",
                       error_of_exception("a completion handler").message());
        }
    }
}

void shard::run() noexcept {
    run_with([this] { loop_->run(); });
    // All is closed. What keeps the context running is a look of the timers at deadlines that no
    // longer matter, handlers on their way, and functions of the host that were left behind.
    clear();
    context_.restart();
    const coro::deadline until =
        deadline_after(coro::clock::now(),
                       std::max<std::chrono::nanoseconds>(options_.function_grace, least_time));
    run_with([&] { context_.run_until(until.at()); });
}

bool shard::was_here() const noexcept {
    const std::thread::id last = last_thread_.load();
    return last == std::thread::id() || last == std::this_thread::get_id();
}

void shard::check_thread() {
    const std::thread::id here = std::this_thread::get_id();
    const std::thread::id before = last_thread_.exchange(here);
    if (!checks_threads) return;
    // A loop without calls may move to another thread.
    if (before != std::thread::id() && before != here && has_calls_) {
        end_for_mistake("a call",
                        "several threads run an io_context that a runtime was given as "
                        "host_threads::one; construct it with host_threads::several");
    }
}

void shard::check_entry(const char* function) const {
    if (!checks_threads || !is_on_host()) return;
    const std::thread::id last = last_thread_;
    const bool is_elsewhere = last != std::thread::id() && last != std::this_thread::get_id();
    // One that is stopped may be used by another thread.
    if (!is_elsewhere || !has_calls_ || context_.stopped()) return;
    end_for_mistake(function,
                    "called on another thread than the one that runs the io_context, while calls "
                    "are in progress; a runtime of host_threads::one belongs to that thread. Post "
                    "to the context, construct the runtime with host_threads::several, or, if no "
                    "thread runs the context any more, call its stop() first");
}

std::shared_ptr<shard_program> shard::program(
    const std::shared_ptr<const program_version>& version) {
    // Versions that nobody can call any more.
    std::erase_if(programs_, [](const auto& each) { return each.second.version.expired(); });
    known_program& found = programs_[version.get()];
    if (!found.program) {
        found.version = version;
        found.program = std::make_shared<shard_program>(
            shard_program::parts{*loop_, *services_, log_, counters_, options_}, *version);
    }
    return found.program;
}

void shard::cancel_all(cancel_reason reason) noexcept {
    loads_.request(reason);
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

void shard::let_end() noexcept {
    if (!thread_.joinable()) return;
    work_.reset();
    own_->stop(); // run() goes on
}

void shard::join() {
    if (thread_.joinable()) thread_.join();
}

void shard::leave() {
    if (!thread_.joinable()) return;
    let_end();
    thread_.detach();
}

void shard::drive(const bool& done) {
    last_thread_ = std::this_thread::get_id(); // calls may go on here: no other thread runs them
    bool stopped = false;
    {
        // What other threads do for a call, such as reading a file, is not work of the context.
        const auto work = boost::asio::make_work_guard(context_);
        run_with([&] {
            while (!done) {
                if (context_.stopped()) { // by the host, before or by one of its handlers now
                    stopped = true;
                    context_.restart();
                }
                context_.run_one();
            }
        });
        stopped = stopped || context_.stopped();
    }
    if (stopped) context_.stop();
}

} // namespace heddle::embed
