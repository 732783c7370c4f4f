#include <heddle/providers/limits/flow_queue.hpp>

#include <algorithm>

namespace heddle::providers::limits {

queued_call::~queued_call() {
    if (queue_) queue_->remove(*this);
}

flow_queue::~flow_queue() {
    for_each([](queued_call& call) {
        call.queue_ = nullptr;
        call.flow_ = nullptr;
    });
}

void flow_queue::push(queued_call& call, std::uint64_t flow, ports::call_priority priority,
                      double weight, bool first) {
    order& in = order_of(priority);
    if (in.flows.size() > 2 * in.waiting.size() + 64) forget_idle_flows(in);
    flow_state& to = in.flows[flow];
    to.id = flow;
    to.owner = &in;
    call.queue_ = this;
    call.flow_ = &to;
    call.weight_ = std::max(weight, 1e-9);
    if (!to.head) {
        to.start = std::max(in.now, to.finish);
        to.head = to.tail = &call;
        call.next_ = call.previous_ = nullptr;
        in.waiting.insert(&to);
    } else if (first) {
        call.previous_ = nullptr;
        call.next_ = to.head;
        to.head = to.head->previous_ = &call;
    } else {
        call.next_ = nullptr;
        call.previous_ = to.tail;
        to.tail = to.tail->next_ = &call;
    }
    ++to.count;
    ++size_;
}

queued_call* flow_queue::front() noexcept {
    order& interactive = order_of(ports::call_priority::interactive);
    order& batch = order_of(ports::call_priority::batch);
    const bool turn_of_batch = interactive_in_a_row_ + 1 >= batch_share_;
    if (!batch.waiting.empty() && (interactive.waiting.empty() || turn_of_batch)) {
        return (*batch.waiting.begin())->head;
    }
    return interactive.waiting.empty() ? nullptr : (*interactive.waiting.begin())->head;
}

void flow_queue::pop(queued_call& call) noexcept {
    flow_state& from = *static_cast<flow_state*>(call.flow_);
    order& in = *from.owner;
    const order& batch = order_of(ports::call_priority::batch);
    const bool overtakes = &in != &batch && !batch.waiting.empty();
    interactive_in_a_row_ = overtakes ? interactive_in_a_row_ + 1 : 0;
    in.now = std::max(in.now, from.start);
    // The place of the flow depends on its tag: it leaves the set while that changes.
    auto place = in.waiting.extract(&from);
    from.finish = from.start + call.weight_;
    from.start = std::max(in.now, from.finish);
    unlink(call);
    in.last_finish = std::max(in.last_finish, from.finish);
    if (from.head) in.waiting.insert(std::move(place));
    else if (in.waiting.empty()) in.now = in.last_finish; // everybody begins anew
}

void flow_queue::remove(queued_call& call) noexcept {
    flow_state& from = *static_cast<flow_state*>(call.flow_);
    if (from.count == 1) from.owner->waiting.erase(&from);
    unlink(call);
}

void flow_queue::unlink(queued_call& call) noexcept {
    flow_state& from = *static_cast<flow_state*>(call.flow_);
    if (call.previous_) call.previous_->next_ = call.next_;
    else from.head = call.next_;
    if (call.next_) call.next_->previous_ = call.previous_;
    else from.tail = call.previous_;
    call.next_ = call.previous_ = nullptr;
    call.queue_ = nullptr;
    call.flow_ = nullptr;
    --from.count;
    --size_;
}

std::size_t flow_queue::before(std::uint64_t flow, ports::call_priority priority) const noexcept {
    const order& in = orders_[static_cast<std::size_t>(priority)];
    const auto found = in.flows.find(flow);
    return found == in.flows.end() ? 0 : found->second.count;
}

/// A flow whose last tag has been overtaken is as good as a new one.
void flow_queue::forget_idle_flows(order& in) {
    std::erase_if(in.flows, [&](const auto& each) {
        return each.second.count == 0 && each.second.finish <= in.now;
    });
}

} // namespace heddle::providers::limits
