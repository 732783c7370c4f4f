// The texts of a session's evaluations, as long as something may point into them.
#pragma once

#include <heddle/base/source.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/heap.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::host {

/// Lets texts go whose code nobody holds any more, so that a session may evaluate for ever. The
/// last few stay in any case: errors point into them. Threads: the session's only.
class source_keeper {
public:
    source_keeper(source_map& sources, lang::heap& memory) : sources_(sources), memory_(memory) {}

    /// A text that was added at `position` has been evaluated; `code` may be null.
    /// `failed`: its error was given out.
    void evaluated(std::uint32_t position, lang::function_ref code, bool failed);
    /// Now and then lets the texts go that are not needed any more. To be called after evaluated().
    /// Result: whether others are to have a turn before it is called again, because it takes long.
    [[nodiscard]] bool sweep_in_turns();

    static constexpr std::size_t always_kept = 16;

private:
    struct kept {
        std::uint32_t position;
        lang::function_ref code;
    };
    void sweep();

    source_map& sources_;
    lang::heap& memory_;
    std::vector<kept> kept_; ///< oldest first
    std::size_t sweep_at_ = 16 * always_kept;
    bool searching_ = false; ///< for garbage, before a sweep
};

} // namespace heddle::host
