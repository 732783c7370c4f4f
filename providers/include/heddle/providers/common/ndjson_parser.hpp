// JSON texts one a line (application/x-ndjson), as a pure machine.
#pragma once

#include <heddle/base/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::providers {

/// Cuts a stream that comes in any pieces into its lines. A line ends in LF or CRLF, the last one
/// also with the stream; lines of blanks are skipped, and a byte order mark at the very beginning.
/// A line that lies within one piece is not copied. Pure. Threads: as any value.
class ndjson_parser {
public:
    explicit ndjson_parser(std::size_t max_line = 4 * 1024 * 1024) noexcept : max_line_(max_line) {}

    /// Hands over the next piece, after next() has said that it needs more. `piece` must stay where
    /// it is until next() says so again.
    void feed(std::string_view piece) noexcept { rest_ = piece; }

    /// True: `line` is filled, without its end, and valid until the next call. False: all of the
    /// piece is read. Errors: errc::limit_exceeded, after which the parser gives only that error.
    [[nodiscard]] result<bool> next(std::string_view& line);

    /// To be called when the stream has ended: true if a line without a line end was left, which
    /// is then in `line`. Errors: as next.
    [[nodiscard]] result<bool> last(std::string_view& line);

private:
    [[nodiscard]] error too_long();
    [[nodiscard]] bool keep(std::string_view part);
    [[nodiscard]] std::string_view take_carry() noexcept;
    [[nodiscard]] bool has_content(std::string_view& line) noexcept;

    std::size_t max_line_;
    std::string_view rest_; // what is left of the piece
    std::string carry_;     // the beginning of a line that the end of a piece cut
    std::string line_;      // a line put together from carry_ and a piece
    bool first_line_ = true;
    bool failed_ = false;
};

} // namespace heddle::providers
