// What a session holds before it works for somebody, and whether it holds the same again.
#pragma once

#include <heddle/host/session.hpp>
#include <heddle/lang/value.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace heddle::tasks {

/// A session that works for one caller after another must not carry anything from one to the next.
/// This notes its state once its program is loaded, and finds out whether it is still in it.
/// Threads: the session's only. The session outlives it.
class session_baseline {
public:
    /// Before the program is loaded.
    explicit session_baseline(host::session& of);
    session_baseline(const session_baseline&) = delete;
    session_baseline& operator=(const session_baseline&) = delete;

    /// The program is loaded: this is the state. Its globals cannot change from now on.
    void note();
    /// Whether the session is in the noted state, so that the next caller finds what the first one
    /// did. To be asked between evaluations; forgets conversations, and frees garbage.
    [[nodiscard]] bool restore();

private:
    host::session& session_;
    std::vector<std::pair<std::uint32_t, lang::value>> globals_; ///< of the program
    std::size_t global_count_ = 0;
    std::size_t cells_before_; ///< before the program was loaded
    std::size_t used_ = 0;     ///< bytes
    std::uint64_t registrations_ = 0;
};

} // namespace heddle::tasks
