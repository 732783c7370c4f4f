// Whatever is in the table of settings is read, checked, inherited and shown.
#include "tasks/call/call_overrides.hpp"
#include "tasks_testing.hpp"

#include <heddle/tasks/definition/field_values.hpp>
#include <heddle/tasks/definition/template_validation.hpp>
#include <heddle/tasks/template_files/template_loader.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace heddle::tasks {
namespace {

using ::testing::HasSubstr;
using testing::reading;
using shape = field_shape;

/// A value of a field as it is written, and what it becomes.
struct sample {
    std::string clause;
    std::string element;
    field_value content;
};

[[nodiscard]] sample sample_of(const task_field& field) {
    switch (field.member.shape) {
    case shape::number:
    case shape::seconds: return {"0.5", "0.5", 0.5};
    case shape::whole: return {"7", "7", std::int64_t{7}};
    case shape::flag: return {"true", "true", true};
    case shape::choice: {
        const std::string word(field.words.back());
        return {word, word, field_word{field.words.size() - 1}};
    }
    case shape::names: return {"(a b)", "a, b", std::vector<std::string>{"a", "b"}};
    default: return {"\"string\"", "string", std::string("string")};
    }
}

[[nodiscard]] std::vector<const task_field*> plain_fields() {
    std::vector<const task_field*> fields;
    for (const task_field& field : task_fields()) {
        if (field.member.of_template) fields.push_back(&field);
    }
    return fields;
}

[[nodiscard]] std::string clause_with(const task_field& field, std::string_view name,
                                      const std::string& content) {
    const std::string own = "(" + std::string(name) + " " + content + ")";
    return field.group.empty() ? own : "(" + std::string(field.group) + " (" + own + "))";
}

[[nodiscard]] std::string definition_with(const std::string& clause) {
    return "(defatom t (params)" +
           std::string(clause.starts_with("(instructions ") ? "" : " (instructions \"x\")") +
           clause + ")";
}

[[nodiscard]] std::string file_with(const task_field& field, const std::string& content) {
    const auto element = [](std::string_view name, const std::string& inside) {
        return "<" + std::string(name) + ">" + inside + "</" + std::string(name) + ">";
    };
    const std::string own = element(field.name, content);
    return "<task name='t' type='atomic'>" +
           (field.name == "description" ? "" : element("description", "x")) +
           (field.group.empty() ? own : element(field.group, own)) + "</task>";
}

[[nodiscard]] task_template template_with(const task_field& field) {
    task_template declared;
    declared.name = "t";
    store(field.member.of_template(declared), sample_of(field).content);
    return declared;
}

TEST(task_fields, are_clauses_of_a_definition) {
    for (const task_field* field : plain_fields()) {
        if (!field->in_definitions) continue;
        SCOPED_TRACE(field->name);
        const sample written = sample_of(*field);
        std::string hyphens(field->name);
        std::replace(hyphens.begin(), hyphens.end(), '_', '-');
        for (const std::string& name : {std::string(field->name), hyphens}) {
            reading text;
            const auto parsed = parse_defatom(
                text.form(definition_with(clause_with(*field, name, written.clause))), {});
            ASSERT_TRUE(parsed) << parsed.error().message();
            EXPECT_EQ(value_of(*field, *parsed), written.content);
        }
    }
}

TEST(task_fields, are_elements_of_a_file) {
    for (const task_field* field : plain_fields()) {
        if (!field->in_files) continue;
        SCOPED_TRACE(field->name);
        const sample written = sample_of(*field);
        template_loader loader;
        loader.add("t.xml", file_with(*field, written.element));
        const auto loaded = std::move(loader).finish();
        ASSERT_TRUE(loaded.good()) << loaded.report->text();
        EXPECT_EQ(value_of(*field, loaded.templates.at(0)), written.content);
    }
}

TEST(task_fields, of_calls_are_reserved_and_read) {
    for (const task_field* field : plain_fields()) {
        const task_field* owner = field->group.empty() ? field : find_clause({}, field->group);
        for (const std::string_view name : owner->in_calls) {
            if (name.empty()) continue;
            SCOPED_TRACE(name);
            EXPECT_TRUE(is_reserved_call_key(name));
            const sample written = sample_of(*field);
            reading text;
            const std::string content =
                owner == field ? written.clause
                               : "((" + std::string(field->name) + " " + written.clause + "))";
            call_overrides overrides;
            task_template called;
            called.name = "t";
            const auto done = set_override(overrides, called, name, text.form(content), {});
            ASSERT_TRUE(done) << done.error().message();
            task_template seen;
            static_cast<task_settings&>(seen) = overrides;
            EXPECT_EQ(value_of(*field, seen), written.content);
        }
    }
    EXPECT_TRUE(is_reserved_call_key("max-output-tokens"));
    EXPECT_FALSE(is_reserved_call_key("context_management"));
    EXPECT_FALSE(is_reserved_call_key("system"));
}

TEST(task_fields, are_inherited_by_ref) {
    for (const task_field* field : plain_fields()) {
        SCOPED_TRACE(field->name);
        const task_template base = template_with(*field);
        task_template open;
        fill_absent(open, base);
        EXPECT_EQ(value_of(*field, open), sample_of(*field).content);
    }
    task_template own;
    own.context.inherit_context = inherit_mode::full;
    own.subtype = "director";
    task_template base;
    base.context.fresh_context = true;
    base.context.accumulate_data = true;
    base.subtype = "subtask";
    fill_absent(own, base);
    EXPECT_FALSE(own.context.fresh_context) << "half of a pair";
    EXPECT_EQ(own.context.accumulate_data, true);
    task_template other_half;
    other_half.context.fresh_context = false;
    base.context.inherit_context = inherit_mode::none;
    fill_absent(other_half, base);
    EXPECT_FALSE(other_half.context.inherit_context) << "half of a pair";
    EXPECT_EQ(own.subtype, "director");
}

TEST(task_fields, keep_their_range_wherever_they_are_written) {
    for (const task_field* field : plain_fields()) {
        if (!has_range(*field)) continue;
        SCOPED_TRACE(field->name);
        const std::string expected = "must be " + expected_of(*field);
        reading text;
        const auto defined =
            parse_defatom(text.form(definition_with(clause_with(*field, field->name, "-1"))), {});
        ASSERT_FALSE(defined);
        EXPECT_THAT(defined.error().message(), HasSubstr(expected + ", not -1"));
        template_loader loader;
        loader.add("t.xml", file_with(*field, "-1"));
        EXPECT_THAT(std::move(loader).finish().report->text(),
                    HasSubstr("<" + std::string(field->name) + "> " + expected + ", not \"-1\""));
        task_template declared;
        declared.name = "t";
        const bool whole = field->member.shape == shape::whole;
        store(field->member.of_template(declared),
              whole ? field_value(std::int64_t{2'000'000'000}) : field_value(-1.0));
        const auto violations = validate_template(declared);
        ASSERT_EQ(violations.size(), 1U);
        EXPECT_THAT(violation_text(violations[0]), HasSubstr(expected));
    }
}

TEST(task_fields, a_clause_that_is_unknown_is_compared_with_all) {
    const auto hint = [](const std::string& clause) {
        reading text;
        const auto parsed = parse_defatom(text.form(definition_with(clause)), {});
        return parsed ? std::string("none") : parsed.error().info().hint;
    };
    EXPECT_EQ(hint("(temprature 1)"), "did you mean 'temperature'?");
    EXPECT_EQ(hint("(reasoning-efort \"low\")"), "did you mean 'reasoning-effort'?");
    EXPECT_EQ(hint("(resource_limits ((max_turn 1)))"), "did you mean 'max_turns'?");
    EXPECT_EQ(hint("(max_turns 3)"),
              "write it inside resource_limits: (resource_limits ((max_turns …)))");
    EXPECT_EQ(hint("(inherit-context full)"),
              "write it inside context_management: (context_management ((inherit_context …)))");
    EXPECT_EQ(hint("(use_session_history true)"),
              "write it inside history_config: (history_config ((use_session_history …)))");
    EXPECT_EQ(hint("(resource_limits ((timeout 3)))"), "write (timeout …) as a clause of the task");
    EXPECT_EQ(hint("(context_management ((inherit_context ful)))"), "did you mean 'full'?");
    EXPECT_EQ(hint("(history_config ((zzz 1)))"),
              "settings: use_session_history, history_turns_to_include, "
              "record_in_session_history");
    EXPECT_THAT(hint("(zzzzzz 1)"),
                HasSubstr("clauses: params, instructions, description, system"));
    EXPECT_THAT(hint("(zzzzzz 1)"), HasSubstr(", max-tokens, top-p, seed"));
    EXPECT_EQ(hint("(system \"Say \" hi \" to\")"), "write \\\" for a quote inside a string");
}

TEST(task_fields, of_one_word_are_not_empty) {
    for (const task_field* field : plain_fields()) {
        if (field->member.shape != shape::word || !field->in_definitions) continue;
        SCOPED_TRACE(field->name);
        reading text;
        const auto parsed =
            parse_defatom(text.form(definition_with(clause_with(*field, field->name, "\"\""))), {});
        ASSERT_FALSE(parsed);
        EXPECT_THAT(parsed.error().message(), HasSubstr("must be a non-empty string, not \"\""));
    }
}

TEST(task_fields, nil_sets_nothing_in_every_group) {
    reading text;
    const auto parsed = parse_defatom(
        text.form(definition_with(
            "(resource_limits ((max_turns nil) (max-cost-usd 2))) (context_assembly nil)")),
        {});
    ASSERT_TRUE(parsed) << parsed.error().message();
    EXPECT_FALSE(parsed->limits.max_turns);
    EXPECT_EQ(parsed->limits.max_cost_usd, 2);
}

} // namespace
} // namespace heddle::tasks
