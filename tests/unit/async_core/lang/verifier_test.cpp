// The verifier and the listing. Every program that lang_harness runs is verified too.
#include "lang_harness.hpp"

#include <heddle/lang/reader.hpp>

#include <gtest/gtest.h>

namespace heddle::lang::testing {
namespace {

function_ref compiled(lang_harness& harness, const std::string& text) {
    const std::uint32_t position = harness.harness.sources().add("test", text);
    auto forms = read_all(harness.harness.memory(), text, position);
    auto code = compile(harness.harness, *forms);
    return *code;
}

constexpr const char* program =
    "(define (f x) (if (< x 10) (try (list x (f (+ x 1))) (catch (e) 0)) (map (lambda (y) y) (list "
    "x)))) (f 1)";

TEST(verifier, any_operand_out_of_range_is_found) {
    lang_harness harness;
    const function_ref good = compiled(harness, program);
    ASSERT_TRUE(verify(*good, harness.harness.global_count()));
    const function& inner = *good->functions.front();
    std::size_t found = 0;
    for (std::size_t i = 0; i < inner.code.size(); ++i) {
        auto* broken = const_cast<instruction*>(&inner.code[i]);
        const instruction kept = *broken;
        broken->a = 0xFFF0;
        found += verify(*good, harness.harness.global_count()) ? 0 : 1;
        *broken = kept;
        broken->d = 0x7FFFFFF0;
        found += verify(*good, harness.harness.global_count()) ? 0 : 1;
        *broken = kept;
        broken->code = static_cast<op>(250);
        EXPECT_TRUE(!verify(*good, harness.harness.global_count()) ||
                    (i != 0 && kept.code == op::jump));
        *broken = kept;
    }
    EXPECT_GT(found, inner.code.size());
    EXPECT_TRUE(verify(*good, harness.harness.global_count()));
}

TEST(verifier, code_that_may_fall_off_the_end_is_found) {
    lang_harness harness;
    const function_ref good = compiled(harness, "(list 1 2)");
    auto& code = const_cast<function&>(*good);
    code.code.pop_back();
    code.places.pop_back();
    const auto verdict = verify(code, harness.harness.global_count());
    ASSERT_FALSE(verdict);
    EXPECT_NE(verdict.error().message().find("may fall off the end"), std::string::npos);
}

TEST(disassembler, shows_opcodes_operands_and_places) {
    lang_harness harness;
    const std::string text = disassemble(
        *compiled(harness, "(define (inc n) (if (< n 10) (+ n 1) n))"), harness.harness);
    EXPECT_EQ(text,
              "function (anonymous), 0 required, 1 registers, 0 captured\n"
              "    0  closure        r0 function 0             ; 1:1\n"
              "    1  global_define  r0 inc                    ; 1:1\n"
              "    2  return_value   r0                        ; 1:1\n"
              "\n"
              "function inc, 1 required, 2 registers, 0 captured\n"
              "    0  jump_lt_i      r0 10 if not -> 4         ; 1:21\n"
              "    2  add_i          r1 r0 1                   ; 1:30\n"
              "    3  return_value   r1                        ; 1:30\n"
              "    4  return_value   r0                        ; 1:38\n");
}

} // namespace
} // namespace heddle::lang::testing
