#include <heddle/coro/wait_point.hpp>
#include <heddle/fs/local_tree.hpp>

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <algorithm>
#include <optional>

namespace heddle::fs {

namespace {

/// One piece of work: the worker's until `finished` is notified on the loop.
struct piece {
    explicit piece(ports::worker_port::work work) : run(std::move(work)) {}
    ports::worker_port::work run;
    std::atomic<bool> abandoned{false};
    coro::wait_point finished;
    std::optional<error> failure;
};

class worker_pool final : public ports::worker_port {
public:
    worker_pool(coro::event_loop& loop, unsigned threads)
        : loop_(loop), threads_(std::max(1U, threads)) {}
    worker_pool(const worker_pool&) = delete;
    worker_pool& operator=(const worker_pool&) = delete;
    ~worker_pool() override {
        if (!pool_) return;
        pool_->stop(); // what has not begun is dropped
        pool_->join();
    }

    coro::task<result<void>> run(work job, coro::call_context context) override {
        if (auto stop = context.stop_error()) co_return *std::move(stop);
        const auto one = std::make_shared<piece>(std::move(job));
        start(one);
        const coro::wake woken = co_await one->finished.wait(context);
        if (woken != coro::wake::notified) {
            one->abandoned.store(true, std::memory_order_relaxed);
            co_return error::cancelled(woken == coro::wake::cancelled ? context.cancel->reason()
                                                                      : cancel_reason::deadline);
        }
        if (one->failure) co_return *one->failure;
        co_return result<void>();
    }

private:
    void start(const std::shared_ptr<piece>& one) {
        if (!pool_) pool_.emplace(threads_);
        // Tracked: the loop does not run out of work while the result is on its way.
        auto home = boost::asio::prefer(loop_.get_executor(),
                                        boost::asio::execution::outstanding_work.tracked);
        boost::asio::post(*pool_, [one, home] {
            try {
                // Abandoned before its turn: not begun.
                if (!one->abandoned.load(std::memory_order_relaxed)) one->run(one->abandoned);
            } catch (const std::exception& thrown) {
                one->failure = error(errc::internal, std::string("worker: ") + thrown.what());
            }
            one->run = nullptr; // what it holds may be big
            boost::asio::post(home, [one] { one->finished.notify(); });
        });
    }

    coro::event_loop& loop_;
    unsigned threads_;
    std::optional<boost::asio::thread_pool> pool_;
};

} // namespace

std::unique_ptr<ports::worker_port> make_worker_pool(coro::event_loop& loop, unsigned threads) {
    return std::make_unique<worker_pool>(loop, threads);
}

} // namespace heddle::fs
