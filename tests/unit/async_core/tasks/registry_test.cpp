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
    // A provider that is named keeps its models: ollama is not asked.
    EXPECT_EQ(models.resolve("ollama:llama3:8b", "openai")->provider, &first);
    EXPECT_EQ(models.resolve("ollama:llama3:8b", "openai")->model, "ollama:llama3:8b");
    EXPECT_EQ(models.resolve("ollama:llama3:8b", "ollama")->model, "llama3:8b");
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

// It was sent to the default provider, with its key.
TEST(model_registry, misspelt_service_is_no_model_of_another_one) {
    testing::scripted_llm first;
    testing::scripted_llm second;
    first.name = "openai";
    second.name = "mistral";
    model_registry models;
    models.add(first);
    models.add(second);
    EXPECT_EQ(models.resolve("opanai:x", "")->model, "opanai:x"); // nothing is known of its names
    models.set_names_with_colon("openai", {{"ft"}});
    const auto misspelt = models.resolve("opanai:x", "");
    ASSERT_FALSE(misspelt);
    EXPECT_EQ(testing::reason_of(misspelt.error()), "configuration_error");
    EXPECT_EQ(misspelt.error().message(), "there is no model provider 'opanai'");
    EXPECT_EQ(misspelt.error().info().hint,
              "did you mean 'openai'? configured: openai, mistral; a model whose name contains a "
              "colon is written openai:opanai:x");
    EXPECT_FALSE(models.set_default("opanai:x"));
    EXPECT_FALSE(models.resolve("groq:x", ""));
    models.set_alias("fast", "opanai:x");
    EXPECT_FALSE(models.resolve("fast", ""));
    EXPECT_EQ(models.resolve("openai:opanai:x", "")->model, "opanai:x");
    EXPECT_EQ(models.resolve("opanai:x", "openai")->model, "opanai:x");
    EXPECT_EQ(models.resolve("ft:gpt-4o:me::1", "")->model, "ft:gpt-4o:me::1");
    EXPECT_EQ(models.resolve("meta/llama:free", "")->model, "meta/llama:free");
    models.set_names_with_colon("openai", {{}, true});
    EXPECT_EQ(models.resolve("llama3:8b", "")->model, "llama3:8b");
    EXPECT_EQ(models.resolve("qwen:7b", "")->provider, &first);
    EXPECT_FALSE(models.resolve("opanai:x", ""));
    EXPECT_FALSE(models.resolve("mixtral:8x7b", "")); // too close to 'mistral'
}

TEST(model_registry, aliases_and_routes_are_names_for_models) {
    testing::scripted_llm first;
    testing::scripted_llm second;
    testing::scripted_llm route;
    first.name = "openai";
    second.name = "ollama";
    route.name = "smart";
    model_registry models;
    models.add(first);
    models.add(second);
    models.set_alias("fast", "small");
    models.set_alias("small", "ollama:llama3:8b");
    models.add_route("smart", route, {{"a", "gpt-x"}, {"b", "gpt-y"}});
    EXPECT_EQ(models.resolve("fast", "")->provider, &second);
    EXPECT_EQ(models.resolve("fast", "")->model, "llama3:8b");
    EXPECT_EQ(models.resolve("fast", "openai")->model, "fast"); // that provider's own name
    EXPECT_EQ(models.resolve("smart", "")->provider, &route);
    EXPECT_EQ(models.resolve("smart", "")->model, "gpt-x");
    ASSERT_TRUE(models.set_default("fast"));
    EXPECT_EQ(models.resolve("", "")->provider, &second);
    EXPECT_EQ(models.resolve("", "ollama")->model, "llama3:8b");
    ASSERT_TRUE(models.set_default("smart"));
    EXPECT_EQ(models.resolve("", "")->provider, &route);
    EXPECT_FALSE(models.resolve("", "ollama")); // a route is not a model of a provider
    models.set_alias("best", "smart");
    EXPECT_EQ(models.resolve("best", "")->provider, &route);
}

TEST(model_registry, aliases_that_lead_in_a_circle_are_an_error) {
    testing::scripted_llm only;
    model_registry models;
    models.add(only);
    models.set_alias("a", "b");
    models.set_alias("b", "a");
    const auto wrong = models.resolve("a", "");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(testing::reason_of(wrong.error()), "configuration_error");
    EXPECT_THAT(wrong.error().message(), HasSubstr("'a' leads back to itself"));
    EXPECT_FALSE(models.set_default("b"));
}

TEST(model_registry, models_that_nobody_is_known_to_have_are_reported) {
    testing::scripted_llm first;
    testing::scripted_llm second;
    testing::scripted_llm any;
    first.name = "openai";
    second.name = "anthropic";
    any.name = "local";
    model_registry models;
    for (auto* each : {&first, &second, &any}) models.add(*each);
    models.accept_only("openai", {{"gpt-"}, {"o3"}});
    models.accept_only("anthropic", {{"claude-"}, {}});
    EXPECT_FALSE(models.doubt_about("gpt-4o", ""));
    EXPECT_FALSE(models.doubt_about("o3", "openai"));
    EXPECT_FALSE(models.doubt_about("whatever", "local"));
    EXPECT_EQ(models.doubt_about("o3-x", ""),
              "provider 'openai' is not known to have a model 'o3-x'");
    EXPECT_EQ(models.doubt_about("claude-y", ""),
              "provider 'openai' is not known to have a model 'claude-y'; 'anthropic:claude-y' may "
              "be meant");
    EXPECT_THAT(models.doubt_about("m", "nobody").value_or(""), HasSubstr("nobody"));
    EXPECT_TRUE(models.resolve("o3-x", "")); // a warning only
    models.set_strict(true);
    const auto refused = models.resolve("o3-x", "");
    ASSERT_FALSE(refused);
    EXPECT_EQ(testing::reason_of(refused.error()), "configuration_error");
    EXPECT_TRUE(models.resolve("gpt-4o", ""));
}

} // namespace
} // namespace heddle::tasks
