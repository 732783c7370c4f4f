#include "store/response_writer.hpp"

#include <heddle/coro/thread_without_signals.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace heddle::store {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds max_stall{2'000};
constexpr milliseconds look_after{20}; ///< whether somebody still waits

std::size_t bytes_of(const std::string& request, const ports::stored_response& response) noexcept {
    constexpr std::size_t around = 256;
    return around + 2 * request.size() + response.body.size(); // the request is a key, too
}

} // namespace

response_writer::response_writer(response_store_options options) : table_(std::move(options)) {}

response_writer::~response_writer() {
    {
        const std::lock_guard held(lock_);
        ending_ = true;
        hurries_.store(true, std::memory_order_relaxed);
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

bool response_writer::add(const std::string& request, ports::stored_response& response,
                          std::int64_t created) {
    const std::size_t bytes = bytes_of(request, response);
    const std::lock_guard held(lock_);
    if (!has_room(bytes)) return false;
    if (!thread_.joinable()) {
        thread_ = coro::thread_without_signals([this] { run(); });
    }
    const auto one = std::make_shared<item>(item{request, {}, created, bytes});
    queue_.push_back(one);
    try {
        newest_.insert_or_assign(request, one);
    } catch (...) {
        queue_.pop_back();
        throw;
    }
    one->response = std::move(response);
    if (queue_.size() == 1) last_written_ = steady_clock::now();
    bytes_ += bytes;
    changed_.notify_all();
    return true;
}

std::optional<ports::stored_response> response_writer::waiting(const std::string& request,
                                                               std::int64_t oldest) {
    const std::lock_guard held(lock_);
    const auto found = newest_.find(request);
    if (found == newest_.end() || found->second->created <= oldest) return std::nullopt;
    return found->second->response;
}

void response_writer::wait_for_room(const std::string& request,
                                    const ports::stored_response& response,
                                    const std::atomic<bool>& abandoned) {
    const std::size_t bytes = bytes_of(request, response);
    std::unique_lock held(lock_);
    while (!has_room(bytes) && !abandoned.load(std::memory_order_relaxed) &&
           steady_clock::now() - last_written_ < max_stall) {
        changed_.wait_for(held, look_after);
    }
}

void response_writer::wait_until_done(milliseconds limit, const std::atomic<bool>& abandoned) {
    const auto until = steady_clock::now() + limit;
    std::unique_lock held(lock_);
    while (!queue_.empty() && !abandoned.load(std::memory_order_relaxed) &&
           steady_clock::now() < until) {
        changed_.wait_for(held, look_after);
    }
}

std::size_t response_writer::drop_waiting(milliseconds limit) {
    const auto until = steady_clock::now() + limit;
    std::unique_lock held(lock_);
    std::size_t dropped = 0;
    for (; queue_.size() > (writing_ ? 1 : 0); ++dropped) drop_last();
    if (queue_.empty()) return dropped;
    const std::uint64_t lost_before = lost_;
    hurries_.store(true, std::memory_order_relaxed);
    while (writing_ && steady_clock::now() < until) changed_.wait_for(held, look_after);
    hurries_.store(ending_, std::memory_order_relaxed);
    const bool lost = writing_ || lost_ != lost_before;
    return dropped + (lost ? 1 : 0);
}

std::optional<error> response_writer::take_failure() {
    const std::lock_guard held(lock_);
    return std::exchange(failure_, std::nullopt);
}

result<void> response_writer::write(const item& one) {
    try {
        return table_.keep(one.request, one.response, one.created, &hurries_);
    } catch (const std::exception& thrown) {
        return error(errc::internal, std::string("response cache: ") + thrown.what());
    }
}

void response_writer::forget(const std::shared_ptr<const item>& one) {
    bytes_ -= one->bytes;
    const auto found = newest_.find(one->request);
    if (found != newest_.end() && found->second == one) newest_.erase(found);
}

void response_writer::drop_first() {
    const std::shared_ptr<const item> one = std::move(queue_.front());
    queue_.pop_front();
    forget(one);
}

void response_writer::drop_last() {
    const std::shared_ptr<const item> one = std::move(queue_.back());
    queue_.pop_back();
    forget(one);
}

void response_writer::run() {
    std::unique_lock held(lock_);
    for (;;) {
        changed_.wait(held, [&] { return !queue_.empty() || ending_; });
        if (queue_.empty()) return;
        const std::shared_ptr<const item> one = queue_.front();
        writing_ = true;
        held.unlock();
        result<void> written = write(*one);
        held.lock();
        writing_ = false;
        changed_.notify_all();
        const bool locked = !written && written.error().info().retryable == true;
        if (locked && !hurries_) {
            changed_.wait_for(held, look_after);
            continue;
        }
        if (auto loss = table_.take_loss(); loss && !std::exchange(failed_before_, true))
            failure_ = std::move(loss);
        if (written) last_written_ = steady_clock::now();
        else ++lost_;
        // What was locked to the end is reported by its number.
        if (!written && !locked && !std::exchange(failed_before_, true))
            failure_ = std::move(written).error();
        drop_first();
    }
}

} // namespace heddle::store
