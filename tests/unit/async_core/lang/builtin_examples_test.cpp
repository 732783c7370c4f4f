// The example of every builtin, form and library function is run: the left side must equal the
// right side.
#include "lang_harness.hpp"

#include "lang/compile/special_form.hpp"

#include <heddle/lang/builtin.hpp>
#include <heddle/lang/check.hpp>
#include <heddle/lang/help.hpp>
#include <heddle/lang/printer.hpp>

#include <gtest/gtest.h>

namespace heddle::lang::testing {
namespace {

/// The errors that a check finds.
std::string errors_in(const std::string& program) {
    lang_harness apart;
    const std::uint32_t position = apart.harness.sources().add("example", program);
    std::string found;
    for (const problem& each : check_program(apart.harness, program, position)) {
        if (each.level == severity::error) found += each.message + "\n";
    }
    return found;
}

/// Returns how many there were.
std::size_t run_examples(std::string_view name, const std::vector<std::string>& examples) {
    for (const std::string& example : examples) {
        const std::size_t arrow = example.rfind(" => ");
        if (arrow == std::string::npos) {
            ADD_FAILURE() << name << ": " << example;
            continue;
        }
        lang_harness harness;
        const std::string left = example.substr(0, arrow);
        const std::string right = example.substr(arrow + 4);
        EXPECT_EQ(errors_in(left), "") << name << ": " << left;
        EXPECT_EQ(harness.shown("(eq? " + left + " " + right + ")"), "true")
            << name << ": " << left << " returns " << harness.shown(left);
    }
    return examples.size();
}

TEST(builtin_examples, all_hold) {
    std::size_t count = 0;
    for (const auto family : builtin_families()) {
        for (const builtin& row : family)
            count += run_examples(row.name, split_examples(row.example));
    }
    EXPECT_GT(count, 80U);
}

TEST(form_examples, all_hold) {
    std::size_t count = 0;
    for (const special_form& row : documented_forms())
        count += run_examples(row.name, split_examples(row.example));
    EXPECT_GT(count, 30U);
}

TEST(library_examples, all_hold_and_every_function_has_one) {
    lang_harness harness;
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < harness.harness.global_count(); ++i) {
        const std::string name(harness.harness.global_name(i));
        if (!harness.harness.is_prelude_global(i) || name.front() == '%') continue;
        const auto entry = describe(harness.harness, name, help_reach::language);
        ASSERT_TRUE(entry) << name;
        EXPECT_FALSE(entry->summary.empty()) << name;
        EXPECT_FALSE(entry->examples.empty()) << name;
        count += run_examples(name, entry->examples);
    }
    EXPECT_GE(count, 11U);
}

} // namespace
} // namespace heddle::lang::testing
