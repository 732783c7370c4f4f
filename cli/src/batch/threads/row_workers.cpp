#include "batch/threads/row_workers.hpp"

#include <heddle/coro/nursery.hpp>

#include <algorithm>
#include <utility>

namespace heddle::cli {

coro::task<result<std::unique_ptr<row_workers>>> row_workers::start(parts of, std::size_t count,
                                                                    coro::call_context context,
                                                                    std::string* rendered) {
    std::unique_ptr<row_workers> object(new row_workers);
    result<void> started;
    while (started && object->workers_.size() < count) {
        auto worker = row_worker::start({of.home, of.options, of.variables, of.program, of.binding,
                                         of.loaded, object->counts_});
        if (worker) object->workers_.push_back(*std::move(worker));
        else started = std::move(worker).error();
    }
    if (started) {
        result<void> loaded = co_await object->load(context);
        started = std::move(loaded);
    }
    if (started) co_return object;
    for (const auto& each : object->workers_) {
        if (rendered->empty()) *rendered = each->load_failure();
    }
    co_await object->close();
    co_return std::move(started).error();
}

coro::task<result<void>> row_workers::load(coro::call_context context) {
    coro::nursery loading(context);
    for (const auto& each : workers_) loading.start(each->load(loading.context()));
    result<void> loaded = co_await loading.join();
    co_return loaded;
}

coro::task<result<row_outcome>> row_workers::attempt(rows::row row, std::uint64_t seed,
                                                     std::shared_ptr<setup::row_log> steps,
                                                     coro::deadline until,
                                                     coro::call_context context) {
    const auto least = std::min_element(
        workers_.begin(), workers_.end(),
        [](const auto& one, const auto& other) { return one->rows() < other->rows(); });
    return (*least)->attempt(std::move(row), seed, std::move(steps), until, context);
}

coro::task<void> row_workers::close() {
    for (const auto& each : workers_) {
        const result<void> closed = co_await each->close();
        static_cast<void>(closed); // a loop that is gone has nothing open
    }
}

} // namespace heddle::cli
