// Who waits for whom, where permits of semaphores are waited for.
#pragma once

#include <heddle/lang/fiber.hpp>

namespace heddle::lang {

class future;
class semaphore;

/// What a wait for a permit has to do so that it does not last for ever.
struct permit_verdict {
    enum class kind {
        may_end,   ///< others may give one back, or it cannot be told at bounded cost
        hopeless,  ///< the branch or those that it is a part of hold all of them
        awaited_by ///< those that await it hold some, and the others are held as in `hopeless`
    } what = kind::may_end;
    fiber* awaiter = nullptr; ///< of awaited_by: it holds a permit, or is a part of what does
};

/// Finds permits that no one can give back, because all holders wait for what waits for them.
/// Follows waits that have to end: of a group for all its branches, and of `await` for its future where no
/// deadline ends one of the two alone. Threads: the session's only. Cost: bounded, see most_looked_at.
class permit_waits {
public:
    /// Of code in `self`, now, in the branch that runs there.
    [[nodiscard]] static permit_verdict of(const fiber& self, const semaphore& wanted);
    /// Once `self` is among those that wait for `awaited`: of the fibers that the future needs, the first
    /// whose wait for a permit cannot end because of that; `wanted` gets its semaphore.
    [[nodiscard]] static permit_verdict below(const future& awaited, const semaphore*& wanted);

private:
    class search;
    [[nodiscard]] static branch_place place_now(const fiber& self);
};

} // namespace heddle::lang
