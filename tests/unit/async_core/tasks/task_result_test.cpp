// Task results as inputs (docs/spec/runtime.md §6).
#include <heddle/tasks/output/task_result.hpp>

#include <heddle/lang/heap.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace heddle::tasks {
namespace {

lang::value result_with(lang::heap& memory, std::string_view status, std::string_view content) {
    lang::value result = lang::value::empty_map();
    result = lang::map_put(memory, std::move(result), "status", lang::make_string(memory, status));
    result =
        lang::map_put(memory, std::move(result), "content", lang::make_string(memory, content));
    return lang::map_put(memory, std::move(result), "notes", lang::value::empty_map());
}

TEST(task_result, is_replaced_wherever_it_is) {
    const lang::heap_owner memory(lang::heap::create());
    const lang::value one = result_with(*memory, "COMPLETE", "a");
    const std::vector<lang::value> pair{one, lang::value::integer(1)};
    const lang::value inner = lang::make_list(*memory, pair);
    const std::vector<lang::value> twice{inner, inner, one};
    const auto plain = without_results(*memory, lang::make_list(*memory, twice));
    ASSERT_TRUE(plain);
    EXPECT_EQ(lang::print_value(*plain), "((\"a\" 1) (\"a\" 1) \"a\")");
}

TEST(task_result, is_looked_for_once_in_parts_that_are_shared) {
    const lang::heap_owner memory(lang::heap::create());
    const std::vector<lang::value> first{lang::value::integer(1)};
    lang::value shared = lang::make_list(*memory, first);
    for (int level = 0; level < 7; ++level) { // 100,000,000,000,000 places
        const std::vector<lang::value> places(100, shared);
        shared = lang::make_list(*memory, places);
    }
    const auto plain = without_results(*memory, shared);
    ASSERT_TRUE(plain);
    EXPECT_TRUE(plain->identical(shared));

    lang::value held = result_with(*memory, "COMPLETE", "a");
    for (int level = 0; level < 7; ++level) {
        const std::vector<lang::value> places(100, held);
        held = lang::make_list(*memory, places);
    }
    const auto replaced = without_results(*memory, held);
    ASSERT_TRUE(replaced);
    EXPECT_FALSE(replaced->identical(held));
}

TEST(task_result, that_failed_is_its_error) {
    const lang::heap_owner memory(lang::heap::create());
    const std::vector<lang::value> held{result_with(*memory, "FAILED", "")};
    const auto plain = without_results(*memory, lang::make_list(*memory, held));
    ASSERT_FALSE(plain);
}

} // namespace
} // namespace heddle::tasks
