#include <heddle/lang/printer.hpp>

#include <heddle/lang/equality.hpp>
#include <heddle/lang/objects.hpp>

#include "lang_fixture.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <random>

namespace heddle::lang {
namespace {

class printer : public lang_fixture {};

class thing final : public host_object {
public:
    std::string_view type_name() const noexcept override { return "task"; }
    std::string describe() const override { return "task user:plan"; }
};

TEST_F(printer, writes_data_so_that_it_reads_back) {
    for (const char* text : {"nil", "true", "0", "-5", "1.0", "0.1", "1e+21", "-0.0", "\"\"",
                             "\"a\\\"b\\\\\\n\\t\\r\\u0001\\u007f ż\"", "(a (b) () \"c\")", "'a",
                             "`(a ,b ,@c)", "(quote a b)", "(quote)", "''a"}) {
        EXPECT_EQ(read_back(text), text);
    }
}

/// U+009B is what begins the codes of terminals, in one character.
TEST_F(printer, escapes_every_control_character) {
    EXPECT_EQ(read_back("\"\xC2\x9B"
                        "31m \xC2\x80\xC2\x9F \xC2\xA0\xC3\x9B\""),
              "\"\\u009b31m \\u0080\\u009f \xC2\xA0\xC3\x9B\"");
    EXPECT_EQ(read_back("\"\\u009b\""), "\"\\u009b\"");
    EXPECT_EQ(quoted("a\"\xC2\x85\n"), "\"a\\\"\\u0085\\n\"");
}

TEST_F(printer, writes_floats_shortest_and_as_floats) {
    const auto text = [](double d) { return print_value(value::real(d)); };
    EXPECT_EQ(text(100000), "100000.0");
    EXPECT_EQ(text(1e15), "1000000000000000.0");
    EXPECT_EQ(text(1e16), "1e+16");
    EXPECT_EQ(text(0.00001), "0.00001");
    EXPECT_EQ(text(1e-7), "1e-07");
    EXPECT_EQ(text(std::numeric_limits<double>::infinity()), "+inf.0");
    EXPECT_EQ(text(0.1 + 0.2), "0.30000000000000004");
    std::mt19937_64 random(7);
    for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t bits = random();
        double d = 0;
        std::memcpy(&d, &bits, sizeof d);
        if (std::isnan(d)) continue;
        const value back = read(text(d));
        ASSERT_TRUE(back.is_real());
        ASSERT_EQ(back.as_real(), d);
    }
    for (const double d : {5e-324, 1.7976931348623157e308, 123456789012345680.0}) {
        EXPECT_EQ(read(text(d)).as_real(), d);
    }
}

TEST_F(printer, writes_maps_and_what_has_no_written_form) {
    EXPECT_EQ(print_value(data("(dict \"a\" (1 (dict)) \"b c\" 'x)")),
              "(dict \"a\" (1 (dict)) \"b c\" 'x)");
    EXPECT_EQ(print_value(value::of_builtin(*find_builtin("+"))), "#<builtin +>");
    EXPECT_EQ(print_value(make_host(memory(), std::make_unique<thing>())), "#<task user:plan>");
}

TEST_F(printer, writes_symbols_that_would_not_read_back_as_calls) {
    for (const char* name : {"a b", "", "12", "nil", "true", "a;b", "#|x", "+inf.0"}) {
        const value symbol = memory().symbol(name);
        EXPECT_EQ(print_value(symbol), "(string->symbol \"" + std::string(name) + "\")");
    }
    // `,@x` would be another list.
    const value items[] = {memory().symbol("unquote"), memory().symbol("@x")};
    const value list = make_list(memory(), items);
    EXPECT_TRUE(values_equal(read(print_value(list)), list));
}

TEST_F(printer, shortens) {
    const value list = read("(1 (2 (3 (4))) \"some longer text\")");
    EXPECT_EQ(print_value(list, {.max_depth = 2}), "(1 (2 (…)) \"some longer text\")");
    EXPECT_EQ(print_value(list, {.max_bytes = 5}), "(1 (2…");
    EXPECT_EQ(print_value(read("\"żżżż\""), {.max_bytes = 4}), "\"ż…");
    EXPECT_EQ(print_value(read("abc"), {.max_bytes = 3}), "abc");
    EXPECT_EQ(print_value(read("\"abcdef\""), {.max_bytes = 3, .display = true}), "abc…");
}

TEST_F(printer, displays_strings_bare_at_the_outermost_level_only) {
    EXPECT_EQ(print_value(read("\"a\\nb\""), {.display = true}), "a\nb");
    EXPECT_EQ(print_value(read("(\"a\")"), {.display = true}), "(\"a\")");
}

TEST_F(printer, takes_any_depth_and_any_size) {
    value deep = value::integer(1);
    for (int i = 0; i < 1'000'000; ++i) deep = make_list(memory(), std::span(&deep, 1));
    EXPECT_EQ(print_value(deep).size(), 2'000'001U);
    // Shared parts: 2^60 elements, of which a look sees few.
    value wide = value::integer(1);
    for (int i = 0; i < 60; ++i) {
        const value pair[] = {wide, wide};
        wide = make_list(memory(), pair);
    }
    EXPECT_LT(print_value(wide, {.max_bytes = 1000}).size(), 1010U);
}

} // namespace
} // namespace heddle::lang
