#include <heddle/coro/nursery.hpp>

#include <heddle/base/exceptions.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <utility>

namespace heddle::coro {

namespace {

constexpr unsigned max_refusals = 1000;

error error_of(const std::exception_ptr& thrown) noexcept {
    try {
        std::rethrow_exception(thrown);
    } catch (...) {
        return error_of_exception("a child coroutine");
    }
}

} // namespace

nursery::~nursery() {
    if (living_ != 0) {
        std::fputs("heddle: a nursery was destroyed with living children; join it first\n", stderr);
        std::abort();
    }
}

/// Is notified of a child's end. It may also be destroyed without: Asio, without memory, drops a
/// coroutine before its first step, or after its last.
class nursery::child_end {
public:
    explicit child_end(nursery& owner) noexcept : owner_(&owner) {}
    child_end(child_end&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
    child_end& operator=(child_end&&) = delete;
    ~child_end() {
        if (owner_) owner_->ended(out_of_memory());
    }
    void operator()(const std::exception_ptr& thrown, result<void> outcome) noexcept {
        nursery& owner = *std::exchange(owner_, nullptr);
        if (thrown) owner.ended(error_of(thrown));
        else owner.ended(std::move(outcome));
    }

private:
    nursery* owner_; ///< null once it has been notified
};

void nursery::start(task<result<void>> child) {
    // Posted first: co_spawn alone would run the child here and now, on top of its parent, so that
    // children of children of children would grow the native stack.
    const executor loop = parent_.loop->get_executor();
    ++living_; // from here on its end is reported, also if it never begins
    boost::asio::post(loop, [loop, child = std::move(child), end = child_end(*this)]() mutable {
        try {
            boost::asio::co_spawn(loop, std::move(child), std::move(end));
        } catch (...) { // `end` has notified it
        }
    });
}

void nursery::note(error failure) noexcept {
    if (first_error_ || policy_ == on_failure::ignore) return;
    first_error_ = std::move(failure);
    cancel_.request(cancel_reason::sibling);
}

void nursery::refused() noexcept { note(error_of_exception("a child coroutine")); }

void nursery::ended(result<void> outcome) noexcept {
    if (!outcome) note(std::move(outcome).error());
    if (--living_ == 0 && all_ended_.waiting()) all_ended_.notify();
}

task<result<void>> nursery::join() {
    if (joining_.valid()) return std::move(joining_);
    return wait_for_all();
}

task<result<void>> nursery::wait_for_all() {
    // Who leaves while children live leaves them without what they use: rather that often asked in
    // vain for the memory to wait.
    for (unsigned refused = 0; living_ != 0;) {
        try {
            // Without deadline and cancellation of its own: those reach the children, and end.
            co_await all_ended_.wait(call_context{parent_.loop, nullptr, {}});
        } catch (const std::bad_alloc&) {
            if (++refused == max_refusals) throw;
        }
    }
    if (first_error_) co_return *std::exchange(first_error_, std::nullopt);
    co_return result<void>();
}

} // namespace heddle::coro
