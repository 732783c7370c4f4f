#include <heddle/lang/side_thread.hpp>

#include "start_thread.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <utility>

namespace heddle::lang {

namespace {

constexpr unsigned max_threads = 4;
constexpr std::size_t max_bytes = std::size_t{256} * 1024 * 1024; ///< but one job may hold more
constexpr std::size_t stack_bytes = 512 * 1024;
constexpr auto patience = std::chrono::microseconds(500);
constexpr std::uint64_t units_of_patience = 50'000;
constexpr auto max_wait = std::chrono::seconds(30);

/// The threads of the process. It is never destroyed: some may run until the process ends.
struct side_threads {
    std::mutex mutex;
    std::condition_variable changed;
    unsigned running = 0;
    std::size_t held = 0;

    [[nodiscard]] bool has_room(std::size_t bytes) const noexcept {
        return running == 0 || (running < max_threads && held + bytes <= max_bytes);
    }
    void leave(std::size_t bytes) {
        const std::unique_lock lock(mutex);
        --running;
        held -= bytes;
        changed.notify_all();
    }
};

side_threads& all_threads() {
    static auto& threads = *new side_threads;
    return threads;
}

/// What a thread and who waits for it share.
struct side_run {
    std::shared_ptr<side_job> job;
    std::size_t bytes = 0;
    std::exception_ptr thrown;
    bool done = false;
    std::mutex mutex;
    std::condition_variable changed;

    static void* on_thread(void* given) {
        std::unique_ptr<std::shared_ptr<side_run>> self(
            static_cast<std::shared_ptr<side_run>*>(given));
        side_run& run = **self;
        try {
            run.job->run();
        } catch (...) {
            run.thrown = std::current_exception();
        }
        {
            const std::unique_lock lock(run.mutex);
            run.done = true;
            run.changed.notify_one();
        }
        const std::size_t bytes = run.bytes;
        self.reset(); // what it holds goes before its place is given on
        all_threads().leave(bytes);
        return nullptr;
    }
};

/// A place among the threads.
[[nodiscard]] side_end wait_for_place(std::size_t bytes, work_meter& work) {
    side_threads& threads = all_threads();
    const auto began = std::chrono::steady_clock::now();
    for (;;) {
        {
            std::unique_lock lock(threads.mutex);
            if (threads.changed.wait_for(lock, patience, [&] { return threads.has_room(bytes); })) {
                ++threads.running;
                threads.held += bytes;
                return side_end::done;
            }
        }
        if (!work.spend(units_of_patience)) return side_end::stopped;
        if (std::chrono::steady_clock::now() - began >= max_wait) return side_end::refused;
    }
}

void start(const std::shared_ptr<side_run>& run) {
    auto shared = std::make_unique<std::shared_ptr<side_run>>(run);
    pthread_t thread{};
    if (!start_thread(thread, stack_bytes, &side_run::on_thread, shared.get()))
        throw std::bad_alloc();
    (void)shared.release();
    pthread_detach(thread);
}

} // namespace

side_end run_beside(const std::shared_ptr<side_job>& job, work_meter& work) {
    const auto run = std::make_shared<side_run>();
    run->job = job;
    run->bytes = job->bytes();
    if (const side_end place = wait_for_place(run->bytes, work); place != side_end::done)
        return place;
    try {
        start(run);
    } catch (...) {
        all_threads().leave(run->bytes);
        throw;
    }
    for (;;) {
        {
            std::unique_lock lock(run->mutex);
            if (run->changed.wait_for(lock, patience, [&] { return run->done; })) break;
        }
        if (work.spend(units_of_patience)) continue;
        job->abandon();
        return side_end::stopped;
    }
    if (run->thrown) std::rethrow_exception(std::exchange(run->thrown, nullptr));
    return side_end::done;
}

} // namespace heddle::lang
