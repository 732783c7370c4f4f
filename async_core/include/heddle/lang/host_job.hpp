// Long computations of a host that yield to the loop.
#pragma once

#include <heddle/lang/realm.hpp>
#include <heddle/lang/work.hpp>

#include <cstddef>
#include <functional>
#include <memory>

namespace heddle::lang {

/// A computation that counts its work and stops when spend() or expect() returns false. Its partial
/// result is discarded.
using metered_work = std::function<void(work_meter&)>;

/// Runs `work` on the caller's stack for at most one turn. Result: false when it was stopped
/// because it takes longer; run it again from the start in a host_job. Exceptions of `work`
/// propagate.
[[nodiscard]] bool done_in_a_turn(const metered_work& work);

/// Runs a computation on its own native stack, as long builtins run (docs/adr/0012). The
/// computation may use the values and the heap of the realm, because it never runs at the same time
/// as its owner.
/// Threads: the realm's only.
class host_job {
public:
    /// Does not start the computation. `realm` outlives this object.
    host_job(realm& realm, std::size_t stack_bytes, metered_work work);
    /// Stops the computation if it has not ended.
    ~host_job();
    host_job(const host_job&) = delete;
    host_job& operator=(const host_job&) = delete;

    /// Runs one turn. Result: true when the computation has ended; false also when it could not
    /// start because too many others are running. Exceptions of the computation propagate;
    /// std::bad_alloc when no thread can be created.
    [[nodiscard]] bool resume();

private:
    class job;
    std::unique_ptr<job> job_;
};

} // namespace heddle::lang
