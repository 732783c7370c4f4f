#include <heddle/providers/prices/price_table.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace heddle::testing {
namespace {

using ports::token_usage;
using providers::price_table;

token_usage used(std::int64_t input, std::int64_t output, std::int64_t cached = 0,
                 std::int64_t written = 0) {
    token_usage usage;
    usage.input = input;
    usage.output = output;
    usage.cached = cached;
    usage.cache_written = written;
    return usage;
}

price_table table_of(std::string_view models) {
    price_table table;
    const std::string text =
        R"({"providers": [{"names": ["p"], "models": {)" + std::string(models) + "}}]}";
    const auto added = table.add(text, "prices.json");
    EXPECT_TRUE(added) << added.error().message();
    return table;
}

std::string refusal_of(std::string_view text) {
    price_table table;
    const auto added = table.add(text, "mine.json");
    return added ? "" : added.error().message();
}

TEST(price_table, built_in_is_readable_and_dated) {
    const price_table prices = price_table::built_in();
    EXPECT_EQ(prices.figures_as_of().size(), 10U);
    EXPECT_NEAR(*prices.cost_usd("openai", "gpt-4o-mini", used(1'000'000, 100'000)), 0.21, 1e-9);
    EXPECT_NEAR(*prices.cost_usd("anthropic", "claude-sonnet-4-5-20250929", used(1'000, 1'000)),
                0.018, 1e-9);
    EXPECT_NEAR(*prices.cost_usd("gemini", "gemini-2.5-flash", used(1'000'000, 0)), 0.30, 1e-9);
}

TEST(price_table, local_models_cost_nothing) {
    const price_table prices = price_table::built_in();
    for (const char* provider : {"ollama", "scripted", "vllm", "llama.cpp"}) {
        EXPECT_EQ(prices.cost_usd(provider, "whatever:8b", used(1'000, 1'000)), 0.0);
    }
}

TEST(price_table, what_is_not_known_has_no_cost) {
    const price_table prices = price_table::built_in();
    EXPECT_FALSE(prices.cost_usd("openai", "gpt-99", used(1, 1)));
    EXPECT_FALSE(prices.cost_usd("somebody", "gpt-4o", used(1, 1)));
    // Not the same model because its name begins alike.
    EXPECT_FALSE(prices.cost_usd("openai", "gpt-4o-audio", used(1, 1)));
    EXPECT_FALSE(prices.cost_usd("openai", "gpt-4o-mini-search-preview", used(1, 1)));
    EXPECT_FALSE(prices.cost_usd("anthropic", "claude-opus-4-9", used(1, 1)));
    EXPECT_FALSE(prices.cost_usd("openai", "", used(1, 1)));
}

TEST(price_table, a_version_is_still_the_model) {
    const price_table prices = table_of(R"("m": {"input": 1, "output": 2},
        "m-4": {"input": 3, "output": 4}, "m-2024-05-13": {"input": 5, "output": 6})");
    for (const char* name : {"m", "m-20250514", "m-2024-08-06", "m-0613", "m-latest", "m-preview",
                             "m-001", "m-preview-05-20", "m@20250514", "m-exp-0827"}) {
        ASSERT_TRUE(prices.find("p", name)) << name;
        EXPECT_EQ(prices.find("p", name)->usual.input, 1) << name;
    }
    EXPECT_EQ(prices.find("p", "m-4-20250514")->usual.input, 3);
    EXPECT_EQ(prices.find("p", "m-2024-05-13")->usual.input, 5);
    for (const char* name : {"m-5", "m-41", "m-", "-0613", "m-large", "mm", "m-2024-x", "0613"}) {
        EXPECT_FALSE(prices.find("p", name)) << name;
    }
}

TEST(price_table, the_longest_prefix_counts_where_one_asked_for_it) {
    const price_table prices = table_of(R"("m*": {"input": 1, "output": 1},
        "m-large*": {"input": 2, "output": 1}, "m-large-x": {"input": 3, "output": 1})");
    EXPECT_EQ(prices.find("p", "m-small")->usual.input, 1);
    EXPECT_EQ(prices.find("p", "m-large-2")->usual.input, 2);
    EXPECT_EQ(prices.find("p", "m-large-x")->usual.input, 3);
    EXPECT_FALSE(prices.find("p", "n"));
}

TEST(price_table, kinds_of_tokens_have_their_prices) {
    const price_table prices = table_of(
        R"("m": {"input": 10, "cached_input": 1, "cache_write": 12, "output": 50},
           "n": {"input": 10, "output": 50})");
    // 100 plain, 600 cached, 300 written, 100 out
    EXPECT_NEAR(*prices.cost_usd("p", "m", used(1'000, 100, 600, 300)),
                (100 * 10 + 600 * 1 + 300 * 12 + 100 * 50) / 1e6, 1e-12);
    EXPECT_NEAR(*prices.cost_usd("p", "n", used(1'000, 100, 600, 300)),
                (1'000 * 10 + 100 * 50) / 1e6, 1e-12);
}

TEST(price_table, long_prompts_have_a_price_of_their_own) {
    const price_table prices = table_of(
        R"("m": {"input": 1, "output": 10, "long": {"above": 1000, "input": 2, "output": 20}})");
    EXPECT_NEAR(*prices.cost_usd("p", "m", used(1'000, 100)), 2'000 / 1e6, 1e-12);
    EXPECT_NEAR(*prices.cost_usd("p", "m", used(1'001, 100)), 4'002 / 1e6, 1e-12);
}

TEST(price_table, hostile_figures_yield_a_sane_cost) {
    const price_table prices = table_of(R"("m": {"input": 1, "cached_input": 1, "output": 1})");
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    for (const auto& usage : {used(most, most, most, most), used(least, least, least, least),
                              used(10, 0, most, most), used(least, most, most, least)}) {
        const auto cost = prices.cost_usd("p", "m", usage);
        ASSERT_TRUE(cost);
        EXPECT_GE(*cost, 0);
        EXPECT_LE(*cost, 3e6);
    }
}

TEST(price_table, files_of_the_user_go_first) {
    price_table prices = price_table::built_in();
    const auto added = prices.add(R"({"providers": [
        {"names": ["openai", "mine"], "models": {"gpt-4o": {"input": 1, "output": 1},
                                                 "ours*": {"input": 7, "output": 7}}},
        {"names": ["lab"], "free": true}]})",
                                  "mine.json");
    ASSERT_TRUE(added);
    EXPECT_EQ(prices.find("openai", "gpt-4o")->usual.input, 1);
    EXPECT_EQ(prices.find("openai", "gpt-4o-mini")->usual.input, 0.15);
    EXPECT_EQ(prices.find("mine", "ours-2")->usual.input, 7);
    EXPECT_EQ(prices.cost_usd("lab", "x", used(5, 5)), 0.0);
    EXPECT_FALSE(prices.figures_as_of().empty());
}

TEST(price_table, another_name_has_the_same_prices_unless_it_has_its_own) {
    price_table prices = table_of(R"("m": {"input": 1, "output": 1})");
    ASSERT_TRUE(prices.add(R"({"providers": [{"names": ["q"], "free": true}]})", "mine.json"));
    prices.price_as("office", "p");
    prices.price_as("q", "p");
    prices.price_as("other", "nobody");
    EXPECT_EQ(prices.find("office", "m")->usual.input, 1);
    EXPECT_EQ(prices.find("q", "m")->usual.input, 0);
    EXPECT_FALSE(prices.find("other", "m"));
}

TEST(price_table, errors_name_the_place) {
    EXPECT_EQ(refusal_of("[]"), "mine.json: must be an object with a list of providers");
    EXPECT_NE(refusal_of("{").find("mine.json: is not JSON"), std::string::npos);
    EXPECT_EQ(refusal_of(R"({"providers": [{"models": {}}]})"),
              "mine.json: providers[0].names must be a list of names of providers");
    EXPECT_EQ(refusal_of(R"({"providers": [{"names": ["p"], "models": {"m": {"input": 1}}}]})"),
              "mine.json: providers[0].models[\"m\"] lacks its input or its output");
    EXPECT_EQ(refusal_of(R"({"providers": [{"names": ["p"],
                  "models": {"m": {"input": -1, "output": 1}}}]})"),
              "mine.json: providers[0].models[\"m\"].input must be dollars for a million tokens, 0 "
              "or more");
    EXPECT_NE(refusal_of(R"({"providers": [{"names": ["p"],
                  "models": {"m": {"input": 1, "output": 1, "cost": 1}}}]})")
                  .find("cost is not known"),
              std::string::npos);
    EXPECT_NE(refusal_of(R"({"providers": [], "date": 1})").find("date is not known"),
              std::string::npos);
    EXPECT_NE(refusal_of(R"({"providers": [{"names": ["p"], "models": {"m": {"input": 1,
                  "output": 1, "long": {"input": 1, "output": 1}}}}]})")
                  .find("above"),
              std::string::npos);
    EXPECT_NE(refusal_of(std::string(200, '[')).find("is not JSON"), std::string::npos);
    EXPECT_NE(refusal_of(std::string(5 * 1024 * 1024, ' ')).find("larger"), std::string::npos);
}

} // namespace
} // namespace heddle::testing
