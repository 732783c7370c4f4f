#include <heddle/lang/dump.hpp>

#include <heddle/lang/errors.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/prelude.hpp>

#include "layout_sources.hpp"

#include <gtest/gtest.h>

namespace heddle::lang {
namespace {

class dump : public ::testing::Test {
protected:
    dump() { EXPECT_TRUE(load_prelude(harness)); }
    [[nodiscard]] result<std::string> tree(const std::string& text,
                                           dump_format format = dump_format::text) {
        return dump_ast(harness, text, harness.sources().add("p", text), format);
    }
    realm harness;
};

TEST_F(dump, shows_nodes_with_places_and_homes) {
    const auto result = tree(
        "(define (f x)\n  (if x (+ x 1) nil))\n"
        "(let ((k 1)) (lambda () (set! k 2)))");
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(*result,
              "sequence  ; 1:1-2:22\n"
              "  define-global f  ; 1:1-2:22\n"
              "    lambda f (x)  ; 1:1-2:22\n"
              "      body: scope  ; 1:1-2:22\n"
              "        if  ; 2:3-2:21\n"
              "          test: local x in register  ; 2:7-2:8\n"
              "          then: builtin +  ; 2:9-2:16\n"
              "            local x in register  ; 2:12-2:13\n"
              "            constant 1  ; 2:14-2:15\n"
              "          else: constant nil  ; 2:17-2:20\n"
              "  scope  ; 3:1-3:37\n"
              "    k in cell: constant 1  ; 3:10-3:11\n"
              "    lambda ()  ; 3:14-3:36\n"
              "      body: scope  ; 3:14-3:36\n"
              "        set k in cell  ; 3:25-3:35\n"
              "          constant 2  ; 3:33-3:34\n");
}

TEST_F(dump, a_byte_order_mark_shifts_no_column) {
    const auto result = tree("\xEF\xBB\xBF(+ 1\n x)");
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(*result, *tree("(+ 1\n x)"));
}

TEST_F(dump, writes_json_that_reads) {
    const auto result =
        tree("(define (f \xc3\xa9) \"a\\\"b\") (try (f 1) (catch (e) 2))", dump_format::json);
    ASSERT_TRUE(result) << result.error().message();
    const auto read = json_to_value(harness.memory(), *result);
    EXPECT_TRUE(read) << *result;
}

TEST_F(dump, runs_nothing_and_survives_long_chains) {
    EXPECT_TRUE(tree("(error \"never\") (while true 1)"));
    std::string chain = "(cond ";
    for (int i = 0; i < 3000; ++i) chain += "((= 1 " + std::to_string(i) + ") 1)\n";
    const auto result = tree(chain + ")");
    ASSERT_TRUE(result);
    EXPECT_LT(result->size(), 4U * 1024 * 1024);
}

TEST_F(dump, accepts_every_program_of_the_repository) {
    for (const auto& [name, text] : repository_sources()) {
        const auto result = tree(text, dump_format::json);
        if (!result) continue; // the fuzzer's corpus holds mistakes, the prelude forms of its own
        EXPECT_TRUE(json_to_value(harness.memory(), *result, {20'000})) << name;
    }
}

TEST_F(dump, returns_the_errors_of_reading_and_compiling) {
    EXPECT_EQ(tree("(f").error().code(), errc::syntax);
    EXPECT_EQ(tree("(if 1)").error().code(), errc::evaluation);
    const std::string text = "(+ 1 2)";
    const auto code = dump_code(harness, text, harness.sources().add("p", text));
    ASSERT_TRUE(code);
    EXPECT_NE(code->find("function (anonymous)"), std::string::npos);
}

} // namespace
} // namespace heddle::lang
