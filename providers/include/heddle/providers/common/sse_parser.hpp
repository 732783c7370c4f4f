// Server-sent events, as a pure state machine.
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

/// The views are valid until the next call of feed() or next().
struct sse_event {
    std::string_view type; ///< empty: the default, "message"
    std::string_view data; ///< the data lines, joined by a line feed
    std::string_view id;   ///< the last id seen in the stream
};

/// Reads an event stream (WHATWG HTML, "Interpreting an event stream") in any pieces: line ends LF,
/// CR and CRLF; one leading BOM, comments, unknown fields and `retry` are skipped. The text is not
/// checked to be UTF-8; readers of the data do that. As in the standard, an event without data is
/// dropped, and so is one that the end of the stream truncates. An event within one piece is not
/// copied.
/// Threads: as any value.
class sse_parser {
public:
    explicit sse_parser(sse_limits limits = {}) noexcept : limits_(limits) {}

    /// Sets the next piece, once next() has returned false. `piece` must stay valid until next()
    /// returns false again.
    void feed(std::string_view piece) noexcept {
        rest_ = piece;
        next_line_feed_ = nullptr;
    }

    /// True: `event` is filled; call again. False: the whole piece is read.
    /// Errors: errc::limit_exceeded, which all later calls return as well.
    [[nodiscard]] result<bool> next(sse_event& event);

    /// True if the stream may end here without losing an event.
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
    std::string carry_; // the beginning of a line that continues in the next piece
    std::string line_;  // a line assembled from carry_ and a piece
    std::string data_;  // the data of the current event, unless it is data_view_
    std::string_view data_view_;
    std::string type_;
    std::string id_;
    bool line_is_view_ = false; // the last line is in the piece
    bool has_data_ = false;
    bool data_is_view_ = false;
    bool dispatched_ = false;     // the event must be dropped before continuing
    bool skip_line_feed_ = false; // a CR ended the last line; an LF right after it belongs to it
    bool first_line_ = true;
    bool failed_ = false;
};

} // namespace heddle::providers
