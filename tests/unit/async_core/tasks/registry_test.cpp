#include "tasks_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using ::testing::HasSubstr;

registered_task entry(std::string name, std::string subtype) {
    task_template declared;
    declared.name = std::move(name);
    declared.subtype = std::move(subtype);
    return {compile_task(std::move(declared)).value(), {}};
}

TEST(task_registry, finds_by_name_then_by_kind) {
    task_registry all;
    EXPECT_FALSE(all.add(entry("a", "standard")).name);
    EXPECT_TRUE(all.add(entry("b", "standard")).kind);
    EXPECT_FALSE(all.add(entry("atomic:other", "director")).kind);
    ASSERT_TRUE(all.find("a"));
    EXPECT_EQ(all.find("atomic:standard")->task->declared.name, "b");
    EXPECT_EQ(all.find("atomic:director")->task->declared.name, "atomic:other");
    EXPECT_FALSE(all.find("atomic:evaluator"));
    EXPECT_FALSE(all.find("c"));
    EXPECT_TRUE(all.add(entry("a", "director")).name);
    EXPECT_EQ(all.size(), 3U);
    EXPECT_EQ(all.find("a")->task->declared.subtype, "director");
    // The kind is not found under a name that has become another kind.
    EXPECT_TRUE(all.add(entry("b", "evaluator")).name);
    EXPECT_FALSE(all.find("atomic:standard"));
}

TEST(model_registry, resolves_names) {
    testing::scripted_llm first;
    testing::scripted_llm second;
    first.name = "openai";
    second.name = "ollama";
    model_registry models;
    EXPECT_FALSE(models.resolve("gpt", ""));
    models.add(first);
    models.add(second);
    EXPECT_EQ(models.resolve("gpt", "")->provider, &first);
    EXPECT_EQ(models.resolve("ollama:llama3:8b", "openai")->provider, &second);
    EXPECT_EQ(models.resolve("ollama:llama3:8b", "")->model, "llama3:8b");
    EXPECT_EQ(models.resolve("llama3:8b", "ollama")->model, "llama3:8b");
    EXPECT_FALSE(models.resolve("", ""));
    ASSERT_TRUE(models.set_default("ollama:tiny"));
    EXPECT_EQ(models.resolve("", "")->provider, &second);
    EXPECT_EQ(models.resolve("", "")->model, "tiny");
    const auto other = models.resolve("", "openai"); // the default model is another provider's
    ASSERT_FALSE(other);
    EXPECT_EQ(testing::reason_of(other.error()), "configuration_error");
    const auto unknown = models.resolve("m", "nobody");
    ASSERT_FALSE(unknown);
    EXPECT_THAT(unknown.error().info().hint, HasSubstr("openai, ollama"));
}

} // namespace
} // namespace heddle::tasks
