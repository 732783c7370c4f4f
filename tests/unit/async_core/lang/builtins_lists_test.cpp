#include "lang_fixture.hpp"

#include <string>
#include <vector>

namespace heddle::lang {
namespace {

class builtins_lists : public lang_fixture {};

TEST_F(builtins_lists, make_and_extend) {
    EXPECT_EQ(call("list", ""), "()");
    EXPECT_EQ(call("list", "\"a\" b 1.5 false nil"), "(\"a\" b 1.5 false nil)");
    EXPECT_EQ(call("cons", "1 (2 3)"), "(1 2 3)");
    EXPECT_EQ(call("cons", "(1) ()"), "((1))");
    EXPECT_EQ(call("cons", "1 2"), "TypeError: cons: argument 2 must be a list, not the integer 2");
    EXPECT_EQ(call("append", ""), "()");
    EXPECT_EQ(call("append", "(1) (2 3) () (4)"), "(1 2 3 4)");
    EXPECT_EQ(call("append", "() (1)"), "(1)");
    EXPECT_TRUE(call("append", "(1) 2").starts_with("TypeError: append: argument 2"));
}

TEST_F(builtins_lists, append_in_a_loop_is_linear_and_keeps_older_versions) {
    const builtin* row = find_builtin("append");
    value list = value::empty_list();
    value early;
    for (int i = 0; i < 300'000; ++i) {
        const value item = value::integer(i);
        value arguments[] = {std::move(list), make_list(memory(), std::span(&item, 1))};
        free_work work;
        native_call made(memory(), *row, work);
        list = row->run(made, std::span<value>(arguments));
        if (i == 2) early = list;
    }
    EXPECT_EQ(list.length(), 300'000U);
    EXPECT_EQ(print_value(early), "(0 1 2)");
}

TEST_F(builtins_lists, reach_in) {
    EXPECT_EQ(call("first", "(1 2 3)"), "1");
    EXPECT_EQ(call("second", "(1 2 3)"), "2");
    EXPECT_EQ(call("third", "(1 2 3)"), "3");
    EXPECT_EQ(call("last", "(1 2 3)"), "3");
    EXPECT_EQ(call("rest", "(1 2 3)"), "(2 3)");
    EXPECT_EQ(call("rest", "()"), "()");
    EXPECT_EQ(call("first", "()"), "SexpEvaluationError: first: the list is empty");
    EXPECT_EQ(call("last", "()"), "SexpEvaluationError: last: the list is empty");
    EXPECT_EQ(call("third", "(1)"), "SexpEvaluationError: third: the list has only 1 element");
    EXPECT_EQ(call("nth", "(a b) 1"), "b");
    EXPECT_EQ(call("nth", "(a b) 2"), "SexpEvaluationError: nth: index 2 is outside a list of 2");
    EXPECT_EQ(call("nth", "(a b) -1"), "SexpEvaluationError: nth: index -1 is outside a list of 2");
    EXPECT_EQ(call("first", "\"abc\""),
              "TypeError: first: argument 1 must be a list, not the string \"abc\"");
}

TEST_F(builtins_lists, length_of_anything_that_has_one) {
    EXPECT_EQ(call("length", "(1 2 3)"), "3");
    EXPECT_EQ(call("length", "\"żó\""), "2");
    EXPECT_EQ(call("length", "(dict \"a\" 1)"), "1");
    EXPECT_TRUE(call("length", "5").starts_with("TypeError"));
    EXPECT_TRUE(call("length", "nil").starts_with("TypeError"));
}

TEST_F(builtins_lists, parts) {
    EXPECT_EQ(call("take", "(1 2 3) 2"), "(1 2)");
    EXPECT_EQ(call("take", "(1 2 3) 9"), "(1 2 3)");
    EXPECT_EQ(call("drop", "(1 2 3) 1"), "(2 3)");
    EXPECT_EQ(call("drop", "(1 2 3) 9"), "()");
    EXPECT_EQ(call("take", "(1) -1"),
              "TypeError: take: argument 2 must be an integer from 0, not the integer -1");
    EXPECT_EQ(call("slice", "(a b c d) 1 3"), "(b c)");
    EXPECT_EQ(call("slice", "(a b c d) 2"), "(c d)");
    EXPECT_EQ(call("slice", "(a) 1"), "()");
    EXPECT_EQ(call("slice", "(a b) 0 3"),
              "SexpEvaluationError: slice: index 3 is outside a list of 2");
    EXPECT_EQ(call("reverse", "(1 (2) 3)"), "(3 (2) 1)");
    EXPECT_EQ(call("reverse", "()"), "()");
    EXPECT_EQ(call("chunk", "(1 2 3 4 5) 2"), "((1 2) (3 4) (5))");
    EXPECT_EQ(call("chunk", "() 2"), "()");
    EXPECT_EQ(call("chunk", "(1 2) 9223372036854775807"), "((1 2))");
    EXPECT_TRUE(call("chunk", "(1) 0").starts_with("TypeError"));
    EXPECT_EQ(call("zip", "(1 2 3) (a b)"), "((1 a) (2 b))");
    EXPECT_EQ(call("zip", "(1 2)"), "((1) (2))");
}

TEST_F(builtins_lists, range) {
    EXPECT_EQ(call("range", "3"), "(0 1 2)");
    EXPECT_EQ(call("range", "1 4"), "(1 2 3)");
    EXPECT_EQ(call("range", "5 0 -2"), "(5 3 1)");
    EXPECT_EQ(call("range", "4 1"), "()");
    EXPECT_EQ(call("range", "0"), "()");
    EXPECT_EQ(call("range", "0 1 0.25"), "(0.0 0.25 0.5 0.75)");
    EXPECT_EQ(call("range", "1.0"), "(0.0)");
    EXPECT_EQ(call("range", "1 0 0"), "SexpEvaluationError: range: the step must not be 0");
    EXPECT_EQ(call("range", "-9223372036854775808 9223372036854775807 9223372036854775807"),
              "(-9223372036854775808 -1 9223372036854775806)");
    EXPECT_TRUE(call("range", "1000000000").starts_with("LimitError"));
    EXPECT_TRUE(
        call("range", "-9223372036854775808 9223372036854775807").starts_with("LimitError"));
    EXPECT_TRUE(call("range", "0 +inf.0 1").starts_with("LimitError"));
    EXPECT_TRUE(call("range", "0 +nan.0").starts_with("SexpEvaluationError"));
    EXPECT_TRUE(call("range", "\"3\"").starts_with("TypeError"));
    memory().set_limit(memory().used() + 1'000'000);
    EXPECT_TRUE(call("range", "1000000").starts_with("LimitError"));
    memory().set_limit(SIZE_MAX);
}

TEST_F(builtins_lists, sort) {
    EXPECT_EQ(call("sort", "(3 1.5 2 true)"), "(true 1.5 2 3)");
    EXPECT_EQ(call("sort", "(1 1.0 true 0)"), "(0 1 1.0 true)"); // stable
    EXPECT_EQ(call("sort", "(\"b\" \"a\" \"ab\")"), "(\"a\" \"ab\" \"b\")");
    EXPECT_EQ(call("sort", "(+nan.0 2 +nan.0 1)"), "(1 2 +nan.0 +nan.0)");
    EXPECT_EQ(call("sort", "()"), "()");
    EXPECT_EQ(call("sort", "(1 \"a\")"),
              "TypeError: sort: element 1 must be a number like the first, not the string \"a\"");
    EXPECT_EQ(call("sort", "(x y)"),
              "TypeError: sort: element 0 must be a number or a string, not the symbol x");
}

TEST_F(builtins_lists, unique_and_flatten) {
    EXPECT_EQ(call("unique", "(1 2 1.0 true \"a\" a \"a\" (1) (1) nil nil)"),
              "(1 2 \"a\" a (1) nil)");
    EXPECT_EQ(call("unique", "((dict \"a\" 1 \"b\" 2) (dict \"b\" 2 \"a\" 1))"),
              "((dict \"a\" 1 \"b\" 2))");
    EXPECT_EQ(call("flatten", "(1 (2 (3)) () (()))"), "(1 2 3)");
    value deep = value::integer(1);
    for (int i = 0; i < 1'000'000; ++i) deep = make_list(memory(), std::span(&deep, 1));
    EXPECT_EQ(call_with("flatten", {deep}), "(1)");
    memory().set_limit(memory().used() + 10'000'000);
    value wide = value::integer(1);
    for (int i = 0; i < 60; ++i) {
        const value pair[] = {wide, wide};
        wide = make_list(memory(), pair);
    }
    EXPECT_TRUE(call_with("flatten", {wide}).starts_with("LimitError"));
    memory().set_limit(SIZE_MAX);
}

TEST_F(builtins_lists, unique_of_many_is_not_quadratic) {
    std::vector<value> rows;
    for (int i = 0; i < 100'000; ++i) {
        const value row[] = {memory().symbol("row"), value::integer(i % 50'000)};
        rows.push_back(make_list(memory(), row));
    }
    value arguments[] = {make_list(memory(), rows)};
    const builtin* row = find_builtin("unique");
    free_work work;
    native_call made(memory(), *row, work);
    EXPECT_EQ(row->run(made, std::span<value>(arguments)).length(), 50'000U);
}

TEST_F(builtins_lists, search) {
    EXPECT_EQ(call("index-of", "(a b c) b"), "1");
    EXPECT_EQ(call("index-of", "(a (1 2)) (1 2)"), "1");
    EXPECT_EQ(call("index-of", "(1) 2"), "nil");
    EXPECT_EQ(call("index-of", "\"zażółć\" \"ó\""), "3");
    EXPECT_EQ(call("index-of", "\"abc\" \"x\""), "nil");
    EXPECT_EQ(call("contains?", "(1 2) 2.0"), "true");
    EXPECT_EQ(call("contains?", "\"abc\" \"bc\""), "true");
    EXPECT_EQ(call("contains?", "(dict \"a\" nil) a"), "true");
    EXPECT_EQ(call("contains?", "() nil"), "false");
    EXPECT_TRUE(call("contains?", "\"abc\" 1").starts_with("TypeError: contains?: argument 2"));
    EXPECT_TRUE(call("contains?", "1 1").starts_with("TypeError"));
}

TEST_F(builtins_lists, predicates) {
    EXPECT_EQ(call("null?", "nil"), "true");
    EXPECT_EQ(call("null?", "()"), "true");
    EXPECT_EQ(call("nil?", "()"), "true");
    for (const char* other : {"0", "\"\"", "false", "a", "(1)"}) {
        EXPECT_EQ(call("null?", other), "false") << other;
    }
    for (const char* empty : {"nil", "()", "\"\"", "(dict)"}) {
        EXPECT_EQ(call("empty?", empty), "true") << empty;
    }
    EXPECT_EQ(call("empty?", "(1)"), "false");
    EXPECT_TRUE(call("empty?", "0").starts_with("TypeError"));
    EXPECT_EQ(call("list?", "()"), "true");
    EXPECT_EQ(call("list?", "nil"), "false");
}

} // namespace
} // namespace heddle::lang
