// Server-sent events, as a pure machine.
#pragma once

#include <heddle/base/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::providers {

struct sse_limits {
    std::size_t max_line = 4 * 1024 * 1024;
    std::size_t max_event = 16 * 1024 * 1024; ///< the data of one event
};

/// The views hold until the next call of feed() or next().
struct sse_event {
    std::string_view type; ///< empty: the default, "message"
    std::string_view data; ///< the data lines, joined by a line feed
    std::string_view id;   ///< the last id seen in the stream
};

/// Reads an event stream (WHATWG HTML, "Interpreting an event stream") out of pieces that are cut
/// anywhere: line ends LF, CR and CRLF, one leading BOM, comments, unknown fields, `retry` skipped.
/// Text is not checked to be UTF-8; that is left to whoever reads the data. As in the standard, an
/// event without data is dropped, and so is one that the end of the stream cuts off.
/// An event that lies within one piece is handed out without a copy.
/// Threads: as any value.
class sse_parser {
public:
    explicit sse_parser(sse_limits limits = {}) noexcept : limits_(limits) {}

    /// Hands over the next piece, after next() has said that it needs more. `piece` must stay where
    /// it is until next() says so again.
    void feed(std::string_view piece) noexcept { rest_ = piece; }

    /// True: `event` is filled; call again. False: all of the piece is read.
    /// Errors: errc::limit_exceeded, after which the parser gives only that error.
    [[nodiscard]] result<bool> next(sse_event& event);

    /// True when the stream may end here without an event being lost.
    [[nodiscard]] bool at_rest() const noexcept { return carry_.empty() && !has_data_; }

private:
    enum class line_step : std::uint8_t { line, need_more, too_long };

    [[nodiscard]] line_step take_line(std::string_view& line);
    [[nodiscard]] bool take_field(std::string_view line); // false: the event became too large
    void keep_data();

    sse_limits limits_;
    std::string_view rest_;  // what is left of the piece
    std::string carry_;      // the beginning of a line that the piece before it cut
    std::string line_;       // a line put together from carry_ and the piece
    std::string data_;       // data of the event under way, unless it is data_view_
    std::string_view data_view_;
    std::string type_;
    std::string id_;
    bool has_data_ = false;
    bool data_is_view_ = false;
    bool dispatched_ = false;   // the event's fields are to be forgotten before going on
    bool skip_line_feed_ = false; // a CR ended the last line; an LF right after it belongs to it
    bool failed_ = false;
    std::uint8_t bom_seen_ = 0; // bytes of a leading BOM so far; 4: no longer at the beginning
};

} // namespace heddle::providers
