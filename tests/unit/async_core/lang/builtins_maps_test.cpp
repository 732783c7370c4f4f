#include <heddle/lang/errors.hpp>

#include "lang_fixture.hpp"

#include <string>

namespace heddle::lang {
namespace {

class builtins_maps : public lang_fixture {};

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

TEST_F(builtins_maps, merge_leaves_older_versions_as_they_were) {
    const value kept = data("(dict \"a\" 1)");
    EXPECT_EQ(call_with("merge", {kept, data("(dict \"a\" 2)")}), "(dict \"a\" 2)");
    EXPECT_EQ(print_value(kept), "(dict \"a\" 1)");
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
    native_call native(memory(), *row, work);
    value arguments[] = {failed};
    EXPECT_TRUE(row->run(native, std::span<value>(arguments)).is_nil());
    ASSERT_TRUE(native.failure().has_value());
    const auto* payload =
        dynamic_cast<const script_payload*>(native.failure()->info().payload.get());
    ASSERT_NE(payload, nullptr);
    EXPECT_EQ(payload->reason, "llm_error");
    EXPECT_TRUE(payload->result.identical(failed));
    EXPECT_EQ(call("content", "(dict \"status\" \"FAILED\" \"content\" \"\")"),
              "TaskError: content: the result is FAILED (unexpected_error): the task failed");
}

} // namespace
} // namespace heddle::lang
