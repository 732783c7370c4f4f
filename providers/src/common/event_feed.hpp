// The loop of every reader of server-sent events.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/providers/common/sse_parser.hpp>

#include <string_view>

namespace heddle::providers {

/// Feeds a piece of a stream and passes each event that it completes to `take`, whose error ends
/// the piece. `broken` makes the error of a stream that the parser refuses out of the parser's
/// message.
template <class Take, class Broken>
[[nodiscard]] result<void> feed_events(sse_parser& parser, std::string_view piece, Take take,
                                       Broken broken) {
    parser.feed(piece);
    for (sse_event event;;) {
        const result<bool> got = parser.next(event);
        if (!got) return broken(got.error().message());
        if (!*got) return {};
        HEDDLE_CHECK(take(event));
    }
}

} // namespace heddle::providers
