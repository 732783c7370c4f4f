// Workers for the loops of several threads.
#pragma once

#include <heddle/coro/event_loop.hpp>
#include <heddle/fs/local_tree.hpp>
#include <heddle/ports/tree_port.hpp>

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace heddle::embed {

/// Runs work that blocks for the loop that asks: each has threads for it, from the first work on.
/// On another loop the work is done in place. The loops outlive it. Threads: those of the loops.
class loop_workers final : public ports::worker_port {
public:
    loop_workers(const std::vector<coro::event_loop*>& loops, unsigned threads) {
        for (coro::event_loop* each : loops)
            pools_.emplace(each, fs::make_worker_pool(*each, threads));
    }

    [[nodiscard]] coro::task<result<void>> run(work job, coro::call_context context) override {
        const auto found = pools_.find(context.loop);
        if (found != pools_.end()) return found->second->run(std::move(job), context);
        return run_here(std::move(job));
    }

private:
    [[nodiscard]] static coro::task<result<void>> run_here(work job) {
        const std::atomic<bool> abandoned{false};
        job(abandoned);
        co_return result<void>();
    }

    std::map<const coro::event_loop*, std::unique_ptr<ports::worker_port>> pools_;
};

} // namespace heddle::embed
