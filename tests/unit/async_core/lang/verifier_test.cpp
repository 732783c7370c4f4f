// The verifier and the listing. Every program that lang_harness runs is verified too.
#include "lang_harness.hpp"

#include "lang/compile/operands.hpp"

#include <heddle/lang/reader.hpp>

#include <gtest/gtest.h>
#include <test_paths.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::lang::testing {
namespace {

function_ref compiled(lang_harness& harness, const std::string& text) {
    const std::uint32_t position = harness.harness.sources().add("test", text);
    auto forms = read_all(harness.harness.memory(), text, position);
    auto code = compile(harness.harness, *forms);
    return *code;
}

/// The finding of verify, or nothing.
std::string finding_of(const function& code, std::size_t globals) {
    const auto verdict = verify(code, globals);
    return verdict ? "" : verdict.error().message();
}

/// An instruction one of whose operands names nothing.
struct broken_operand {
    char letter = '-';      ///< its kind in ops.def
    std::size_t word = 0;   ///< index of the word that holds it
    instruction with;       ///< that word, broken
    std::string_view about; ///< what the finding must end with
};

/// The word with the operand `k` of `letters` changed to the first value that names nothing, or for
/// a number of 32 bits also to the last one below 0.
std::vector<broken_operand> broken_operands_of_word(const function& code, std::size_t globals,
                                                    std::size_t word, std::string_view letters) {
    std::vector<broken_operand> all;
    for (std::size_t k = 0; k < letters.size(); ++k) {
        const auto field = [&](std::size_t content, std::string_view about) {
            instruction with = code.code[word];
            const auto narrow = static_cast<std::uint16_t>(content);
            if (k == 0) with.a = narrow;
            else if (k == 1) with.b = narrow;
            else with.c = narrow;
            all.push_back({letters[k], word, with, about});
        };
        const auto wide = [&](std::size_t content, std::string_view about,
                              std::int32_t below = -1) {
            for (const std::int32_t d : {static_cast<std::int32_t>(content), below}) {
                instruction with = code.code[word];
                with.d = d;
                all.push_back({letters[k], word, with, about});
            }
        };
        constexpr std::string_view no_register = "uses a register that is not there";
        const auto before = [&]() -> std::size_t { // the register that a count follows
            return k == 1 ? code.code[word].a : code.code[word].b;
        };
        switch (letters[k]) {
        case 'R': field(code.registers, no_register); break;
        case 'N': field(code.registers - before() + 1, no_register); break;
        case 'A': field(code.registers - before(), no_register); break;
        case 'U': field(code.captures.size(), "names a capture that is not there"); break;
        case 'k': field(code.constants.size(), "names a constant that is not there"); break;
        case 'K': wide(code.constants.size(), "names a constant that is not there"); break;
        case 'G': wide(globals, "names a global that is not there"); break;
        case 'F': wide(code.functions.size(), "names a function that is not there"); break;
        case 'J': // counted from the next instruction: to the end, and to before the beginning
            wide(code.code.size() - (word + 1), "jumps to no instruction",
                 -static_cast<std::int32_t>(word) - 2);
            break;
        case 'I':
        case 'i':
        case '-': break; // any number will do
        default: ADD_FAILURE() << "an operand of a new kind: " << letters[k];
        }
    }
    return all;
}

/// One for each operand that ops.def declares for the instruction at `at`.
std::vector<broken_operand> broken_operands(const function& code, std::size_t globals,
                                            std::size_t at) {
    const op_description& known = describe(code.code[at].code);
    auto all = broken_operands_of_word(code, globals, at, known.first);
    if (known.words() == 2) {
        const auto second = broken_operands_of_word(code, globals, at + 1, known.second);
        all.insert(all.end(), second.begin(), second.end());
    }
    return all;
}

/// Breaks each operand of the instruction at `at` in turn: `outermost`, which is verified, must be
/// refused because of that operand. Returns the letters of the operands.
std::set<char> expect_findings(const function& outermost, const function& code, std::size_t globals,
                               std::size_t at) {
    std::set<char> letters;
    const std::string who = "instruction " + std::to_string(at) + " (" +
                            std::string(describe(code.code[at].code).name) + ") ";
    for (const broken_operand& each : broken_operands(code, globals, at)) {
        auto& changed = const_cast<instruction&>(code.code[each.word]);
        const instruction kept = std::exchange(changed, each.with);
        const std::string found = finding_of(outermost, globals);
        EXPECT_TRUE(found.ends_with(who + std::string(each.about)))
            << each.letter << " of " << who << "in word " << each.word - at << ": "
            << (found.empty() ? "nothing is found" : found);
        changed = kept;
        letters.insert(each.letter);
    }
    return letters;
}

/// Two words at most of one opcode, and a return. The fewest things are registers, and the most
/// are globals: an operand that is checked as another kind is not found, or as something else.
class one_instruction {
public:
    static constexpr std::size_t globals = 7;

    one_instruction(heap& memory, op code) : code_(new function(memory)), owner_(code_) {
        auto* nested = new function(memory);
        code_->functions.push_back(nested);
        add(*nested, op::return_value);
        code_->registers = 3;
        code_->captures.resize(5);
        code_->constants.resize(6);
        add(*code_, code);
        if (describe(code).words() == 2) add(*code_, op::nop);
        add(*code_, op::return_value);
    }
    [[nodiscard]] const function& code() const { return *code_; }

private:
    static void add(function& to, op code) {
        to.code.push_back(instruction::abc(code, 0));
        to.places.emplace_back();
    }

    function* code_;
    function_ref owner_;
};

TEST(verifier, finds_each_operand_of_each_opcode) {
    lang_harness harness;
    std::set<char> letters;
    for (std::size_t k = 0; k < op_count; ++k) {
        const one_instruction sample(harness.harness.memory(), static_cast<op>(k));
        const auto found =
            expect_findings(sample.code(), sample.code(), one_instruction::globals, 0);
        letters.insert(found.begin(), found.end());
        // Whatever else there is about it, its operands are good as long as none is broken.
        EXPECT_EQ(finding_of(sample.code(), one_instruction::globals).find("not there"),
                  std::string::npos)
            << op_table[k].name;
    }
    EXPECT_EQ(letters, (std::set<char>{'A', 'F', 'G', 'J', 'K', 'N', 'R', 'U', 'k'}));
}

constexpr const char* program =
    "(define (f x)"
    "  (if (< x 10)"
    "      (try (list x (f (+ x 1))) (catch (e) 0))"
    "      (map (lambda (y) (list x y)) (list x))))"
    "(define (g n) (let ((i 0)) (while (< i n) (set! i (+ i 1))) (lambda () (set! i (+ i n)))))"
    "(f 1)";

/// Calls visit(function, index) for all instructions of a function and of those nested in it.
template <class Visit>
void for_each_instruction(const function& code, Visit visit) {
    for (std::size_t i = 0; i < code.code.size(); i += describe(code.code[i].code).words())
        visit(code, i);
    for (const function* nested : code.functions) for_each_instruction(*nested, visit);
}

TEST(verifier, finds_each_operand_of_a_program) {
    lang_harness harness;
    const function_ref good = compiled(harness, program);
    const std::size_t globals = harness.harness.global_count();
    ASSERT_EQ(finding_of(*good, globals), "");
    std::size_t instructions = 0;
    for_each_instruction(*good, [&](const function& code, std::size_t at) {
        expect_findings(*good, code, globals, at);
        ++instructions;
    });
    EXPECT_GT(instructions, 30U);
    EXPECT_EQ(finding_of(*good, globals), "") << "all is as it was";
}

TEST(verifier, finds_jumps_into_an_instruction) {
    lang_harness harness;
    const one_instruction sample(harness.harness.memory(), op::jump_lt);
    auto& code = const_cast<function&>(sample.code());
    code.code[1].d = -1; // to its own second word
    EXPECT_TRUE(finding_of(code, one_instruction::globals)
                    .ends_with("instruction 0 (jump_lt) jumps to no instruction"));
}

TEST(verifier, finds_bytes_that_are_not_opcodes) {
    lang_harness harness;
    const function_ref good = compiled(harness, program);
    const std::size_t globals = harness.harness.global_count();
    for_each_instruction(*good, [&](const function& code, std::size_t at) {
        auto& changed = const_cast<instruction&>(code.code[at]);
        const op kept = changed.code;
        for (const std::size_t none : {op_count, std::size_t{250}, std::size_t{255}}) {
            changed.code = static_cast<op>(none);
            EXPECT_TRUE(finding_of(*good, globals)
                            .ends_with("instruction " + std::to_string(at) + " is not an opcode"))
                << none;
        }
        changed.code = kept;
    });
}

/// The machine runs code of the compiler unverified.
TEST(verifier, accepts_the_code_of_the_language_tests) {
    namespace fs = std::filesystem;
    std::size_t verified = 0;
    for (const auto& file : fs::recursive_directory_iterator(fs::path(test_paths::source_folder()) /
                                                             "tests" / "language")) {
        if (file.path().extension() != ".heddle") continue;
        std::ifstream stream(file.path(), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(stream), {}};
        lang_harness harness;
        realm& in = harness.harness;
        const std::uint32_t position = in.sources().add(file.path().filename().string(), text);
        const auto forms = read_all(in.memory(), text, position);
        ASSERT_TRUE(forms) << file.path();
        for (const datum& form : *forms) {
            const auto code = compile(in, {&form, 1});
            if (!code) continue; // shown as an error, or with names of the host
            EXPECT_EQ(finding_of(**code, in.global_count()), "") << file.path();
            ++verified;
        }
    }
    EXPECT_GT(verified, 900U);
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
