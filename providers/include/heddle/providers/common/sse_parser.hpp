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
    void feed(std::string_view piece) noexcept {
        rest_ = piece;
        next_line_feed_ = nullptr;
    }

    /// True: `event` is filled; call again. False: all of the piece is read.
    /// Errors: errc::limit_exceeded, after which the parser gives only that error.
    [[nodiscard]] result<bool> next(sse_event& event);

    /// True when the stream may end here without an event being lost.
    [[nodiscard]] bool at_rest() const noexcept {
        return carry_.empty() && (!has_data_ || dispatched_);
    }

private:
    enum class line_step : std::uint8_t { line, need_more, too_long };

    [[nodiscard]] line_step take_line(std::string_view& line);
    [[nodiscard]] bool take_field(std::string_view line); // false: the event became too large
    [[nodiscard]] bool take_data(std::string_view value);
    void keep_data();
    void forget_event() noexcept;

    sse_limits limits_;
    std::string_view rest_; // what is left of the piece
    const char* next_line_feed_ =
        nullptr;        // in rest_, at or after its beginning; null: not looked up
    std::string carry_; // the beginning of a line that the end of a piece cut
    std::string line_;  // a line put together from carry_ and a piece
    std::string data_;  // the data of the event under way, unless it is data_view_
    std::string_view data_view_;
    std::string type_;
    std::string id_;
    bool line_is_view_ = false; // the last line lies in the piece
    bool has_data_ = false;
    bool data_is_view_ = false;
    bool dispatched_ = false;     // the event is to be forgotten before going on
    bool skip_line_feed_ = false; // a CR ended the last line; an LF right after it belongs to it
    bool first_line_ = true;
    bool failed_ = false;
};

} // namespace heddle::providers
