#include "function_harness.hpp"

#include <vector>

namespace heddle {
namespace {

using function_samples::customer;

TEST(function_definition, has_the_schema_that_models_read) {
    const auto search = make_function(
        "search", "Searches.", {{"text", "What to look for"}, {"limit"}, {"from"}},
        [](const std::string&, std::optional<std::int64_t>, std::optional<customer>) { return 1; });
    EXPECT_EQ(search.schema(), json::parse(R"({"type": "object",
                  "properties": {
                      "text": {"type": "string", "description": "What to look for"},
                      "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                      "from": {"anyOf": [
                          {"type": "object",
                           "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
                           "required": ["id", "name"], "additionalProperties": false},
                          {"type": "null"}]}},
                  "required": ["text"], "additionalProperties": false})")
                                   .value())
        << search.schema().to_string(2);
    EXPECT_EQ(make_function("now", "", [] {}).schema().to_string(),
              R"({"type":"object","properties":{},"required":[],"additionalProperties":false})");
}

TEST(function_definition, binds_arguments_by_name) {
    const auto search = make_function("search", "", {"text", "limit"},
                                      [](const std::string&, std::optional<int>) {});
    EXPECT_EQ(search.by_name({{"limit", 2}, {"text", "a"}}).value(), (json::array{"a", 2}));
    EXPECT_EQ(search.by_name({{"text", "a"}}).value(), (json::array{"a", nullptr}));
    EXPECT_EQ(search.by_name({{"limit", 2}}).error().message(),
              "search: the argument 'text' is missing");
    const auto unknown = search.by_name({{"text", "a"}, {"limti", 2}});
    EXPECT_EQ(unknown.error().message(), "search: there is no parameter \"limti\"");
    EXPECT_EQ(unknown.error().info().hint, "did you mean 'limit'?");
}

TEST(function_definition, binds_arguments_by_position) {
    const auto search = make_function("search", "", {"text", "limit"},
                                      [](const std::string&, std::optional<int>) {});
    EXPECT_EQ(search.by_position({"a"}).value(), (json::array{"a", nullptr}));
    EXPECT_EQ(search.by_position({"a", 1}).value(), (json::array{"a", 1}));
    EXPECT_EQ(search.by_position({}).error().message(),
              "search: expected 1 to 2 arguments but found 0");
    EXPECT_EQ(search.by_position({"a", 1, 2}).error().message(),
              "search: expected 1 to 2 arguments but found 3");
}

TEST(function_definition, refuses_what_cannot_be_called) {
    const auto problem = [](const function_definition& definition) {
        const auto checked = definition.check();
        return checked ? "is usable" : checked.error().message();
    };
    const auto one = [](int) {};
    const auto two = [](int, int) {};
    EXPECT_EQ(problem(make_function("lookup-customer", "", {"id"}, one)), "is usable");
    EXPECT_EQ(problem(make_function("even?", "", {"id"}, one)), "is usable");
    EXPECT_NE(problem(make_function("", "", {"id"}, one)), "is usable");
    EXPECT_NE(problem(make_function("look up", "", {"id"}, one)), "is usable");
    EXPECT_NE(problem(make_function("7up", "", {"id"}, one)), "is usable");
    EXPECT_NE(problem(make_function("a\xFF", "", {"id"}, one)), "is usable");
    EXPECT_EQ(problem(make_function("one", "", {"an id"}, one)),
              "the function 'one': the name of a parameter is unusable: \"an id\"");
    EXPECT_EQ(problem(make_function("two", "", {"id", "id"}, two)),
              "the function 'two': two parameters have the name 'id'");
    function_definition empty;
    empty.name = "empty";
    EXPECT_EQ(problem(empty), "the function 'empty': nothing to invoke");
}

} // namespace
} // namespace heddle
