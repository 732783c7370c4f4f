// The paths of the steps of an evaluation.
#pragma once

#include <heddle/lang/branch_group.hpp>
#include <heddle/ports/run_journal.hpp>

#include <cstdint>
#include <unordered_map>

namespace heddle::host {

/// Names each step of an evaluation by the branches that lead to it, whatever the order in which
/// branches run. Threads: the session's only.
class step_ways {
public:
    /// `evaluation`: of several evaluations of a row, which.
    explicit step_ways(std::uint64_t evaluation) noexcept;

    /// `ordinal`: of the branch's steps (effect_request::ordinal).
    [[nodiscard]] ports::digest128 path_of(const lang::branch_place& branch,
                                           std::uint32_t ordinal) const;
    /// A fiber that is a part of a step, by the number that its place has.
    void note_fiber(std::uint32_t number, const ports::digest128& path);
    void forget_fiber(std::uint32_t number) noexcept { fibers_.erase(number); }
    /// The path of a fiber that is a part of an unknown step: the `number`-th of them.
    [[nodiscard]] ports::digest128 path_of_part(std::uint64_t number) const noexcept;

private:
    [[nodiscard]] ports::digest128 way_to(const lang::branch_place& branch) const;

    ports::digest128 root_; ///< of fibers that are not part of a step
    std::unordered_map<std::uint32_t, ports::digest128> fibers_;
};

} // namespace heddle::host
