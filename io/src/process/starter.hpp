// The process that forks keepers.
#pragma once

#include "keeper_messages.hpp"

#include <heddle/base/error.hpp>
#include <heddle/fs/descriptor.hpp>
#include <heddle/process/stray_guard.hpp>

#include <array>
#include <memory>
#include <vector>

#include <sys/types.h>

namespace heddle::process {

/// What a keeper is to start. The descriptors are borrowed.
struct start_order {
    int image = -1; ///< a file in memory, see keeper_messages.hpp
    std::uint64_t image_bytes = 0;
    int directory = -1;
    std::array<int, 3> streams{-1, -1, -1};
    bool in_terminal = false;
    bool takes_terminal = false;
};

/// A fork of this process, made while it was small, that forks keepers: one for each program that
/// runs at the same time, used again for the next. A keeper outlives us for as long as it takes to
/// end its program, and no memory of ours is copied for it. Made anew when somebody has killed it.
/// Destroying it lets it end, and keepers when their program has.
class program_starter {
public:
    /// Keepers without work that are held for later ones.
    static constexpr std::size_t max_idle = 16;

    /// `guard` outlives it, is passed the process of the starter, and may be null. Errors:
    /// process_errc::start_failed.
    [[nodiscard]] static result<std::unique_ptr<program_starter>> create(stray_guard* guard);
    ~program_starter();
    program_starter(const program_starter&) = delete;
    program_starter& operator=(const program_starter&) = delete;

    /// Sends the order to a keeper. Result: our end of its control socket, which does not block.
    /// Errors: process_errc::start_failed. Blocks while the starter forks for others, which is
    /// short.
    [[nodiscard]] result<fs::descriptor> start(const start_order& order);
    /// Takes back the socket of a keeper that has finished.
    void give_back(fs::descriptor control);

private:
    explicit program_starter(stray_guard* guard) noexcept : guard_(guard) {}
    [[nodiscard]] result<void> launch();
    [[nodiscard]] result<fs::descriptor> new_keeper();
    void retire() noexcept;

    stray_guard* guard_;
    fs::descriptor socket_;
    pid_t process_ = -1;
    std::vector<fs::descriptor> idle_;
};

} // namespace heddle::process
