#include "lang_fixture.hpp"

#include <string>
#include <vector>

namespace heddle::lang {
namespace {

class builtins_lists : public lang_fixture {};

TEST_F(builtins_lists, append_in_a_loop_is_linear_and_keeps_older_versions) {
    const builtin* row = find_builtin("append");
    value list = value::empty_list();
    value early;
    for (int i = 0; i < 300'000; ++i) {
        const value item = value::integer(i);
        value arguments[] = {std::move(list), make_list(memory(), std::span(&item, 1))};
        free_work work;
        native_call call(memory(), *row, work);
        list = row->run(call, std::span<value>(arguments));
        if (i == 2) early = list;
    }
    EXPECT_EQ(list.length(), 300'000U);
    EXPECT_EQ(print_value(early), "(0 1 2)");
}

TEST_F(builtins_lists, a_range_keeps_to_the_memory_limit) {
    memory().set_limit(memory().used() + 1'000'000);
    EXPECT_TRUE(call("range", "1000000").starts_with("LimitError"));
    memory().set_limit(SIZE_MAX);
}

TEST_F(builtins_lists, flatten_takes_any_depth_and_keeps_to_the_memory_limit) {
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
    native_call call(memory(), *row, work);
    EXPECT_EQ(row->run(call, std::span<value>(arguments)).length(), 50'000U);
}

} // namespace
} // namespace heddle::lang
