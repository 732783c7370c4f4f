// Text between a workflow and its reader.
#include "piece_buffer.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace heddle::embed {
namespace {

TEST(embed_piece_buffer, reports_room_once_nobody_reads) {
    for (void (piece_buffer::*leave)() : {&piece_buffer::let_go, &piece_buffer::abandon}) {
        int reports = 0;
        const auto pieces = std::make_shared<piece_buffer>(4, [&] { ++reports; });
        pieces->add("t", 1, "12345");
        EXPECT_FALSE(pieces->has_room());
        ((*pieces).*leave)();
        EXPECT_EQ(reports, 1);
        EXPECT_TRUE(pieces->has_room());
        ((*pieces).*leave)();
        EXPECT_EQ(reports, 1);
    }
}

TEST(embed_piece_buffer, with_room_reports_nothing_when_nobody_reads) {
    int reports = 0;
    const auto pieces = std::make_shared<piece_buffer>(4, [&] { ++reports; });
    pieces->add("t", 1, "123");
    pieces->abandon();
    EXPECT_EQ(reports, 0);
}

} // namespace
} // namespace heddle::embed
