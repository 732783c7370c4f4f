// Programs whose syntax trees are chained longer than their text is nested, or that were compiled
// several times for each level: no walk over a chain takes native frames, and no level doubles.
#include "schedules.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heddle::lang::testing {
namespace {

std::string repeated(const std::string& text, std::size_t times) {
    std::string all;
    all.reserve(text.size() * times);
    for (std::size_t i = 0; i < times; ++i) all += text;
    return all;
}

std::string shown(const std::string& program) {
    lang_harness harness;
    schedule how;
    how.memory = std::size_t{4} * 1024 * 1024 * 1024;
    return harness.shown(program, how);
}

TEST(long_chains, of_conditions_take_no_native_frames) {
    const std::size_t many = 100'000;
    const std::vector<std::string> conditions{
        "(cond " + repeated("((not 1))", many) + "(else 7))",
        "(cond " + repeated("((eq? 1 7) 1)((not 1))", many / 2) + "(else 7))",
    };
    for (const std::string& each : conditions) {
        EXPECT_EQ(shown(each), "7");
        EXPECT_EQ(shown("(list " + each + ")"), "(7)");
        EXPECT_EQ(shown("(progn " + each + " 8)"), "8");
        EXPECT_EQ(shown("((lambda () " + each + "))"), "7");
        EXPECT_EQ(shown("(if " + each + " 1 2)"), "1");
        EXPECT_EQ(shown("(if (not " + each + ") 1 2)"), "2");
    }
}

TEST(long_chains, have_the_value_of_the_clause_that_holds) {
    for (const char* last : {"else 3", "nil", "(+ 1 1)"}) {
        const std::string program = std::string(
                                        "(define (f x) (cond ((= x 1) 'one) ((and (> x 5) "
                                        "(* x 2))) ((or (< x 0) nil)) ((= x 2) 'two) (") +
                                    last + "))) (map f '(1 2 3 6 -1))";
        const std::string third = last[0] == 'e' ? "3" : last[0] == 'n' ? "nil" : "2";
        EXPECT_EQ(shown(program), "(one two " + third + " 12 true)") << program;
    }
    EXPECT_EQ(shown("(map (lambda (x) (if (not (or (< x 2) (not (and (> x 3) (not (= x 5)))))) 'in "
                    "'out)) (range 8))"),
              "(out out out out in out in in)");
    EXPECT_EQ(shown("(map (lambda (x) (and (> x 1) (or (= x 2) (and (> x 4) x)))) (range 7))"),
              "(false false true false false 5 6)");
}

// Each test paid once more for all that came before it.
TEST(long_chains, of_conditions_cost_steps_in_proportion) {
    const auto ends_within = [](const std::string& condition, std::uint64_t steps) {
        lang_harness harness;
        schedule how;
        how.steps = steps;
        const std::string program =
            "(define (f x) (if " + condition + " 1 2)) (loop 100 (f nil)) 'done";
        return harness.shown(program, how) == "done";
    };
    for (const std::size_t tests : {100U, 400U}) {
        for (const std::string& condition :
             {"(or " + repeated("x ", tests) + ")", "(not (or " + repeated("x ", tests) + "))",
              "(cond " + repeated("((eq? x 7) 1)", tests) + ")",
              "(cond " + repeated("((eq? x 7))", tests) + ")"}) {
            EXPECT_TRUE(ends_within(condition, 100 * (tests / 5 + 10)))
                << tests << condition.substr(0, 20);
        }
    }
}

TEST(long_chains, of_scopes_in_an_argument_of_a_loop_take_no_native_frames) {
    const std::string chain = "(let* (" + repeated("(x 1)", 200'000) + ") x)";
    EXPECT_NE(shown("(let go ((a 1) (b 2)) (if (> a 5) b (go (+ a 1) " + chain + ")))")
                  .find("too many values at once"),
              std::string::npos);
}

TEST(long_chains, of_bindings_that_may_hold_are_refused) {
    const auto program = [](std::size_t count) {
        return "(let () (let* (" + repeated("(a (if nil (bind y 1) 2))", count) + ") y))";
    };
    EXPECT_NE(shown(program(50)).find("'y'"), std::string::npos);
    EXPECT_NE(shown(program(40'000)).find("'y' may be bound by more than 1000 forms around it"),
              std::string::npos);
}

// Each reference goes through all of the scopes: some six nodes for each pair of them.
TEST(long_chains, of_scopes_with_eval_times_references_are_refused) {
    const auto program = [](std::size_t scopes, std::size_t references) {
        std::string text;
        for (std::size_t i = 0; i < scopes; ++i) text += "(let ((x 1)) (eval '(bind y 1)) ";
        text += "(length (list " + repeated("z ", references) + "))";
        return "(define z 1) " + text + std::string(scopes, ')');
    };
    EXPECT_EQ(shown(program(50, 500)), "500");
    EXPECT_NE(shown(program(300, 3000))
                  .find("too many names here may be bound in several scopes around them"),
              std::string::npos);
}

TEST(long_chains, of_named_lets_whose_names_are_values_are_compiled_in_linear_time) {
    std::string program;
    constexpr std::size_t depth = 60;
    for (std::size_t i = 0; i < depth; ++i) {
        const std::string name = "go" + std::to_string(i);
        program += "(let ";
        program += name;
        program += " ((x 1)) (first (list ";
        program += "(if (= x 1) ";
    }
    program += "7";
    for (std::size_t i = depth; i-- != 0;) program += " nil) go" + std::to_string(i) + ")))";
    lang_harness harness;
    schedule how;
    how.memory = std::size_t{64} * 1024 * 1024;
    EXPECT_EQ(harness.shown(program, how), "7");
}

TEST(long_chains, of_cleanups_inside_of_cleanups_are_refused) {
    const auto program = [](std::size_t depth) {
        return "(define (f x) (x))" + repeated("(try 1 (finally (f (lambda () ", depth) + "1" +
               repeated("))))", depth);
    };
    EXPECT_EQ(shown(program(6)), "1");
    for (const std::size_t depth : {20U, 2000U}) {
        EXPECT_NE(shown(program(depth))
                      .find("more than 8 'finally' are nested inside of each "
                            "other's cleanup"),
                  std::string::npos);
    }
}

} // namespace
} // namespace heddle::lang::testing
