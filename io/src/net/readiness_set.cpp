#include "readiness_set.hpp"

#include <heddle/coro/handler_memory.hpp>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include <sys/epoll.h>
#include <unistd.h>

namespace heddle::net {

namespace {

using boost::system::error_code;

error_code last_error() { return {errno, boost::system::system_category()}; }

std::uint32_t mask_of(readiness_set::interest what) {
    const std::uint32_t direction =
        what == readiness_set::interest::connect
            ? static_cast<std::uint32_t>(EPOLLOUT)
            : static_cast<std::uint32_t>(EPOLLIN | EPOLLOUT | EPOLLRDHUP);
    return direction | static_cast<std::uint32_t>(EPOLLET);
}

readiness readiness_of(std::uint32_t events) {
    const bool broken = (events & (EPOLLERR | EPOLLHUP)) != 0;
    readiness what;
    what.hung_up = broken || (events & EPOLLRDHUP) != 0;
    what.readable = what.hung_up || (events & EPOLLIN) != 0;
    what.writable = broken || (events & EPOLLOUT) != 0;
    return what;
}

} // namespace

struct readiness_set::state : std::enable_shared_from_this<state> {
    explicit state(coro::event_loop& owner) : loop(&owner), outer(owner.get_executor()) {
        inner = epoll_create1(EPOLL_CLOEXEC);
        if (inner < 0) {
            failure = last_error();
            return;
        }
        outer.assign(inner, failure); // from here on `outer` closes it
    }

    void arm();
    void turn();
    void deliver_again();
    void forget(const ready_node& node) noexcept;

    struct later {
        ready_node* node;
        readiness what;
    };

    coro::event_loop* loop; ///< null once the set is gone
    boost::asio::posix::basic_stream_descriptor<coro::executor> outer;
    int inner = -1;
    error_code failure;
    std::size_t watched = 0;
    coro::handler_memory<2> memory; ///< of the wait, without which no node is notified, and of one
                                    ///< that was cancelled
    bool armed = false;
    bool in_turn = false;
    coro::clock::time_point turn_began{};
    std::array<epoll_event, 256> batch;
    int batch_next = 0;
    int batch_end = 0;
    std::vector<later> again;     ///< for the next turn
    std::vector<later> again_now; ///< of this turn
};

readiness_set::readiness_set(coro::event_loop& loop) : state_(std::make_shared<state>(loop)) {}

readiness_set::~readiness_set() {
    state_->loop = nullptr;
    error_code ignored;
    state_->outer.close(ignored);
}

void readiness_set::state::arm() {
    if (armed || watched == 0 || loop == nullptr) return;
    armed = true;
    auto ready = [self = shared_from_this()](const error_code& ec) {
        self->armed = false;
        if (self->loop == nullptr) return;
        // Cancelled when the set ran empty; it may have filled again since.
        if (ec) self->arm();
        else self->turn();
    };
    outer.async_wait(boost::asio::posix::descriptor_base::wait_read,
                     boost::asio::bind_allocator(coro::allocate_in(memory), std::move(ready)));
}

void readiness_set::state::turn() {
    const auto keep = shared_from_this();
    in_turn = true;
    turn_began = loop->now();
    batch_next = 0;
    batch_end = std::max(0, epoll_wait(inner, batch.data(), static_cast<int>(batch.size()), 0));
    while (batch_next < batch_end) {
        const epoll_event& event = batch[static_cast<std::size_t>(batch_next++)];
        if (event.data.ptr == nullptr) continue; // closed earlier in this batch
        static_cast<ready_node*>(event.data.ptr)->on_ready(readiness_of(event.events));
    }
    in_turn = false;
    // Arming looks at the set anew: events beyond this batch bring the next turn at once.
    arm();
}

void readiness_set::state::deliver_again() {
    in_turn = true;
    turn_began = loop->now();
    again_now.swap(again);
    for (std::size_t i = 0; i < again_now.size(); ++i) {
        if (again_now[i].node != nullptr) again_now[i].node->on_ready(again_now[i].what);
    }
    again_now.clear();
    in_turn = false;
}

void readiness_set::state::forget(const ready_node& node) noexcept {
    for (int i = batch_next; i < batch_end; ++i) {
        epoll_event& event = batch[static_cast<std::size_t>(i)];
        if (event.data.ptr == &node) event.data.ptr = nullptr;
    }
    for (auto* list : {&again, &again_now}) {
        for (later& entry : *list) {
            if (entry.node == &node) entry.node = nullptr;
        }
    }
}

error_code readiness_set::failure() const noexcept { return state_->failure; }

error_code readiness_set::add(int descriptor, ready_node& node, interest what) {
    state& s = *state_;
    if (s.failure) return s.failure;
    epoll_event event{};
    event.events = mask_of(what);
    event.data.ptr = &node;
    if (epoll_ctl(s.inner, EPOLL_CTL_ADD, descriptor, &event) != 0) return last_error();
    ++s.watched;
    s.arm();
    return {};
}

error_code readiness_set::change(int descriptor, ready_node& node, interest what) {
    epoll_event event{};
    event.events = mask_of(what);
    event.data.ptr = &node;
    if (epoll_ctl(state_->inner, EPOLL_CTL_MOD, descriptor, &event) != 0) return last_error();
    return {};
}

void readiness_set::close(int descriptor, ready_node& node) noexcept {
    state& s = *state_;
    s.forget(node);
    // Closing it would do only if it is the only descriptor of its file: a process that was forked
    // a moment ago may have a copy.
    (void)epoll_ctl(s.inner, EPOLL_CTL_DEL, descriptor, nullptr);
    ::close(descriptor);
    if (--s.watched == 0 && s.armed) {
        // Nothing to wait for: let the loop run out of work.
        error_code ignored;
        s.outer.cancel(ignored);
    }
}

void readiness_set::again(ready_node& node, readiness what) {
    state& s = *state_;
    s.again.push_back({&node, what});
    if (s.again.size() != 1) return;
    try {
        boost::asio::post(s.outer.get_executor(), [self = state_] {
            if (self->loop != nullptr) self->deliver_again();
        });
    } catch (...) {
        s.again.pop_back(); // else no later one would post
        throw;
    }
}

std::size_t readiness_set::size() const noexcept { return state_->watched; }

coro::clock::time_point readiness_set::now() const noexcept {
    return state_->in_turn ? state_->turn_began : state_->loop->now();
}

} // namespace heddle::net
