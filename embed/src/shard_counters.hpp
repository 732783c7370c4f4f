// What a thread counts, and any thread reads.
#pragma once

#include <heddle/answer.hpp>
#include <heddle/runtime_stats.hpp>

#include <atomic>
#include <cstdint>

namespace heddle::embed {

/// A number that one thread changes and others read.
template <class T>
class shared_figure {
public:
    void add(T amount) noexcept {
        figure_.store(figure_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }
    [[nodiscard]] T get() const noexcept { return figure_.load(std::memory_order_relaxed); }

private:
    std::atomic<T> figure_{0};
};

/// The figures of one shard, which its thread changes.
struct shard_counters {
    shared_figure<std::uint64_t> waiting_for_limit;
    shared_figure<std::uint64_t> waiting_for_budget;
    shared_figure<std::uint64_t> requests_running;
    shared_figure<std::uint64_t> done;
    shared_figure<std::uint64_t> failed;
    shared_figure<std::uint64_t> cancelled;
    shared_figure<std::uint64_t> requests;
    shared_figure<std::uint64_t> input_tokens;
    shared_figure<std::uint64_t> output_tokens;
    shared_figure<double> cost_usd;
    shared_figure<std::uint64_t> unpriced;
    shared_figure<std::uint64_t> loads;
    // Changed where calls begin and end, under the lock of the runtime.
    std::atomic<std::uint64_t> running{0};
    std::atomic<std::uint64_t> queued{0};

    /// Calls that are there, to choose the shard with the fewest.
    [[nodiscard]] std::uint64_t load() const noexcept {
        return running.load(std::memory_order_relaxed) + queued.load(std::memory_order_relaxed);
    }
    [[nodiscard]] call_stats read() const noexcept;
};

/// Adds up the figures of threads.
void add(call_stats& all, const call_stats& one) noexcept;

} // namespace heddle::embed
