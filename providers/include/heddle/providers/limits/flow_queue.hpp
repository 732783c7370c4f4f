// The order of waiting calls: fair between flows, interactive before batch.
#pragma once

#include <heddle/ports/llm_port.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>

namespace heddle::providers::limits {

class flow_queue;

/// A waiting call. Leaves its queue on destruction.
class queued_call {
public:
    queued_call() = default;
    queued_call(const queued_call&) = delete;
    queued_call& operator=(const queued_call&) = delete;
    [[nodiscard]] bool queued() const noexcept { return queue_ != nullptr; }

protected:
    ~queued_call();

private:
    friend class flow_queue;
    flow_queue* queue_ = nullptr;
    void* flow_ = nullptr;
    queued_call* next_ = nullptr;
    queued_call* previous_ = nullptr;
    double weight_ = 1;
};

/// Start-time fair queueing (Goyal, Vin, Cheng 1996): waiting flows get equal shares of the total
/// weight, whatever the number of their calls; within a flow first come, first served. An idle flow
/// gains no credit. Each priority has its own order; a batch call goes if no interactive one waits,
/// and otherwise in each `batch_share`th place.
/// Complexity: O(log flows) for each call. Threads: as any value.
class flow_queue {
public:
    explicit flow_queue(unsigned batch_share) : batch_share_(batch_share < 2 ? 2 : batch_share) {}
    flow_queue(const flow_queue&) = delete;
    flow_queue& operator=(const flow_queue&) = delete;
    ~flow_queue();

    /// `first`: before the others of its flow, for a call that is retried. `weight` > 0.
    void push(queued_call& call, std::uint64_t flow, ports::call_priority priority, double weight,
              bool first = false);
    /// The call that is next; null if none waits.
    [[nodiscard]] queued_call* front() noexcept;
    /// Removes the call that front() returned.
    void pop(queued_call& call) noexcept;
    /// Removes a call that gives up.
    void remove(queued_call& call) noexcept;
    /// Number of calls of the same flow and priority that go before a new one.
    [[nodiscard]] std::size_t before(std::uint64_t flow,
                                     ports::call_priority priority) const noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    /// Number of known flows, with or without waiting calls.
    [[nodiscard]] std::size_t known_flows() const noexcept {
        return orders_[0].flows.size() + orders_[1].flows.size();
    }

    /// Visits all waiting calls. `visit` may remove its argument.
    template <class Visit>
    void for_each(Visit visit);

private:
    struct order;
    struct flow_state {
        std::uint64_t id = 0;
        order* owner = nullptr;
        double start = 0;  // tag of the first waiting call
        double finish = 0; // tag of the last call that went
        queued_call* head = nullptr;
        queued_call* tail = nullptr;
        std::size_t count = 0;
    };
    struct earlier {
        bool operator()(const flow_state* a, const flow_state* b) const noexcept {
            return a->start != b->start ? a->start < b->start : a->id < b->id;
        }
    };
    struct order {
        std::unordered_map<std::uint64_t, flow_state> flows; // that wait, or may soon wait again
        std::set<flow_state*, earlier> waiting;
        double now = 0; // virtual time: start tag of the last call sent
        double last_finish = 0;
    };

    void unlink(queued_call& call) noexcept;
    void forget_idle_flows(order& in);
    [[nodiscard]] order& order_of(ports::call_priority priority) noexcept {
        return orders_[static_cast<std::size_t>(priority)];
    }

    order orders_[2];
    unsigned batch_share_;
    unsigned interactive_in_a_row_ = 0;
    std::size_t size_ = 0;
};

template <class Visit>
void flow_queue::for_each(Visit visit) {
    for (order& each : orders_) {
        for (auto& [id, flow] : each.flows) {
            for (queued_call* at = flow.head; at != nullptr;) {
                queued_call* const next = at->next_;
                visit(*at);
                at = next;
            }
        }
    }
}

} // namespace heddle::providers::limits
