#include <heddle/coro/loop_crossing.hpp>

#include <heddle/base/exceptions.hpp>
#include <heddle/coro/event_loop.hpp>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <utility>
#include <vector>

namespace heddle::coro {

event_loop* loop_address::loop() const {
    const std::lock_guard held(state_->mutex);
    return state_->loop;
}

bool loop_address::post(std::function<void()> call) const {
    const std::lock_guard held(state_->mutex);
    if (!state_->loop) return false;
    boost::asio::post(state_->posts_to, std::move(call));
    return true;
}

bool loop_address::post_in(handler_memory<1>& memory, std::shared_ptr<void> owner,
                           void (*call)(void*)) const noexcept {
    const std::lock_guard held(state_->mutex);
    if (!state_->loop) return false;
    boost::asio::post(state_->posts_to, boost::asio::bind_allocator(
                                            allocate_in(memory), [owner = std::move(owner), call] {
                                                call(owner.get());
                                            }));
    return true;
}

bool loop_address::enter(const std::shared_ptr<loop_crossing>& call, side at) const {
    const std::lock_guard held(state_->mutex);
    if (!state_->loop) return false;
    state_->calls.emplace(call.get(), entry{call, at});
    return true;
}

void loop_address::leave(const loop_crossing& call) const noexcept {
    const std::lock_guard held(state_->mutex);
    state_->calls.erase(&call);
}

void loop_address::close(bool is_stopped) const noexcept {
    decltype(state::calls) open;
    {
        const std::lock_guard held(state_->mutex);
        state_->loop = nullptr;
        open.swap(state_->calls);
    }
    // Without the lock: what is notified posts to other loops.
    for (auto& [key, each] : open) {
        const std::shared_ptr<loop_crossing> call = each.call.lock();
        if (!call) continue;
        if (each.at == side::caller) call->caller_is_gone();
        else call->callee_is_gone(is_stopped);
    }
}

/// The call is known to both loops for its lifetime.
class loop_crossing::entrance {
public:
    explicit entrance(std::shared_ptr<loop_crossing> call) : call_(std::move(call)) {
        (void)call_->here_->enter(call_, loop_address::side::caller); // which runs this
        try {
            is_open_ = call_->there_.enter(call_, loop_address::side::callee);
        } catch (...) {
            call_->here_->leave(*call_);
            throw;
        }
    }
    ~entrance() {
        call_->unhook();
        call_->here_->leave(*call_);
        call_->there_.leave(*call_);
    }
    entrance(const entrance&) = delete;
    entrance& operator=(const entrance&) = delete;
    /// False: the loop there is gone.
    [[nodiscard]] bool is_open() const noexcept { return is_open_; }

private:
    std::shared_ptr<loop_crossing> call_;
    bool is_open_ = false;
};

/// Is notified of the end of the work. It may also be destroyed without, by Asio without memory or
/// with the io_context.
class loop_crossing::work_end {
public:
    explicit work_end(std::shared_ptr<loop_crossing> call) noexcept : call_(std::move(call)) {}
    work_end(work_end&& other) noexcept = default;
    work_end& operator=(work_end&&) = delete;
    ~work_end() {
        if (call_) call_->end(out_of_memory());
    }
    void operator()(const std::exception_ptr& thrown) noexcept {
        const std::shared_ptr<loop_crossing> call = std::move(call_);
        call_ = nullptr;
        if (!thrown) return call->end(std::nullopt);
        try {
            std::rethrow_exception(thrown);
        } catch (...) {
            call->end(error_of_exception("work on another loop"));
        }
    }

private:
    std::shared_ptr<loop_crossing> call_; ///< null once it has been notified
};

task<std::optional<error>> loop_crossing::cross(call_context context) {
    const std::shared_ptr<loop_crossing> self = shared_from_this();
    here_ = context.loop->address();
    until_ = context.until;
    // The loop here does not run out of work while the outcome is on its way.
    const auto waiting = boost::asio::make_work_guard(context.loop->get_executor());
    const entrance known(self);
    if (!known.is_open()) co_return error::cancelled(cancel_reason::shutdown);
    // Created before anything begins that must be waited for.
    task<wake> at_end = ended_.wait({context.loop, nullptr, {}});
    if (context.cancel) context.cancel->hook(*this);
    there_.post_in<&loop_crossing::begin>(begin_memory_, self);
    co_await std::move(at_end);
    co_return std::move(failure_);
}

void loop_crossing::begin() noexcept {
    event_loop* const loop = there_.loop();
    if (!loop) return; // reported by callee_is_gone
    work_end reported(shared_from_this());
    try {
        task<void> work = perform({loop, &cancel_there_, until_});
        boost::asio::co_spawn(loop->get_executor(), std::move(work), std::move(reported));
    } catch (...) { // `reported` has notified it
    }
}

void loop_crossing::end(std::optional<error> failure) noexcept {
    drop_work();
    if (is_ended_.exchange(true)) return;
    failure_ = std::move(failure);
    here_->post_in<&loop_crossing::arrive>(end_memory_, shared_from_this());
}

void loop_crossing::callee_is_gone(bool is_stopped) noexcept {
    // Nothing runs there any more: what waits is destroyed with the io_context once it is woken.
    if (is_stopped) cancel_there_.request(cancel_reason::shutdown);
    if (is_ended_.exchange(true)) return;
    failure_ = error::cancelled(cancel_reason::shutdown);
    here_->post_in<&loop_crossing::arrive>(end_memory_, shared_from_this());
}

void loop_crossing::caller_is_gone() noexcept {
    unhook();
    forward(cancel_reason::shutdown);
    ended_.drop();
}

void loop_crossing::forward(cancel_reason reason) noexcept {
    if (forwarded_ != cancel_reason::none) return;
    forwarded_ = reason;
    there_.post_in<&loop_crossing::cancel>(cancel_memory_, shared_from_this());
}

} // namespace heddle::coro
