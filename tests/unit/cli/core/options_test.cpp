#include "options.hpp"

#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

template <class Request>
Request parsed(std::vector<std::string> arguments) {
    auto made = parse_arguments(std::move(arguments));
    const auto* end = std::get_if<early_end>(&made);
    EXPECT_EQ(end, nullptr) << (end ? end->text : "");
    if (end) return {};
    return std::get<Request>(std::get<request>(std::move(made)));
}

early_end ended(std::vector<std::string> arguments) {
    auto made = parse_arguments(std::move(arguments));
    EXPECT_TRUE(std::holds_alternative<early_end>(made));
    return std::holds_alternative<early_end>(made) ? std::get<early_end>(made) : early_end{};
}

TEST(options, run_reads_everything) {
    const auto made = parsed<run_request>(
        {"run",           "w.heddle", "--input",     "a=1",      "-i",         "b:=[1,2]",
         "--input-json",  "in.json",  "--model",     "openai:m", "--base-url", "http://h/v1",
         "--concurrency", "7",        "--timeout",   "1.5",      "--json",     "-vv",
         "--seed",        "9",        "--workspace", "dir"});
    EXPECT_EQ(made.file, "w.heddle");
    EXPECT_EQ(made.inputs, (std::vector<std::string>{"a=1", "b:=[1,2]"}));
    EXPECT_EQ(made.input_json, "in.json");
    EXPECT_EQ(made.options.model, "openai:m");
    EXPECT_EQ(made.options.base_url, "http://h/v1");
    EXPECT_EQ(made.options.concurrency, 7U);
    EXPECT_EQ(made.options.timeout, std::chrono::milliseconds(1500));
    EXPECT_TRUE(made.options.json);
    EXPECT_EQ(made.options.verbosity, 2);
    EXPECT_EQ(made.options.seed, 9U);
    EXPECT_EQ(made.options.workspace, "dir");
}

TEST(options, have_defaults) {
    const auto made = parsed<run_request>({"run", "w.heddle"});
    EXPECT_FALSE(made.options.model);
    EXPECT_FALSE(made.options.timeout);
    EXPECT_FALSE(made.options.concurrency);
    EXPECT_EQ(made.options.verbosity, 0);
    EXPECT_EQ(made.options.workspace, ".");
}

TEST(options, an_input_does_not_swallow_the_file_behind_it) {
    const auto made = parsed<run_request>({"run", "-i", "a=1", "w.heddle"});
    EXPECT_EQ(made.file, "w.heddle");
    EXPECT_EQ(made.inputs.size(), 1U);
}

TEST(options, an_input_in_brackets_is_not_taken_apart) {
    EXPECT_EQ(parsed<run_request>({"run", "w", "-i", "[a=1,2]"}).inputs,
              (std::vector<std::string>{"[a=1,2]"}));
    EXPECT_EQ(parsed<eval_request>({"eval", "[list 1 2]"}).expression, "[list 1 2]");
}

TEST(options, quiet_and_verbose_exclude_each_other) {
    EXPECT_EQ(parsed<eval_request>({"eval", "1", "-q"}).options.verbosity, -1);
    EXPECT_EQ(ended({"eval", "1", "-q", "-v"}).code, exit_code::usage);
}

TEST(options, an_expression_may_begin_with_a_dash_after_two) {
    EXPECT_EQ(parsed<eval_request>({"eval", "--", "-5"}).expression, "-5");
}

TEST(options, unknown_ones_are_named_with_what_is_near) {
    const auto end = ended({"run", "w.heddle", "--concurency", "5"});
    EXPECT_EQ(end.code, exit_code::usage);
    EXPECT_NE(end.text.find("unknown option --concurency"), std::string::npos) << end.text;
    EXPECT_NE(end.text.find("did you mean '--concurrency'?"), std::string::npos) << end.text;
    EXPECT_NE(end.text.find("heddle run --help"), std::string::npos) << end.text;
    EXPECT_NE(ended({"evl", "1"}).text.find("did you mean 'eval'?"), std::string::npos);
    EXPECT_NE(ended({"model", "serv"}).text.find("did you mean 'serve'?"), std::string::npos);
}

TEST(options, a_timeout_must_be_a_sensible_number) {
    for (const char* wrong : {"0", "-1", "nan", "inf", "1e12", "soon"}) {
        EXPECT_EQ(ended({"eval", "1", std::string("--timeout=") + wrong}).code, exit_code::usage)
            << wrong;
    }
}

TEST(options, a_value_of_the_wrong_kind_is_named_with_what_the_option_is) {
    const std::string seconds = ended({"run", "a.heddle", "--timeout", "abc"}).text;
    EXPECT_NE(seconds.find("--timeout does not take 'abc'; it is: "), std::string::npos) << seconds;
}

TEST(options, serve_needs_rules) {
    const auto made = parsed<serve_request>(
        {"model", "serve", "--rules", "r.json", "--port", "8080", "--print-port", "-"});
    EXPECT_EQ(made.rules, "r.json");
    EXPECT_EQ(made.port, 8080);
    EXPECT_EQ(made.host, "127.0.0.1");
    EXPECT_EQ(made.print_port, "-");
    EXPECT_EQ(ended({"model", "serve"}).code, exit_code::usage);
    EXPECT_EQ(ended({"model", "serve", "--rules", "r", "--port", "70000"}).code, exit_code::usage);
}

} // namespace
} // namespace heddle::cli
