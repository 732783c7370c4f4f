// Who waits for whom: waits for permits and futures that cannot end.
#pragma once

#include <heddle/lang/fiber.hpp>

#include <vector>

namespace heddle::lang {

class future;
class semaphore;

/// What is to be done about a wait for a permit so that it does not last for ever.
struct permit_verdict {
    enum class kind {
        may_end,   ///< others may release one, or that is unknown at bounded cost
        hopeless,  ///< the branch or those that it is a part of hold all of them
        awaited_by ///< those that await it hold some, and the others are held as in `hopeless`
    } what = kind::may_end;
    fiber* waiting =
        nullptr; ///< whose wait is to end: of the branch itself or, of awaited_by, an await
    const semaphore* wanted = nullptr;
};

/// Detects deadlocks: permits whose holders all wait, directly or not, for the fiber that wants
/// one, and futures that wait for the fiber that awaits them.
/// Follows waits of a group for all its branches, of a race none of whose branches can end, of a
/// caller for its tool, and of `await` for its future unless a deadline ends only one of the two.
/// Threads: the session's only. Cost: bounded, see max_visited.
class permit_waits {
public:
    /// Of code in `self`, now, in the branch that runs there.
    [[nodiscard]] static permit_verdict of(fiber& self, const semaphore& wanted);
    /// Waits for permits that a wait of `self` for that future makes endless; self is among those
    /// that wait for it. At most one awaited_by, the last.
    [[nodiscard]] static std::vector<permit_verdict> below(const fiber& self,
                                                           const future& awaited);
    /// The same of a wait for a race, all of whose branches have begun.
    [[nodiscard]] static std::vector<permit_verdict> below(const fiber& self, const join& race);

    /// Whether the future cannot end before code in `self`, which is about to await it, through
    /// whatever the future waits for.
    [[nodiscard]] static bool needed_by(const fiber& self, const future& awaited);
    /// A part of a circle of awaits: a future, and what awaits it.
    struct circle_member {
        const future* awaited;
        const fiber* awaiter;
    };
    /// The futures through which that future needs the end of `self`, as far as they are found; the
    /// first is the one that self is about to await.
    [[nodiscard]] static std::vector<circle_member> circle(const fiber& self,
                                                           const future& awaited);
    /// Of that race, which `self` has opened and waits for: a fiber in one of its branches whose
    /// `await` cannot end because no branch of the race can; null when the race may end.
    [[nodiscard]] static fiber* stuck_await(const fiber& self, const join& race);

private:
    class search;
    [[nodiscard]] static branch_place place_now(const fiber& self);
    template <class Use>
    static void each_permit_wait(std::vector<fiber*> work, std::size_t& left, Use use);
    [[nodiscard]] static std::vector<permit_verdict> below(const fiber& self,
                                                           std::vector<fiber*> work,
                                                           const join* race);
};

} // namespace heddle::lang
