#include <heddle/coro/thread_without_signals.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/rows/row_feed.hpp>

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace heddle::rows {

namespace {

std::size_t bytes_of(const row_item& item) {
    constexpr std::size_t around = sizeof(row_item);
    if (const auto* good = std::get_if<row>(&item))
        return around + good->id.size() + good->json.size();
    return around + std::get<bad_row>(item).raw.size();
}

} // namespace

/// Shared with what the thread posts, which may run after the feed is gone.
struct row_feed::core {
    core(coro::event_loop& home, std::unique_ptr<row_reader> from, row_feed_options wanted)
        : loop(home), reader(std::move(from)), options(wanted) {}

    coro::event_loop& loop;
    std::unique_ptr<row_reader> reader;
    row_feed_options options;
    std::thread thread;
    coro::wait_point arrived; ///< the loop's

    std::mutex lock; ///< of all below
    std::condition_variable room;
    std::deque<row_item> items;
    std::size_t bytes = 0;
    bool ended = false; ///< nothing comes behind `items`
    bool closed = false;
    bool waiting = false;         ///< the loop waits for the next row
    std::optional<error> failure; ///< behind `items`

    [[nodiscard]] bool is_full() const {
        return !items.empty() && (items.size() >= options.max_rows || bytes >= options.max_bytes);
    }
    static void read_ahead(const std::shared_ptr<core>& self);
    static void wake(const std::shared_ptr<core>& self);
};

/// With the lock held.
void row_feed::core::wake(const std::shared_ptr<core>& self) {
    if (!std::exchange(self->waiting, false)) return;
    boost::asio::post(self->loop.get_executor(), [self] { self->arrived.notify(); });
}

void row_feed::core::read_ahead(const std::shared_ptr<core>& self) {
    for (;;) {
        result<std::optional<row_item>> read = std::optional<row_item>();
        try {
            read = self->reader->next();
        } catch (const std::exception& thrown) {
            read = error(errc::internal, std::string("reading rows: ") + thrown.what());
        }
        std::unique_lock held(self->lock);
        if (self->closed) return;
        if (!read || !*read) {
            if (!read) self->failure = read.error();
            self->ended = true;
            wake(self);
            return;
        }
        self->bytes += bytes_of(**read);
        self->items.push_back(**std::move(read));
        wake(self);
        self->room.wait(held, [&] { return self->closed || !self->is_full(); });
        if (self->closed) return;
    }
}

row_feed::row_feed(std::shared_ptr<core> own) : core_(std::move(own)) {}
row_feed::~row_feed() { close(); }

result<std::unique_ptr<row_feed>> row_feed::start(coro::event_loop& loop,
                                                  std::unique_ptr<row_reader> reader,
                                                  row_feed_options options) {
    auto own = std::make_shared<core>(loop, std::move(reader), options);
    try {
        own->thread = coro::thread_without_signals([own] { core::read_ahead(own); });
    } catch (const std::system_error& thrown) {
        return error(errc::io_error, std::string("no thread to read rows: ") + thrown.what());
    }
    return std::unique_ptr<row_feed>(new row_feed(std::move(own)));
}

coro::task<result<std::vector<row_item>>> row_feed::next_batch(std::size_t max_rows,
                                                               coro::call_context context) {
    const std::shared_ptr<core> own = core_;
    for (;;) {
        if (auto stop = context.stop_error()) co_return *std::move(stop);
        {
            const std::lock_guard held(own->lock);
            if (own->closed) co_return error::cancelled(cancel_reason::shutdown);
            if (!own->items.empty()) {
                std::vector<row_item> taken;
                const std::size_t count =
                    std::min(own->items.size(), std::max<std::size_t>(1, max_rows));
                taken.reserve(count);
                for (std::size_t i = 0; i < count; ++i) {
                    own->bytes -= bytes_of(own->items.front());
                    taken.push_back(std::move(own->items.front()));
                    own->items.pop_front();
                }
                own->room.notify_one();
                co_return taken;
            }
            if (own->failure) co_return *own->failure;
            if (own->ended) co_return std::vector<row_item>();
            own->waiting = true;
        }
        // The loop does not run out of work while a row is on its way.
        const auto tracked = boost::asio::prefer(own->loop.get_executor(),
                                                 boost::asio::execution::outstanding_work.tracked);
        const coro::wake woken = co_await own->arrived.wait(context);
        if (woken == coro::wake::timed_out) co_return error::cancelled(cancel_reason::deadline);
        if (woken == coro::wake::cancelled) co_return error::cancelled(context.cancel->reason());
    }
}

coro::task<result<std::optional<row_item>>> row_feed::next(coro::call_context context) {
    auto batch = co_await next_batch(1, context);
    if (!batch) co_return batch.error();
    if (batch->empty()) co_return std::optional<row_item>();
    co_return std::optional<row_item>(std::move(batch->front()));
}

void row_feed::close() noexcept {
    if (!core_->thread.joinable()) return;
    core_->reader->interrupt();
    {
        const std::lock_guard held(core_->lock);
        core_->closed = true;
        core_->items.clear();
    }
    core_->room.notify_one();
    core_->thread.join();
}

row_progress row_feed::progress() const noexcept { return core_->reader->progress(); }

} // namespace heddle::rows
