#include "batch/session_pool.hpp"

#include <utility>

namespace heddle::cli {

coro::task<result<std::unique_ptr<row_session>>> session_pool::take(coro::call_context context) {
    if (!free_.empty()) {
        std::unique_ptr<row_session> found = std::move(free_.back());
        free_.pop_back();
        co_return found;
    }
    auto meter = std::make_unique<row_meter>(tools_.counter());
    tools_.observe_sessions(*meter);
    host::run_options bounds = tools_.bounds();
    bounds.cancel = context.cancel;
    bounds.until = context.until;
    ++count_;
    // The session exists before the first wait, so that it gets this meter.
    result<std::unique_ptr<row_session>> loaded = co_await row_session::load(
        tools_.engine(), std::move(meter), program_, bounds, &last_failure_);
    co_return loaded;
}

void session_pool::put_back(std::unique_ptr<row_session> used, std::size_t most) {
    if (free_.size() < most && used->is_clean()) free_.push_back(std::move(used));
}

} // namespace heddle::cli
