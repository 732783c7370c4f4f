#include <heddle/process/stray_guard.hpp>

#include "process/own_children.hpp"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <type_traits>

#include <sys/prctl.h>
#include <sys/wait.h>

namespace heddle::process {

namespace {

constexpr auto patience = std::chrono::seconds(2);

static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

[[nodiscard]] std::chrono::nanoseconds time_now() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

/// Not as for_each_child: that asks for the children of the calling thread, and a signal handler
/// may run on any.
template <class What>
void for_each_child_of_process(What&& what) noexcept {
    for_each_child_by_parent(
        [](pid_t child, void* given) {
            (*static_cast<std::remove_reference_t<What>*>(given))(child);
        },
        &what);
}

} // namespace

stray_guard::stray_guard() {
    for_each_child_of_process([this](pid_t child) { before_.push_back(child); });
    ::prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper_);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

stray_guard::~stray_guard() {
    end_strays(patience);
    if (was_subreaper_ == 0) ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

void stray_guard::watch(pid_t starter) noexcept { starter_ = starter; }

void stray_guard::forget_starter(bool in_order) noexcept {
    if (!in_order) lost_ = true;
    starter_ = 0;
}

bool stray_guard::starter_is_lost() const noexcept {
    if (lost_) return true;
    const pid_t starter = starter_;
    siginfo_t about{};
    return starter > 0 &&
           ::waitid(P_PID, static_cast<id_t>(starter), &about, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           about.si_pid == starter;
}

bool stray_guard::is_spared(pid_t child, std::span<const pid_t> more) const noexcept {
    const auto is_child = [child](pid_t each) { return each == child; };
    return child == starter_ || std::any_of(before_.begin(), before_.end(), is_child) ||
           std::any_of(more.begin(), more.end(), is_child);
}

int stray_guard::kill_strays(std::span<const pid_t> spared) const noexcept {
    if (!starter_is_lost()) {
        // It gets them, and kills them unless a program has stopped it.
        if (const pid_t starter = starter_; starter > 0) ::kill(starter, SIGCONT);
        return 0;
    }
    int found = 0;
    for_each_child_of_process([&](pid_t child) {
        // What cannot be killed is another user's. A child's number stays its own until we wait for
        // it.
        if (is_spared(child, spared) || ::kill(child, SIGKILL) != 0) return;
        ++found;
        static_cast<void>(::waitpid(child, nullptr, WNOHANG));
    });
    return found;
}

void stray_guard::end_strays(std::chrono::milliseconds limit) const noexcept {
    const auto give_up = time_now() + limit;
    while (kill_strays() > 0 && time_now() < give_up) {
        const timespec pause{0, 2'000'000};
        ::nanosleep(&pause, nullptr);
    }
}

} // namespace heddle::process
