// The registers that each opcode uses, written a second time from what the machine does, and
// compared with what the verifier and the search for last uses take from ops.def.
#include "lang_harness.hpp"

#include "lang/compile/last_use.hpp"
#include "lang/compile/operands.hpp"

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace heddle::lang::testing {
namespace {

constexpr std::uint16_t registers = 16;
constexpr std::uint16_t spare = 15; ///< a register that no sample uses
constexpr std::uint16_t captured = 6;

/// Uses: a b c, and a' b' of the second word: the register is read. =a: it is written only.
/// a+b: the b registers after a. b*c: the c registers from b on. captures: those that a nested
/// function captures.
struct group {
    std::string_view uses;
    std::string_view opcodes;
};
constexpr group groups[] = {
    {"", "nop jump loop"},
    {"=a",
     "load_const load_int load_unbound up_get up_cell_get up_cell_peek global_get "
     "dynamic_get self"},
    {"=a captures", "closure"},
    {"a",
     "cell_make global_define global_update jump_false jump_true jump_bound jump_lt_i "
     "jump_le_i jump_gt_i jump_ge_i jump_num_eq_i jump_unless_clauses return_value rethrow "
     "settings_pop join_abort"},
    {"b", "up_cell_set"},
    {"=a b",
     "move take cell_get cell_peek add_i sub_i mul_i logic_not is_empty first rest length "
     "catch_value"},
    {"a b",
     "cell_set jump_lt jump_le jump_num_eq jump_equal rethrow_within settings_push "
     "join_begin join_end future_make permit_take permit_release"},
    {"=a b c", "add sub mul cons nth"},
    {"a b c", "catch_matches settings_leave branch_done"},
    {"=a b b*c", "list call_builtin call_update call_effect"},
    {"a a+b", "call tail_call tail_call_global call_clauses eval_code"},
    {"=a a+b", "call_global"},
    {"a a+b a' b'", "branch_call"},
};

std::vector<std::string> words_of(std::string_view text) {
    std::istringstream in{std::string(text)};
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

/// Of each group whose list has the opcode.
std::vector<std::vector<std::string>> uses_of(std::string_view opcode) {
    std::vector<std::vector<std::string>> found;
    for (const group& each : groups) {
        for (const std::string& name : words_of(each.opcodes))
            if (name == opcode) found.push_back(words_of(each.uses));
    }
    return found;
}

/// One instruction, of which the registers that it uses are 1, 2 and 3, in the second word 4 and 5;
/// other fields are 0, so that they name something. There are more constants and the like than
/// registers: a field that should name a register, and does not, is found.
struct sample {
    sample(heap& memory, op code, const std::vector<std::string>& uses)
        : outer(new function(memory)), owner(outer), nested(new function(memory)) {
        outer->functions.push_back(nested);
        for (function* each : {outer, nested}) {
            each->registers = registers;
            each->constants.resize(2 * registers);
            each->captures.resize(std::size_t{2} * registers);
            add(*each, instruction::abc(op::return_value, 0));
        }
        nested->captures.assign(1, {capture::from::self, 0});
        const auto size = static_cast<std::ptrdiff_t>(describe(code).words());
        outer->code.insert(outer->code.begin(), static_cast<std::size_t>(size),
                           instruction::abc(op::nop, 0));
        outer->places.resize(outer->code.size());
        outer->code[0].code = code;
        for (const std::string& use : uses) {
            if (use == "captures") nested->captures.front() = {capture::from::local, captured};
            else if (use == "a+b") field("b") = 2;
            else if (use == "b*c") field("c") = 3;
            else field(use) = static_cast<std::uint16_t>(value_of(use));
        }
    }

    static void add(function& to, instruction now) {
        to.code.push_back(now);
        to.places.emplace_back();
    }
    std::uint16_t& field(std::string_view use) {
        if (use.starts_with('=')) use.remove_prefix(1);
        instruction& word = outer->code[use.ends_with('\'') ? 1 : 0];
        return use[0] == 'a' ? word.a : use[0] == 'b' ? word.b : word.c;
    }
    static std::size_t value_of(std::string_view use) {
        if (use.starts_with('=')) use.remove_prefix(1);
        return static_cast<std::size_t>(use[0] - 'a') + (use.ends_with('\'') ? 4 : 1);
    }
    [[nodiscard]] bool uses_only_registers_that_exist() const {
        const auto verdict = verify(*outer, 2 * registers);
        return verdict || verdict.error().message().find("register") == std::string::npos;
    }
    bool allows(std::string_view use, std::size_t content) {
        std::uint16_t& changed = field(use);
        const std::uint16_t kept = std::exchange(changed, static_cast<std::uint16_t>(content));
        const bool allowed = uses_only_registers_that_exist();
        changed = kept;
        return allowed;
    }

    function* outer;
    function_ref owner;
    function* nested;
};

template <class Test>
void for_each_opcode(Test test) {
    lang_harness harness;
    for (std::size_t k = 0; k < op_count; ++k) {
        SCOPED_TRACE(op_table[k].name);
        const auto uses = uses_of(op_table[k].name);
        ASSERT_EQ(uses.size(), 1U) << "list the opcode once, with the registers that it uses";
        test(harness.harness.memory(), static_cast<op>(k), uses.front());
    }
}

TEST(operands, have_letters_that_are_known) {
    for (const op_description& each : op_table) {
        SCOPED_TRACE(each.name);
        for (const std::string_view letters : {each.first, each.second}) {
            EXPECT_EQ(letters.find_first_not_of("RKGIJFUNAki-"), std::string_view::npos);
            EXPECT_LE(letters.size(), 3U);
            for (std::size_t i = 0; i < letters.size(); ++i) {
                if (letters[i] == 'N' || letters[i] == 'A') {
                    EXPECT_TRUE(i > 0 && letters[i - 1] == 'R') << "a count follows its register";
                }
                if (std::string_view("KGIJF").find(letters[i]) != std::string_view::npos) {
                    EXPECT_EQ(i + 1, letters.size()) << "d lies over the fields after a";
                }
            }
        }
        EXPECT_EQ(each.result.substr(1).find_first_not_of("wse"), std::string_view::npos);
        EXPECT_TRUE(!each.overwrites_first() || each.first.starts_with('R'));
    }
}

TEST(operands, that_are_no_registers_of_the_function_are_refused) {
    for_each_opcode([](heap& memory, op code, const std::vector<std::string>& uses) {
        sample one(memory, code, uses);
        EXPECT_TRUE(one.uses_only_registers_that_exist());
        for (const std::string& use : uses) {
            SCOPED_TRACE(use);
            if (use == "a+b") {
                EXPECT_TRUE(one.allows("b", registers - 2U));
                EXPECT_FALSE(one.allows("b", registers - 1U));
            } else if (use == "b*c") {
                EXPECT_TRUE(one.allows("c", registers - 2U));
                EXPECT_FALSE(one.allows("c", registers - 1U));
            } else if (use == "captures") {
                one.nested->captures.front().index = registers;
                EXPECT_FALSE(one.uses_only_registers_that_exist());
            } else {
                EXPECT_FALSE(one.allows(use, registers));
                EXPECT_FALSE(one.allows(use, UINT16_MAX));
            }
        }
    });
}

TEST(operands, of_no_count_need_no_register) {
    lang_harness harness;
    sample call(harness.harness.memory(), op::call, {"a"});
    EXPECT_TRUE(call.allows("a", registers - 1U));
    sample list(harness.harness.memory(), op::list, {"a", "b"});
    EXPECT_TRUE(list.allows("b", registers - 1U));
}

/// Whether a copy of `from`, made before the instruction, is its last use when `then` is returned.
bool is_last_use(heap& memory, op code, const std::vector<std::string>& uses, std::size_t from,
                 std::uint16_t then) {
    sample one(memory, code, uses);
    one.outer->code.insert(one.outer->code.begin(),
                           instruction::abc(op::move, spare, static_cast<unsigned>(from)));
    one.outer->places.emplace_back();
    one.outer->code.back().a = then;
    EXPECT_FALSE(move_last_uses(*one.outer, nullptr));
    return one.outer->code.front().code == op::take;
}

TEST(operands, that_are_read_keep_their_register_alive) {
    for_each_opcode([](heap& memory, op code, const std::vector<std::string>& uses) {
        std::set<std::size_t> read;
        for (const std::string& use : uses) {
            if (use == "a+b") read.insert({2, 3});
            else if (use == "b*c") read.insert({2, 3, 4});
            else if (use == "captures") read.insert(captured);
            else if (use != "=a") read.insert(sample::value_of(use));
        }
        for (std::size_t r = 0; r < spare; ++r)
            EXPECT_EQ(is_last_use(memory, code, uses, r, spare), !read.contains(r)) << "R" << r;
    });
}

TEST(operands, that_are_only_written_end_the_use_before) {
    for_each_opcode([](heap& memory, op code, const std::vector<std::string>& uses) {
        const bool written = !uses.empty() && uses.front() == "=a";
        EXPECT_EQ(is_last_use(memory, code, uses, 1, 1), written);
    });
}

} // namespace
} // namespace heddle::lang::testing
