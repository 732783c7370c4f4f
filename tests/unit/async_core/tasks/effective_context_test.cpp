#include <heddle/tasks/definition/compiled_task.hpp>
#include <heddle/tasks/definition/effective_context.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <sstream>

namespace heddle::tasks {
namespace {

using ::testing::HasSubstr;

/// "f+" as inherit_context full, fresh_context enabled; "." sets neither.
[[nodiscard]] context_management layer_of(std::string_view text) {
    context_management management;
    if (text[0] == 'f') management.inherit_context = inherit_mode::full;
    if (text[0] == 's') management.inherit_context = inherit_mode::subset;
    if (text[0] == 'n') management.inherit_context = inherit_mode::none;
    if (text[1] != '.') management.fresh_context = text[1] == '+';
    return management;
}

[[nodiscard]] std::string shown(const result<effective_context>& outcome) {
    if (!outcome) return "xx";
    return std::string(1, to_string(outcome->inherit_context)[0]) +
           (outcome->fresh_context ? "+" : "-");
}

struct row {
    const char* of_task;
    const char* results; ///< one for each layer of the call, in the order of `layers`
};

constexpr std::array<const char*, 12> layers{"..", ".-", ".+", "f.", "f-", "f+",
                                             "s.", "s-", "s+", "n.", "n-", "n+"};

/// The preset is full and no look-up.
constexpr std::array<row, 12> over_full{{
    {"..", "f- f- n+ f- f- xx s- s- xx n- n- n+"},
    {".-", "f- f- n+ f- f- xx s- s- xx n- n- n+"},
    {".+", "n+ f- n+ f- f- xx s- s- xx n+ n- n+"},
    {"f.", "f- f- n+ f- f- xx s- s- xx n- n- n+"},
    {"f-", "f- f- n+ f- f- xx s- s- xx n- n- n+"},
    {"f+", "xx xx xx xx xx xx xx xx xx xx xx xx"},
    {"s.", "s- s- n+ f- f- xx s- s- xx n- n- n+"},
    {"s-", "s- s- n+ f- f- xx s- s- xx n- n- n+"},
    {"s+", "xx xx xx xx xx xx xx xx xx xx xx xx"},
    {"n.", "n- n- n+ f- f- xx s- s- xx n- n- n+"},
    {"n-", "n- n- n+ f- f- xx s- s- xx n- n- n+"},
    {"n+", "n+ n- n+ f- f- xx s- s- xx n+ n- n+"},
}};

/// The preset is subset with a look-up.
constexpr std::array<row, 12> over_subset{{
    {"..", "s+ s- s+ f- f- xx s+ s- s+ n+ n- n+"},
    {".-", "s- s- s+ f- f- xx s- s- s+ n- n- n+"},
    {".+", "s+ s- s+ f- f- xx s+ s- s+ n+ n- n+"},
    {"f.", "f- f- n+ f- f- xx s+ s- s+ n+ n- n+"},
    {"f-", "f- f- n+ f- f- xx s- s- s+ n- n- n+"},
    {"f+", "xx xx xx xx xx xx xx xx xx xx xx xx"},
    {"s.", "s+ s- s+ f- f- xx s+ s- s+ n+ n- n+"},
    {"s-", "s- s- s+ f- f- xx s- s- s+ n- n- n+"},
    {"s+", "s+ s- s+ f- f- xx s+ s- s+ n+ n- n+"},
    {"n.", "n+ n- n+ f- f- xx s+ s- s+ n+ n- n+"},
    {"n-", "n- n- n+ f- f- xx s- s- s+ n- n- n+"},
    {"n+", "n+ n- n+ f- f- xx s+ s- s+ n+ n- n+"},
}};

void holds(std::string_view subtype, const std::array<row, 12>& table) {
    for (const row& one : table) {
        std::istringstream expected(one.results);
        for (const char* of_call : layers) {
            std::string wanted;
            expected >> wanted;
            EXPECT_EQ(shown(merge_context(subtype, layer_of(one.of_task), layer_of(of_call))),
                      wanted)
                << subtype << ": task " << one.of_task << ", call " << of_call;
        }
    }
}

TEST(context_preset, is_that_of_the_subtype) {
    for (const char* subtype : {"standard", "director", "evaluator", "", "anything"}) {
        EXPECT_EQ(context_preset(subtype),
                  (effective_context{inherit_mode::full, false, accumulation::notes_only, false}))
            << subtype;
    }
    for (const char* subtype : {"subtask", "aider_automatic"}) {
        EXPECT_EQ(context_preset(subtype),
                  (effective_context{inherit_mode::subset, false, accumulation::notes_only, true}))
            << subtype;
    }
    EXPECT_EQ(context_preset("aider_interactive"),
              (effective_context{inherit_mode::subset, true, accumulation::notes_only, true}));
}

TEST(merge_context, the_weaker_of_two_that_exclude_each_other_yields) {
    for (const char* subtype : {"standard", "director", "evaluator", "anything"}) {
        holds(subtype, over_full);
    }
    for (const char* subtype : {"subtask", "aider_automatic", "aider_interactive"}) {
        holds(subtype, over_subset);
    }
}

TEST(merge_context, the_last_layer_that_sets_it_holds) {
    for (const int of_task : {-1, 0, 1}) {
        for (const int of_call : {-1, 0, 1}) {
            context_management task;
            context_management call;
            if (of_task >= 0) {
                task.accumulate_data = of_task == 1;
                task.accumulation_format =
                    of_task == 1 ? accumulation::full_output : accumulation::notes_only;
            }
            if (of_call >= 0) {
                call.accumulate_data = of_call == 1;
                call.accumulation_format =
                    of_call == 1 ? accumulation::full_output : accumulation::notes_only;
            }
            const int last = of_call >= 0 ? of_call : of_task;
            const auto result = merge_context("aider_interactive", task, call);
            ASSERT_TRUE(result);
            EXPECT_EQ(result->accumulate_data, last != 0); // its preset is true
            EXPECT_EQ(result->accumulation_format == accumulation::full_output, last == 1);
            EXPECT_EQ(merge_context("standard", task, call)->accumulate_data, last == 1);
        }
    }
}

TEST(merge_context, a_refusal_names_both_and_a_way_out) {
    const auto result = merge_context("standard", {}, layer_of("s+"));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message(),
              "fresh_context \"enabled\" excludes inherit_context \"subset\"");
    EXPECT_THAT(result.error().info().hint, HasSubstr("\"none\""));
}

TEST(compile_task, refuses_context_settings_that_exclude_each_other) {
    task_template declared;
    declared.name = "t";
    declared.context = layer_of("s+");
    const auto refused = compile_task(declared);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("task t: context_management"));
    declared.subtype = "aider_automatic";
    EXPECT_TRUE(compile_task(declared));
}

TEST(context_words, are_those_of_the_values) {
    EXPECT_EQ(to_string(inherit_mode::full), "full");
    EXPECT_EQ(to_string(inherit_mode::subset), "subset");
    EXPECT_EQ(to_string(inherit_mode::none), "none");
    EXPECT_EQ(to_string(accumulation::notes_only), "notes_only");
    EXPECT_EQ(to_string(accumulation::full_output), "full_output");
}

} // namespace
} // namespace heddle::tasks
