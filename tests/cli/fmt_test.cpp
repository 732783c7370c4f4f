// `heddle fmt`: files in place, standard input, --check.
#include "child_process.hpp"
#include "scratch_directory.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace heddle::cli_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* untidy = "(define (f x)\n      (* x\n 2)) ; twice\n";
constexpr const char* tidy = "(define (f x)\n  (* x 2)) ; twice\n";

class fmt : public testing::Test {
protected:
    scratch_directory scratch;
};

TEST_F(fmt, lays_out_files_in_place_and_prints_nothing) {
    const auto one = scratch.file("one.heddle", untidy);
    const auto two = scratch.file("two.heddle", "(f\n1)");
    const auto ended = run_heddle({"fmt", one, two});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out + ended.err, "");
    EXPECT_EQ(scratch.text_of("one.heddle"), tidy);
    EXPECT_EQ(scratch.text_of("two.heddle"), "(f 1)\n");
    EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path()), {}), 2) << "leaves no parts";
}

TEST_F(fmt, keeps_permissions_and_symbolic_links) {
    const auto file = scratch.file("run.heddle", untidy);
    const auto mode = fs::perms::owner_all | fs::perms::group_read;
    fs::permissions(file, mode);
    const fs::path link = fs::path(scratch.path()) / "link.heddle";
    fs::create_symlink("run.heddle", link);
    EXPECT_EQ(run_heddle({"fmt", link.string()}).code, 0);
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_EQ(scratch.text_of("run.heddle"), tidy);
    EXPECT_EQ(fs::status(file).permissions(), mode);
}

TEST_F(fmt, leaves_a_file_alone_that_is_laid_out) {
    const auto file = scratch.file("a.heddle", tidy);
    const auto old = fs::last_write_time(file) - std::chrono::hours(1);
    fs::last_write_time(file, old);
    EXPECT_EQ(run_heddle({"fmt", file}).code, 0);
    EXPECT_EQ(fs::last_write_time(file), old);
}

TEST_F(fmt, reads_standard_input) {
    EXPECT_EQ(run_heddle({"fmt", "-"}, with_input(untidy)).out, tidy);
    EXPECT_EQ(run_heddle({"fmt", "-"}, with_input("")).out, "");
}

TEST_F(fmt, check_names_what_would_change_and_writes_nothing) {
    const auto one = scratch.file("one.heddle", untidy);
    const auto two = scratch.file("two.heddle", tidy);
    const auto ended = run_heddle({"fmt", "--check", one, two});
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(ended.out, one + "\n");
    EXPECT_EQ(scratch.text_of("one.heddle"), untidy);
    EXPECT_EQ(run_heddle({"fmt", "--check", two}).code, 0);
    EXPECT_EQ(run_heddle({"fmt", "--check", "-"}, with_input(untidy)).out, "<stdin>\n");
}

TEST_F(fmt, check_names_what_would_change_as_json) {
    const auto one = scratch.file("one.heddle", untidy);
    const auto two = scratch.file("two.heddle", tidy);
    const auto ended = run_heddle({"fmt", "--check", "--json", one, two});
    EXPECT_EQ(ended.code, 1) << ended.err;
    EXPECT_EQ(ended.out, "{\"changed\":[\"" + one + "\"]}\n");
    const auto same = run_heddle({"fmt", "--check", "--json", two});
    EXPECT_EQ(same.code, 0) << same.err;
    EXPECT_EQ(same.out, "{\"changed\":[]}\n");
    const auto bad = run_heddle({"fmt", "--check", "--json", "-"}, with_input("(f (g]"));
    EXPECT_EQ(bad.code, 2);
    EXPECT_EQ(bad.out, "{\"changed\":[]}\n");
    EXPECT_EQ(bad.err.front(), '{') << bad.err;
    EXPECT_EQ(run_heddle({"fmt", "--json", one}).code, 2) << "only with --check";
}

TEST_F(fmt, shows_what_cannot_be_read_and_goes_on) {
    const auto bad = scratch.file("bad.heddle", "(f\n (g]\n");
    const auto good = scratch.file("good.heddle", untidy);
    const auto ended = run_heddle({"fmt", bad, good});
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(ended.out, "");
    EXPECT_NE(ended.err.find("SexpSyntaxError: expected ) but found ]"), std::string::npos);
    EXPECT_NE(ended.err.find(bad + ":2:4"), std::string::npos) << ended.err;
    EXPECT_EQ(scratch.text_of("bad.heddle"), "(f\n (g]\n");
    EXPECT_EQ(scratch.text_of("good.heddle"), tidy);
}

TEST_F(fmt, refuses_what_is_no_text_file) {
    EXPECT_EQ(run_heddle({"fmt", scratch.path()}).code, 2);
    EXPECT_EQ(run_heddle({"fmt", scratch.path() + "/nowhere"}).code, 2);
    const std::string binary(
        "\x7f"
        "ELF\x00\x01\xff\xfe",
        8);
    const auto file = scratch.file("a.out", binary);
    EXPECT_EQ(run_heddle({"fmt", file}).code, 2);
    EXPECT_EQ(scratch.text_of("a.out"), binary);
    EXPECT_EQ(run_heddle({"fmt", scratch.file("empty", "")}).code, 0);
    EXPECT_EQ(run_heddle({"fmt"}).code, 2);
    EXPECT_EQ(run_heddle({"fmt", "--width", "3", file}).code, 2);
}

TEST_F(fmt, takes_a_width) {
    EXPECT_EQ(run_heddle({"fmt", "--width", "20", "-"}, with_input("(f (a 1 2 3) (b 1 2 3))")).out,
              "(f (a 1 2 3)\n   (b 1 2 3))\n");
}

} // namespace
} // namespace heddle::cli_test
