// Long computations of hosts, in turns with the loop.
#pragma once

#include <heddle/lang/realm.hpp>
#include <heddle/lang/work.hpp>

#include <cstddef>
#include <functional>
#include <memory>

namespace heddle::lang {

/// A computation that counts its work and stops when spend() or expect() returns false. What it has
/// made by then is dropped.
using metered_work = std::function<void(work_meter&)>;

/// Runs `work` where it is called, for one turn at most. Result: false when it was stopped because
/// it takes longer; a host_job begins it anew. Throws what it throws.
[[nodiscard]] bool done_in_a_turn(const metered_work& work);

/// A computation on a native stack of its own, as long builtins have (docs/adr/0012). It may use the
/// values and the heap of the realm: it never runs at the same time as its owner. Threads: the
/// realm's only.
class host_job {
public:
    /// Does not begin. `world` outlives this.
    host_job(realm& world, std::size_t stack_bytes, metered_work work);
    /// Stops a computation that has not ended.
    ~host_job();
    host_job(const host_job&) = delete;
    host_job& operator=(const host_job&) = delete;

    /// A turn. Result: true when the computation has ended. False also when it could not begin
    /// because too many others are under way. Throws what it throws, std::bad_alloc when there is no
    /// thread.
    [[nodiscard]] bool resume();

private:
    class job;
    std::unique_ptr<job> job_;
};

} // namespace heddle::lang
