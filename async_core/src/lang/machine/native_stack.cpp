#include "native_stack.hpp"

#include "lang/threads/start_thread.hpp"

#include <new>
#include <utility>

namespace heddle::lang {

native_stack::~native_stack() {
    if (!started_) return;
    pthread_join(thread_, nullptr);
    if (counted_) --realm_.native_stacks;
}

native_stack::progress native_stack::resume(const std::function<void()>& work) {
    if (ended_) return progress::ended;
    if (!started_) {
        // What a compilation waits for cannot wait for other compilations.
        counted_ = realm_.watch() == nullptr;
        if (counted_ && realm_.native_stacks >= max_running) return progress::queued;
        work_ = &work;
        if (!start_thread(thread_, bytes_, &native_stack::run_thread, this)) throw std::bad_alloc();
        started_ = true;
        if (counted_) ++realm_.native_stacks;
    }
    hand_over();
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    return ended_ ? progress::ended : progress::paused;
}

/// On the owner's stack: the worker's turn, to its end.
void native_stack::hand_over() {
    std::unique_lock lock(mutex_);
    now_ = turn::worker;
    changed_.notify_one();
    changed_.wait(lock, [&] { return now_ == turn::owner; });
}

bool native_stack::give_way() {
    if (abandoned_) return false;
    std::unique_lock lock(mutex_);
    now_ = turn::owner;
    changed_.notify_one();
    changed_.wait(lock, [&] { return now_ == turn::worker; });
    return !abandoned_;
}

void native_stack::abandon() noexcept {
    if (!started_) return;
    abandoned_ = true;
    while (!ended_) hand_over();
}

void* native_stack::run_thread(void* self) {
    static_cast<native_stack*>(self)->run();
    return nullptr;
}

void native_stack::run() {
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return now_ == turn::worker; });
    }
    try {
        (*work_)();
    } catch (...) {
        thrown_ = std::current_exception();
    }
    const std::unique_lock lock(mutex_);
    ended_ = true;
    now_ = turn::owner;
    changed_.notify_one();
}

} // namespace heddle::lang
