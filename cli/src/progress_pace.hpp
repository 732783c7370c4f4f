// How fast work goes, and when to show it.
#pragma once

#include <heddle/coro/deadline.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace heddle::cli {

/// Ended items a second, and the times at which a line is due where nothing can be redrawn.
class progress_pace {
public:
    explicit progress_pace(coro::clock::time_point began) noexcept
        : began_(began), counted_from_(began), looked_(began) {}

    [[nodiscard]] double seconds(coro::clock::time_point now) const noexcept {
        return std::chrono::duration<double>(now - began_).count();
    }
    /// The rate over the last ten seconds or so; over all of the time until then. To be asked with
    /// the number of items that have ended, which may begin again at zero.
    [[nodiscard]] double rate(coro::clock::time_point now, std::uint64_t ended) noexcept;
    /// Whether a line is due: after 2 s, 10 s, and then each 30 s. True once for each of them.
    [[nodiscard]] bool takes_line(coro::clock::time_point now) noexcept;

    static constexpr auto redraw_every = std::chrono::milliseconds(100);
    static constexpr auto look_every = std::chrono::milliseconds(500); ///< for lines

private:
    coro::clock::time_point began_;
    coro::clock::time_point counted_from_; ///< the first item
    coro::clock::time_point looked_;
    double rate_ = 0;
    std::uint64_t ended_ = 0;
    unsigned lines_ = 0;
};

/// "[====>     ]"; `share` from 0 to 1.
[[nodiscard]] std::string progress_bar(double share);

/// "1.5/s", "265/s"
[[nodiscard]] std::string rate_text(double rate);

} // namespace heddle::cli
