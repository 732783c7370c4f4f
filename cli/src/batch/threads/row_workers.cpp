#include "batch/threads/row_workers.hpp"

#include <algorithm>
#include <utility>

namespace heddle::cli {

coro::task<result<std::unique_ptr<row_workers>>> row_workers::start(parts of, std::size_t count,
                                                                    coro::call_context context) {
    std::unique_ptr<row_workers> object(new row_workers);
    while (object->workers_.size() < count) {
        auto worker = row_worker::start({of.home, of.options, of.variables, of.program, of.binding,
                                         of.loaded, object->counts_});
        result<void> loaded;
        if (worker) {
            object->workers_.push_back(*std::move(worker));
            loaded = co_await object->workers_.back()->load(context);
        } else {
            loaded = std::move(worker).error();
        }
        if (loaded) continue;
        co_await object->close();
        co_return std::move(loaded).error();
    }
    co_return object;
}

coro::task<result<row_outcome>> row_workers::attempt(rows::row row, std::shared_ptr<row_log> steps,
                                                     coro::deadline until,
                                                     coro::call_context context) {
    const auto least = std::min_element(
        workers_.begin(), workers_.end(),
        [](const auto& one, const auto& other) { return one->rows() < other->rows(); });
    return (*least)->attempt(std::move(row), std::move(steps), until, context);
}

coro::task<void> row_workers::close() {
    for (const auto& each : workers_) {
        const result<void> closed = co_await each->close();
        static_cast<void>(closed); // a loop that is gone has nothing open
    }
}

} // namespace heddle::cli
