#include "console.hpp"
#include "table.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace heddle::cli {
namespace {

using file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::string text_of(std::FILE* of) {
    std::fflush(of);
    std::rewind(of);
    std::string text(4096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), of));
    return text;
}

/// What a server, a file or a name may hold: a title, a deleted line, text that runs backwards.
constexpr std::string_view hostile =
    "a\x1b]0;t\x07\x1b[1A\x1b[2K\xC2\x9B"
    "31m\u202Eb\r\n";
constexpr std::string_view harmless = "a?]0;t??[1A?[2K?31m?b?\n";

class console_streams : public ::testing::Test {
protected:
    file out{std::tmpfile(), &std::fclose};
    file err{std::tmpfile(), &std::fclose};
};

TEST_F(console_streams, text_for_people_is_printable_wherever_it_goes) {
    for (const bool terminal : {false, true}) {
        out.reset(std::tmpfile());
        err.reset(std::tmpfile());
        console_traits traits;
        traits.out_is_terminal = terminal;
        traits.err_is_terminal = terminal;
        {
            console shown(out.get(), err.get(), traits);
            shown.out(hostile);
            shown.err(hostile);
        }
        EXPECT_EQ(text_of(out.get()), harmless);
        EXPECT_EQ(text_of(err.get()), harmless);
    }
}

TEST_F(console_streams, data_is_whole_in_a_pipe_and_printable_on_a_terminal) {
    console_traits traits;
    console(out.get(), err.get(), traits).out_data(hostile);
    EXPECT_EQ(text_of(out.get()), hostile);
    out.reset(std::tmpfile());
    traits.out_is_terminal = true;
    console(out.get(), err.get(), traits).out_data(hostile);
    EXPECT_EQ(text_of(out.get()), harmless);
}

TEST_F(console_streams, the_status_line_is_one_line) {
    console_traits traits;
    traits.err_is_terminal = true;
    {
        console shown(out.get(), err.get(), traits);
        shown.show_status("a\x1b[2J\nb");
    }
    EXPECT_EQ(text_of(err.get()), "\ra?[2J b\x1b[K\r\x1b[K");
}

TEST_F(console_streams, the_status_line_stays_below_what_is_printed) {
    console_traits traits;
    traits.err_is_terminal = true;
    console shown(out.get(), err.get(), traits);
    shown.show_status("7 running");
    shown.err("a line\n");
    EXPECT_EQ(text_of(err.get()), "\r7 running\x1b[K\r\x1b[Ka line\n\r7 running\x1b[K");
    shown.out_data("to a file\n");
    EXPECT_EQ(text_of(err.get()), "\r7 running\x1b[K\r\x1b[Ka line\n\r7 running\x1b[K");
    EXPECT_TRUE(shown.flush());
    shown.err("last\n");
    EXPECT_TRUE(text_of(err.get()).ends_with("K\r\x1b[Klast\n")) << "not drawn again";
}

TEST_F(console_streams, the_status_line_leaves_an_open_line_alone) {
    console_traits traits;
    traits.err_is_terminal = true;
    console shown(out.get(), err.get(), traits);
    shown.err_piece("[ask] a part");
    shown.show_status("7 running");
    EXPECT_EQ(text_of(err.get()), "[ask] a part");
    shown.err_piece(" of it\n");
    shown.show_status("8 running");
    EXPECT_EQ(text_of(err.get()), "[ask] a part of it\n\r8 running\x1b[K");
}

TEST(table, holds_no_control_characters) {
    table rows;
    (void)rows.column("a\x1b[2J");
    rows.add({"x\x1b[1A\ny\u202E"});
    EXPECT_EQ(rows.text(0), "a?[2J\n--------\nx?[1A y?\n");
}

} // namespace
} // namespace heddle::cli
