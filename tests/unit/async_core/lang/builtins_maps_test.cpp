#include <heddle/lang/errors.hpp>

#include "lang_fixture.hpp"

#include <string>

namespace heddle::lang {
namespace {

class builtins_maps : public lang_fixture {};

TEST_F(builtins_maps, dict) {
    EXPECT_EQ(call("dict", ""), "(dict)");
    EXPECT_EQ(call("dict", "\"a\" 1 b 2 \"a\" 3"), "(dict \"a\" 3 \"b\" 2)");
    EXPECT_TRUE(call("dict", "\"a\"").starts_with("SexpEvaluationError: dict: keys and values"));
    EXPECT_TRUE(call("dict", "1 2").starts_with("TypeError: dict: argument 1 must be a key"));
}

TEST_F(builtins_maps, get_field) {
    EXPECT_EQ(call("get-field", "(dict \"a\" 1) a"), "1");
    EXPECT_EQ(call("get-field", "(dict \"a\" 1) \"a\""), "1");
    EXPECT_EQ(call("get-field", "(dict \"a\" 1) b"), "nil");
    EXPECT_EQ(call("get-field", "((status \"done\") (data 2)) \"status\""), "\"done\"");
    EXPECT_EQ(call("get-field", "((\"status\" \"done\") (data 2)) data"), "2");
    EXPECT_EQ(call("get-field", "((a 1) (a 2)) a"), "1");
    EXPECT_EQ(call("get-field", "(1 (a) (b 1 2)) b"), "nil");
    EXPECT_EQ(call("get-field", "() \"k\""), "nil");
    EXPECT_EQ(call("get-field", "nil a"), "nil");
    EXPECT_EQ(call("get-field", "x 5"),
              "TypeError: get-field: argument 1 must be a map or an association list, not the "
              "symbol x");
    EXPECT_TRUE(call("get-field", "(dict) 5").starts_with("TypeError: get-field: argument 2"));
    EXPECT_EQ(call("get-field", "(dict)"), "ArityError");
    EXPECT_EQ(call("get-field", "(dict) a b"), "ArityError");
}

TEST_F(builtins_maps, get_field_of_a_result_looks_into_its_parsed_content) {
    const std::string result =
        "(dict \"status\" \"COMPLETE\" \"content\" \"{}\" \"parsedContent\" (dict \"n\" 4 "
        "\"status\" 5)) ";
    EXPECT_EQ(call("get-field", result + "n"), "4");
    EXPECT_EQ(call("get-field", result + "status"), "\"COMPLETE\"");
    EXPECT_EQ(call("get-field", result + "other"), "nil");
    EXPECT_EQ(call("get-in", result + "(n)"), "4");
    EXPECT_EQ(call("get-field", "(dict \"parsedContent\" (dict \"n\" 4)) n"), "nil");
}

TEST_F(builtins_maps, get_and_get_in) {
    EXPECT_EQ(call("get", "(dict \"a\" nil) a 7"), "nil");
    EXPECT_EQ(call("get", "(dict) a 7"), "7");
    EXPECT_EQ(call("get", "(x y) 1"), "y");
    EXPECT_EQ(call("get", "(x y) 2 z"), "z");
    EXPECT_EQ(call("get", "(x y) -1"), "nil");
    EXPECT_EQ(call("get", "nil a 7"), "7");
    EXPECT_TRUE(call("get", "(dict) (1)").starts_with("TypeError: get: argument 2"));
    EXPECT_EQ(call("get-in", "(dict \"a\" (1 (dict \"b\" 2))) (a 1 b)"), "2");
    EXPECT_EQ(call("get-in", "(dict \"a\" 1) (a b) 9"), "9");
    EXPECT_EQ(call("get-in", "(dict \"a\" 1) ()"), "(dict \"a\" 1)");
    EXPECT_EQ(call("get-in", "(dict) (a b)"), "nil");
    EXPECT_TRUE(call("get-in", "(dict \"a\" 1) (1.5)").starts_with("TypeError: get-in: element 0"));
}

TEST_F(builtins_maps, put) {
    EXPECT_EQ(call("put", "(dict \"a\" 1 \"b\" 2) a 3"), "(dict \"a\" 3 \"b\" 2)");
    EXPECT_EQ(call("put", "nil \"k\" 1"), "(dict \"k\" 1)");
    EXPECT_EQ(call("put", "(1 2 3) 1 x"), "(1 x 3)");
    EXPECT_EQ(call("put", "(1 2 3) 3 x"),
              "SexpEvaluationError: put: index 3 is outside a list of 3");
    EXPECT_TRUE(call("put", "5 a 1").starts_with("TypeError: put: argument 1 must be a map"));
    EXPECT_TRUE(call("put", "(dict) 5 1").starts_with("TypeError: put: argument 2"));
}

TEST_F(builtins_maps, put_leaves_older_versions_as_they_were) {
    const value first = data("(dict \"a\" 1)");
    EXPECT_EQ(call_with("put", {first, read("a"), read("2")}), "(dict \"a\" 2)");
    EXPECT_EQ(call_with("put", {first, read("b"), read("2")}), "(dict \"a\" 1 \"b\" 2)");
    EXPECT_EQ(call_with("put", {first, read("c"), read("3")}), "(dict \"a\" 1 \"c\" 3)");
    EXPECT_EQ(print_value(first), "(dict \"a\" 1)");
    const value list = read("(1 2)");
    EXPECT_EQ(call_with("put", {list, read("0"), read("9")}), "(9 2)");
    EXPECT_EQ(print_value(list), "(1 2)");
}

TEST_F(builtins_maps, merge_remove_and_list) {
    EXPECT_EQ(call("merge", ""), "(dict)");
    EXPECT_EQ(call("merge", "(dict \"a\" 1 \"b\" 1) nil (dict \"b\" 2 \"c\" 3)"),
              "(dict \"a\" 1 \"b\" 2 \"c\" 3)");
    EXPECT_TRUE(call("merge", "(dict) (1)").starts_with("TypeError: merge: argument 2"));
    const value kept = data("(dict \"a\" 1)");
    EXPECT_EQ(call_with("merge", {kept, data("(dict \"a\" 2)")}), "(dict \"a\" 2)");
    EXPECT_EQ(print_value(kept), "(dict \"a\" 1)");
    EXPECT_EQ(call("remove-key", "(dict \"a\" 1 \"b\" 2) a"), "(dict \"b\" 2)");
    EXPECT_EQ(call("remove-key", "(dict \"a\" 1) x"), "(dict \"a\" 1)");
    EXPECT_EQ(call("keys", "(dict \"b\" 1 \"a\" 2)"), "(\"b\" \"a\")");
    EXPECT_EQ(call("values", "(dict \"b\" 1 \"a\" 2)"), "(1 2)");
    EXPECT_EQ(call("entries", "(dict \"b\" 1)"), "((\"b\" 1))");
    EXPECT_EQ(call("keys", "(dict)"), "()");
    EXPECT_TRUE(call("keys", "(1)").starts_with("TypeError"));
    EXPECT_EQ(call("has-key?", "(dict \"a\" nil) a"), "true");
    EXPECT_EQ(call("has-key?", "(dict) a"), "false");
    EXPECT_EQ(call("map?", "(dict)"), "true");
    EXPECT_EQ(call("map?", "()"), "false");
}

TEST_F(builtins_maps, results) {
    const std::string good = "(dict \"status\" \"COMPLETE\" \"content\" \"hi\")";
    EXPECT_EQ(call("content", good), "\"hi\"");
    EXPECT_EQ(call("parsed", good), "nil");
    EXPECT_EQ(call("notes", good), "(dict)");
    EXPECT_EQ(call("ok?", good), "true");
    EXPECT_TRUE(call("content", "(dict \"content\" 1)")
                    .starts_with("TypeError: content: argument 1 must be a task result"));
    EXPECT_TRUE(call("ok?", "nil").starts_with("TypeError"));
}

TEST_F(builtins_maps, a_failed_result_raises_its_task_error) {
    const value failed = data(
        "(dict \"status\" \"FAILED\" \"content\" \"c\" \"notes\" (dict "
        "\"error\" (dict \"reason\" \"llm_error\" \"message\" \"no answer\")))");
    EXPECT_EQ(call_with("ok?", {failed}), "false");
    EXPECT_TRUE(call_with("notes", {failed}).starts_with("(dict \"error\""));
    EXPECT_EQ(call_with("parsed", {failed}),
              "TaskError: parsed: the result is FAILED (llm_error): no answer");
    const builtin* row = find_builtin("content");
    free_work work;
    native_call made(memory(), *row, work);
    value arguments[] = {failed};
    EXPECT_TRUE(row->run(made, std::span<value>(arguments)).is_nil());
    ASSERT_TRUE(made.failure().has_value());
    const auto* payload = dynamic_cast<const script_payload*>(made.failure()->info().payload.get());
    ASSERT_NE(payload, nullptr);
    EXPECT_EQ(payload->reason, "llm_error");
    EXPECT_TRUE(payload->result.identical(failed));
    EXPECT_EQ(call("content", "(dict \"status\" \"FAILED\" \"content\" \"\")"),
              "TaskError: content: the result is FAILED (unexpected_error): the task failed");
}

} // namespace
} // namespace heddle::lang
