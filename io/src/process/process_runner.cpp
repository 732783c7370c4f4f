#include "process/environment.hpp"
#include "process/kept_program.hpp"
#include "process/output_pipe.hpp"
#include "process/start_child.hpp"
#include "process/starter.hpp"
#include "process/terminal.hpp"

#include <heddle/coro/semaphore.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/process/child_processes.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <functional>
#include <set>
#include <system_error>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heddle::process {

namespace {

using coro::clock;
using ports::process_errc;
using ports::process_io;
using ports::process_request;
using ports::process_result;

constexpr std::size_t input_piece = 256 * 1024;             // written between turns of the loop
constexpr auto last_words = std::chrono::milliseconds(100); // for a pipe whose writers were killed
constexpr auto keepers_time = std::chrono::seconds(6);      // more than a keeper needs (keeper.cpp)

/// The programs of a port whose keepers are not gone yet. Shared: coroutines that the loop gave up
/// may outlive the port.
using living_children = std::set<kept_program*>;

/// One child and what is known of it. Everything that waits wakes `changed`.
class running_child {
public:
    running_child(coro::event_loop& loop, started_child child, const process_request& request,
                  std::shared_ptr<living_children> living)
        : living_(std::move(living)) {
        const auto wake = [this] { changed_.notify(); };
        kept_ = std::make_shared<kept_program>(loop, std::move(child.control), wake);
        living_->insert(kept_.get());
        if (request.io == process_io::captured) {
            out_ =
                std::make_shared<output_pipe>(loop, std::move(child.out), request.max_output, wake);
            err_ =
                std::make_shared<output_pipe>(loop, std::move(child.err), request.max_output, wake);
            out_->start();
            err_->start();
        }
        kept_->start();
    }
    running_child(const running_child&) = delete;
    running_child& operator=(const running_child&) = delete;
    ~running_child() {
        close();
        living_->erase(kept_.get());
    }

    [[nodiscard]] const kept_program& program() const noexcept { return *kept_; }
    [[nodiscard]] kept_program& program() noexcept { return *kept_; }
    /// See kept_program::take_control.
    [[nodiscard]] fs::descriptor take_control() noexcept { return kept_->take_control(); }
    [[nodiscard]] bool exited() const noexcept { return kept_->ended(); }
    [[nodiscard]] bool read_to_end() const noexcept {
        return !out_ || (out_->ended() && err_->ended());
    }
    [[nodiscard]] bool over() const noexcept { return exited() && read_to_end(); }
    void signal(int number) noexcept { kept_->signal(number); }
    [[nodiscard]] coro::wait_point& changed() noexcept { return changed_; }

    /// Reads no more and is not notified any more; what is left of the program ends.
    void close() noexcept {
        if (out_) out_->close();
        if (err_) err_->close();
        kept_->stop();
    }

    /// The status and the output, once it has exited.
    [[nodiscard]] result<process_result> take(const std::string& name) {
        using state = kept_program::state;
        const state ended = kept_->now();
        const int value = kept_->value();
        if (out_) out_->close();
        if (err_) err_->close();
        process_result process;
        switch (ended) {
        case state::failed: return start_error(value, name);
        case state::exited: process.exit_code = value; break;
        case state::killed:
            process.signal = value;
            process.exit_code = 128 + value;
            break;
        case state::lost:
        case state::starting:
        case state::running:
            return error(process_errc::status_lost,
                         "how the program ended is not known: the process that watched over it was "
                         "killed")
                .with_retryable(false);
        }
        if (out_) {
            process.out = out_->take_text();
            process.err = err_->take_text();
            process.out_dropped = out_->dropped();
            process.err_dropped = err_->dropped();
        }
        return process;
    }

private:
    std::shared_ptr<living_children> living_;
    coro::wait_point changed_;
    std::shared_ptr<kept_program> kept_;
    std::shared_ptr<output_pipe> out_;
    std::shared_ptr<output_pipe> err_;
};

/// What a wait is for.
enum class until : std::uint8_t { started, exited, read_to_end, over, gone };

[[nodiscard]] bool reached(const running_child& child, until what) noexcept {
    switch (what) {
    case until::started: return child.program().started();
    case until::exited: return child.exited();
    case until::read_to_end: return child.read_to_end();
    case until::over: return child.over();
    case until::gone: return child.program().gone();
    }
    return true;
}

/// Waits for it; the wake that ended the wait when something else came first.
coro::task<coro::wake> wait_until(running_child& child, until what, coro::call_context context) {
    while (!reached(child, what)) {
        const coro::wake woken = co_await child.changed().wait(context);
        if (woken != coro::wake::notified) co_return woken;
    }
    co_return coro::wake::notified;
}

/// Has the keeper kill what is left, and waits until nothing is.
coro::task<void> finish(running_child& child, coro::event_loop& loop) {
    const coro::call_context undisturbed{&loop, nullptr, {}};
    child.program().finish();
    const coro::deadline patience(loop.now() + keepers_time);
    const coro::wake woken =
        co_await wait_until(child, until::gone, undisturbed.with_deadline(patience));
    if (woken != coro::wake::notified) child.program().force();
}

/// Asks the program and what it has left to end, and ends it. After this it has exited.
coro::task<void> end_program(running_child& child, std::chrono::milliseconds grace,
                             coro::event_loop& loop) {
    const coro::call_context undisturbed{&loop, nullptr, {}};
    child.signal(SIGTERM);
    child.signal(SIGCONT); // one that is stopped would not hear it
    const coro::deadline patience(loop.now() + grace);
    co_await wait_until(child, until::over, undisturbed.with_deadline(patience));
    co_await finish(child, loop);
    const coro::deadline soon(loop.now() + last_words);
    co_await wait_until(child, until::read_to_end, undisturbed.with_deadline(soon));
}

/// The input as a file in memory.
coro::task<result<fs::descriptor>> hold_input(std::string text, coro::call_context context) {
    fs::descriptor file(::memfd_create("heddle-input", MFD_CLOEXEC));
    const auto failed = [] {
        return error(process_errc::start_failed,
                     "the input cannot be held: " + std::generic_category().message(errno));
    };
    if (!file.open()) co_return failed();
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t count =
            ::write(file.get(), text.data() + done, std::min(input_piece, text.size() - done));
        if (count < 0 && errno != EINTR) co_return failed();
        if (count > 0) done += static_cast<std::size_t>(count);
        if (done == text.size()) break;
        co_await coro::yield_now(*context.loop);
        if (auto stop = context.stop_error()) co_return *std::move(stop);
    }
    if (::lseek(file.get(), 0, SEEK_SET) != 0) co_return failed();
    co_return file;
}

/// The program learns for how long its terminal belongs to another one.
class taken_terminal {
public:
    explicit taken_terminal(const std::function<void(bool)>& notify) : notify_(notify) {
        if (notify_) notify_(true);
    }
    ~taken_terminal() {
        if (notify_) notify_(false);
    }
    taken_terminal(const taken_terminal&) = delete;
    taken_terminal& operator=(const taken_terminal&) = delete;

private:
    const std::function<void(bool)>& notify_;
};

class process_runner final : public ports::process_port {
public:
    process_runner(coro::event_loop& loop, process_options options, fs::workspace_root root,
                   std::unique_ptr<program_starter> starter)
        : loop_(loop), options_(std::move(options)), root_(std::move(root)),
          starter_(std::move(starter)) {}
    process_runner(const process_runner&) = delete;
    process_runner& operator=(const process_runner&) = delete;
    ~process_runner() override {
        for (kept_program* each : *living_) each->end_now();
    }

    coro::task<result<process_result>> run(process_request request,
                                           coro::call_context context) override {
        if (auto stop = context.stop_error()) co_return *std::move(stop);
        if (request.io == process_io::captured) {
            result<process_result> ended = co_await run_now(std::move(request), context);
            co_return ended;
        }
        const result<void> turn = co_await terminal_turn_.acquire(context);
        if (!turn) co_return turn.error();
        const coro::held_permit held(terminal_turn_);
        result<process_result> ended = co_await run_in_terminal(std::move(request), context);
        co_return ended;
    }

private:
    coro::task<result<process_result>> run_in_terminal(process_request request,
                                                       coro::call_context context) {
        const taken_terminal taken(options_.on_terminal);
        terminal_loan loan;
        result<process_result> ended = co_await run_now(std::move(request), context, &loan);
        co_return ended;
    }

    coro::task<result<process_result>> run_now(process_request request, coro::call_context context,
                                               terminal_loan* loan = nullptr) {
        auto variables = make_environment(environ, options_, request);
        if (!variables) co_return std::move(variables).error();
        auto directory = open_directory(root_, request.directory);
        if (!directory) co_return std::move(directory).error();
        fs::descriptor input;
        if (!request.input.empty() && request.io == process_io::captured) {
            result<fs::descriptor> held = co_await hold_input(std::move(request.input), context);
            if (!held) co_return std::move(held).error();
            input = *std::move(held);
        }
        child_setting setting{&*variables, directory->get(), input.get(),
                              loan ? loan->descriptor() : -1};
        const clock::time_point began = loop_.now();
        auto started = start_child(*starter_, request, setting);
        if (!started) co_return std::move(started).error();
        input = fs::descriptor();
        running_child child(loop_, *std::move(started), request, living_);
        coro::call_context bounded = context;
        if (request.timeout.count() > 0) {
            bounded = context.with_deadline(coro::deadline(began + request.timeout));
        }
        const coro::wake woken = co_await wait_until(child, until::started, bounded);
        if (loan && child.program().number() > 0) loan->give_to(child.program().number());
        result<process_result> ended = co_await watch(child, request, context, bounded, woken);
        const bool lost = child.program().now() == kept_program::state::lost;
        if (lost && options_.strays != nullptr) co_await end_strays();
        starter_->give_back(child.take_control());
        if (ended) ended->elapsed = loop_.now() - began;
        co_return ended;
    }

    /// `bounded`: the context with the time of the request; `woken`: what ended the wait for the
    /// start.
    coro::task<result<process_result>> watch(running_child& child, const process_request& request,
                                             coro::call_context context, coro::call_context bounded,
                                             coro::wake woken) {
        if (woken == coro::wake::notified) {
            woken = co_await wait_until(child, until::exited, bounded);
        }
        if (woken == coro::wake::notified && !child.read_to_end()) {
            // Its last output, or that of something it left behind.
            const coro::deadline soon(loop_.now() + request.grace);
            const coro::call_context shortly = bounded.with_deadline(soon);
            woken = co_await wait_until(child, until::read_to_end, shortly);
            if (woken != coro::wake::notified) co_await end_program(child, request.grace, loop_);
            // It ended in time by itself.
            if (woken == coro::wake::timed_out) woken = coro::wake::notified;
        } else if (woken != coro::wake::notified) {
            co_await end_program(child, request.grace, loop_);
        }
        co_await finish(child, loop_); // what it left behind without our pipes
        result<process_result> ended =
            child.take(request.through_shell ? "sh" : request.arguments.front());
        if (woken == coro::wake::cancelled) {
            co_return error::cancelled(context.cancel->reason());
        }
        if (woken == coro::wake::timed_out) {
            if (!context.until.is_never() && context.until.passed(loop_.now()) &&
                context.until.at() <= bounded.until.at()) {
                co_return error::cancelled(cancel_reason::deadline);
            }
            if (ended) ended->timed_out = true;
        }
        co_return ended;
    }

    /// After a keeper was killed. The starter may be killed next, and be gone a moment later.
    coro::task<void> end_strays() {
        constexpr int fewest_passes = 10;
        constexpr int max_passes = 400;
        constexpr auto pause = std::chrono::milliseconds(5);
        const coro::call_context undisturbed{&loop_, nullptr, {}};
        for (int passes = 1; passes <= max_passes; ++passes) {
            std::vector<pid_t> keepers;
            for (const kept_program* each : *living_) {
                if (!each->gone() && each->keeper() > 0) keepers.push_back(each->keeper());
            }
            const int found = options_.strays->kill_strays(keepers);
            if (found == 0 && passes >= fewest_passes) break;
            const result<void> slept = co_await coro::sleep_until(undisturbed, loop_.now() + pause);
            if (!slept) break;
        }
    }

    coro::event_loop& loop_;
    process_options options_;
    fs::workspace_root root_;
    std::unique_ptr<program_starter> starter_;
    coro::semaphore terminal_turn_{1};
    std::shared_ptr<living_children> living_ = std::make_shared<living_children>();
};

} // namespace

result<std::unique_ptr<ports::process_port>> make_process_port(coro::event_loop& loop,
                                                               process_options options) {
    HEDDLE_TRY(fs::workspace_root root, fs::open_root(options.workspace));
    HEDDLE_TRY(auto starter, program_starter::create(options.strays));
    return std::unique_ptr<ports::process_port>(std::make_unique<process_runner>(
        loop, std::move(options), std::move(root), std::move(starter)));
}

} // namespace heddle::process
