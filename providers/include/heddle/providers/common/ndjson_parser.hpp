// JSON texts, one per line (application/x-ndjson), as a pure state machine.
#pragma once

#include <heddle/base/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::providers {

/// Splits a stream, in any pieces, into lines. A line ends in LF or CRLF, the last one also with
/// the stream; blank lines and a leading byte order mark are skipped. A line within one piece is
/// not copied. Pure. Threads: as any value.
class ndjson_parser {
public:
    explicit ndjson_parser(std::size_t max_line = 4 * 1024 * 1024) noexcept : max_line_(max_line) {}

    /// Sets the next piece, once next() has returned false. `piece` must stay valid until next()
    /// returns false again.
    void feed(std::string_view piece) noexcept { rest_ = piece; }

    /// True: `line` is filled, without its end, and valid until the next call. False: the whole
    /// piece is read. Errors: errc::limit_exceeded, which all later calls return as well.
    [[nodiscard]] result<bool> next(std::string_view& line);

    /// Call it when the stream has ended: true if a line without a line end is left, which is then
    /// in `line`. Errors: as next.
    [[nodiscard]] result<bool> last(std::string_view& line);

private:
    [[nodiscard]] error too_long();
    [[nodiscard]] bool keep(std::string_view part);
    [[nodiscard]] std::string_view take_carry() noexcept;
    [[nodiscard]] bool has_content(std::string_view& line) noexcept;

    std::size_t max_line_;
    std::string_view rest_; // what is left of the piece
    std::string carry_;     // the beginning of a line that continues in the next piece
    std::string line_;      // a line assembled from carry_ and a piece
    bool first_line_ = true;
    bool failed_ = false;
};

} // namespace heddle::providers
