// The standard library as a whole: every module reads, compiles and loads, keeps to the rules that
// docs/library/README.md has, and every example in a docstring holds.
#include "lang/stdlib/stdlib_sources.hpp"
#include "lang_harness.hpp"

#include <heddle/lang/builtin.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/text.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace heddle::lang::testing {
namespace {

struct definition {
    std::string module;
    std::string name;
    std::string docstring;
    value body; ///< a list: all that follows the head
};

bool headed(const value& form, std::string_view name) {
    return form.is(kind::list) && form.length() >= 2 && list_items(form)[0].is(kind::symbol) &&
           symbol_name(list_items(form)[0]) == name;
}

std::vector<definition> definitions(lang_harness& harness) {
    std::vector<definition> found;
    for (const library_source& source : stdlib_sources()) {
        auto forms = read_all(harness.harness.memory(), source.text);
        EXPECT_TRUE(forms) << source.name << ": " << (forms ? "" : forms.error().message());
        if (!forms) continue;
        for (const datum& each : *forms) {
            if (!headed(each.content, "define")) continue;
            const auto parts = list_items(each.content);
            definition& one = found.emplace_back();
            one.module = source.name;
            const value& name = parts[1].is(kind::list) ? list_items(parts[1])[0] : parts[1];
            one.name = symbol_name(name);
            one.body = make_list(harness.harness.memory(), parts.subspan(2));
            if (parts.size() > 3 && parts[2].is(kind::string)) {
                one.docstring = string_bytes(parts[2]);
            }
        }
    }
    return found;
}

bool is_private(const definition& one) { return one.name.starts_with("%" + one.module + "/"); }

void collect_symbols(const value& form, std::set<std::string>& names) {
    if (form.is(kind::symbol)) names.emplace(symbol_name(form));
    if (!form.is(kind::list)) return;
    for (const value& part : list_items(form)) collect_symbols(part, names);
}

class module : public ::testing::TestWithParam<library_source> {};

TEST_P(module, reads_compiles_and_loads) {
    lang_harness harness;
    const outcome loaded = harness.run("(import std/" + std::string(GetParam().name) + ")");
    EXPECT_EQ(loaded.kind, outcome_kind::done)
        << (loaded.failure ? loaded.failure->message() : "not done");
}

TEST_P(module, examples_of_its_docstrings_hold) {
    lang_harness harness;
    harness.run("(import std/" + std::string(GetParam().name) + ")");
    std::size_t count = 0;
    for (const definition& one : definitions(harness)) {
        if (one.module != GetParam().name) continue;
        std::istringstream lines(one.docstring);
        for (std::string line; std::getline(lines, line);) {
            const std::size_t arrow = line.find(" => ");
            if (arrow == std::string::npos) continue;
            const std::string left = line.substr(0, arrow);
            const std::string right = line.substr(arrow + 4);
            EXPECT_EQ(harness.shown("(eq? " + left + " " + right + ")"), "true")
                << one.name << ": " << left << " returns " << harness.shown(left);
            ++count;
        }
    }
    EXPECT_GT(count, 0U);
}

std::string name_of_module(const ::testing::TestParamInfo<library_source>& given) {
    std::string name(given.param.name);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(stdlib, module,
                         ::testing::ValuesIn(stdlib_sources().begin(), stdlib_sources().end()),
                         name_of_module);

TEST(stdlib, public_functions_are_documented) {
    lang_harness harness;
    for (const definition& one : definitions(harness)) {
        if (is_private(one)) continue;
        EXPECT_NE(one.name.front(), '%') << one.module << ": a helper is named %module/name";
        const std::string summary = one.docstring.substr(0, one.docstring.find('.'));
        EXPECT_FALSE(summary.empty()) << one.module << ": " << one.name << " has no docstring";
        EXPECT_NE(one.docstring.find('.'), std::string::npos) << one.name;
    }
}

TEST(stdlib, names_are_given_once_and_hide_no_builtin) {
    lang_harness harness;
    std::map<std::string, std::string> owners;
    for (const definition& one : definitions(harness)) {
        const auto [at, fresh] = owners.emplace(one.name, one.module);
        EXPECT_TRUE(fresh) << one.name << " is in " << at->second << " and in " << one.module;
        EXPECT_EQ(find_builtin(one.name), nullptr) << one.name;
        EXPECT_FALSE(harness.harness.find_global(one.name)) << one.name << " is in the prelude";
    }
    EXPECT_GT(owners.size(), 10U);
}

// A program may give a name such as `lines` to something of its own: the library must not notice.
TEST(stdlib, modules_rely_on_no_name_that_a_program_may_take) {
    lang_harness harness;
    const auto all = definitions(harness);
    std::set<std::string> open;
    for (const definition& one : all) {
        if (!is_private(one)) open.insert(one.name);
    }
    for (const definition& one : all) {
        std::set<std::string> used;
        collect_symbols(one.body, used);
        for (const std::string& name : used) {
            EXPECT_FALSE(open.contains(name)) << one.module << ": " << one.name << " uses " << name;
        }
    }
}

} // namespace
} // namespace heddle::lang::testing
