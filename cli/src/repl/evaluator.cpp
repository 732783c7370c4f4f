#include "repl/evaluator.hpp"

#include "progress.hpp"
#include "run_to_end.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>

#include <unistd.h>

#include <csignal>

namespace heddle::cli {

/// Looks at the signals while the loop runs.
class evaluator::watch {
public:
    explicit watch(evaluator& owner)
        : owner_(owner), pipe_(owner.tools_.loop().context(), ::dup(owner.signals_.descriptor())),
          alive_(std::make_shared<bool>(true)) {
        owner_.signals_.note_ends(1);
        wait();
    }
    ~watch() {
        *alive_ = false;
        owner_.signals_.note_ends(signal_pipe::any_number);
    }
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;

private:
    void wait() {
        pipe_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                         [this, alive = alive_](boost::system::error_code ec) {
                             if (ec || !*alive) return; // the loop may run once more after us
                             look();
                             wait();
                         });
    }
    void look() {
        for (int signal = owner_.signals_.take(); signal != 0; signal = owner_.signals_.take()) {
            if (signal == SIGWINCH || !owner_.cancel_) continue;
            if (signal != SIGINT) owner_.terminated_ = true;
            owner_.signals_.note_ends(0); // it may have been noted before this began
            owner_.cancel_->request(cancel_reason::user);
        }
    }

    evaluator& owner_;
    boost::asio::posix::stream_descriptor pipe_;
    std::shared_ptr<bool> alive_;
};

coro::task<void> evaluator::evaluate(std::vector<lang::datum> forms, host::run_options options) {
    result<lang::value> ended = co_await session_.evaluate_forms(std::move(forms), options);
    ended_ = std::move(ended);
}

void evaluator::run_loop(coro::task<void> work) {
    coro::event_loop& loop = tools_.loop();
    loop.context().restart();
    std::optional<progress> status;
    if (options_.verbosity >= 0) {
        progress_source watched{&tools_.counts()};
        if (output_.traits().err_is_terminal)
            watched.maps = [this] { return session_.outermost_maps(); };
        status.emplace(loop, output_, std::move(watched));
    }
    watch signals(*this);
    const console::loop_time looping(output_);
    run_to_end(loop, std::move(work), [&] { status.reset(); });
}

result<lang::value> evaluator::run(std::vector<lang::datum> forms) {
    // The loop did not run while the prompt was shown: drop the connections that servers have
    // closed meanwhile.
    tools_.loop().context().restart();
    tools_.loop().context().poll();

    before_ = tools_.counts();
    coro::cancel_source cancel;
    host::run_options bounds = tools_.bounds();
    bounds.cancel = &cancel;
    if (options_.timeout) bounds.until = coro::deadline(tools_.loop().now() + *options_.timeout);
    cancel_ = &cancel;
    ended_.reset();
    run_loop(evaluate(std::move(forms), bounds));
    cancel_ = nullptr;
    return *std::move(ended_);
}

void evaluator::close() { run_loop(tools_.close()); }

} // namespace heddle::cli
