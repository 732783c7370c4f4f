// The tutorial on the machine's package lists, with fewer packages than it shows: what it prints
// has the form that the page shows, and the figures of both add up.
#include "batch_service.hpp"
#include "file_text.hpp"
#include "page_blocks.hpp"
#include "page_command.hpp"
#include "scratch_directory.hpp"

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace heddle::docs_test {
namespace {

constexpr const char* rows_of_page = "5000";
/// With HEDDLE_SOAK as many as the page shows.
const char* rows_of_test() { return std::getenv("HEDDLE_SOAK") ? rows_of_page : "400"; }

/// Without what varies: numbers, the widths of columns, the mistakes, and the rate, which is left
/// out when all rows end within a tenth of a second.
std::string form_of(const std::string& text) {
    std::string form = std::regex_replace(text, std::regex("[0-9][0-9,.]*"), "#");
    form = std::regex_replace(form, std::regex(", # rows/s"), "");
    form = std::regex_replace(form, std::regex("(^|\n)\\S+ as \\S+ +#"), "$1MISTAKE #");
    form = std::regex_replace(form, std::regex("-{2,}"), "--");
    return std::regex_replace(form, std::regex(" {2,}"), " ");
}

/// The number in the first group of an expression's first match.
std::size_t number_in(const std::string& text, const std::string& expression) {
    std::smatch found;
    if (!std::regex_search(text, found, std::regex(expression)))
        throw std::runtime_error(expression + " is not in:\n" + text);
    std::string digits = found[1];
    digits.erase(std::remove(digits.begin(), digits.end(), ','), digits.end());
    return std::stoul(digits);
}

/// What the commands of the page print, in their order.
struct printed_texts {
    std::string plan;
    std::vector<std::string> shows;
    std::vector<std::string> accuracies;

    void add(const std::string& command, const std::string& text) {
        if (command.ends_with("--plan")) plan = text;
        if (command.starts_with("heddle runs show ")) shows.push_back(text);
        if (command.starts_with("heddle run accuracy.heddle ")) accuracies.push_back(text);
    }
};

void expect_figures(const printed_texts& printed, std::size_t rows) {
    ASSERT_EQ(printed.shows.size(), 2U);
    EXPECT_EQ(number_in(printed.shows[0], "spent: ([0-9,]+) requests"), 2 * rows);
    EXPECT_EQ(number_in(printed.shows[1], "spent: ([0-9,]+) requests"), 3 * rows);
    for (const std::string& show : printed.shows)
        EXPECT_EQ(number_in(show, "rows: ([0-9,]+) done, 0 failed, 0 rejected, 0 begun"), rows);

    const std::string number = " +([0-9,]+)";
    EXPECT_EQ(number_in(printed.plan, "find-kind" + number + " +0 +0 +"), rows);
    EXPECT_EQ(number_in(printed.plan, "find-kind +[0-9,]+ +0 +0" + number), rows);
    EXPECT_EQ(number_in(printed.plan, "find-section" + number), rows);
    EXPECT_EQ(number_in(printed.plan, "find-section +[0-9,]+" + number + " +0 +0 "), rows);

    ASSERT_EQ(printed.accuracies.size(), 2U);
    const std::string right = "([0-9]+) of [0-9]+ are right";
    EXPECT_GT(number_in(printed.accuracies[1], right),
              number_in(printed.accuracies[0], right) + rows / 20);
    for (const std::string& accuracy : printed.accuracies) {
        EXPECT_EQ(number_in(accuracy, "[0-9]+ of ([0-9]+) are right"), rows);
        EXPECT_NEAR(
            static_cast<double>(number_in(accuracy, "right: ([0-9]+) %")),
            100.0 * static_cast<double>(number_in(accuracy, right)) / static_cast<double>(rows),
            0.5001);
    }
}

/// How many results have the answer that is known.
std::size_t right_results(const std::string& results) {
    std::size_t right = 0;
    std::istringstream in(results);
    for (std::string line; std::getline(in, line);) {
        const auto value = boost::json::parse(line).at("value").as_object();
        right += value.at("answer") == value.at("section") ? 1 : 0;
    }
    return right;
}

/// The same on the parking path: accuracy, an edit of the second prompt, the plan, and only that
/// step again.
void edit_parked(cli_test::scratch_directory& scratch, cli_test::batch_service& service) {
    constexpr std::size_t rows = 100;
    const auto run = [&](const std::string& command) {
        return output_of(command, scratch.path(), service.variables());
    };
    const std::string batch =
        "heddle batch classify.heddle --rows packages.jsonl --out parked.jsonl --id package "
        "--model openai:gpt-4o-mini --limit 100 --park";
    const auto expect_accuracy = [&] {
        const std::string accuracy = run("heddle run accuracy.heddle --input file=parked.jsonl");
        EXPECT_EQ(number_in(accuracy, "[0-9]+ of ([0-9]+) are right"), rows) << accuracy;
        EXPECT_EQ(number_in(accuracy, "([0-9]+) of [0-9]+ are right"),
                  right_results(scratch.text_of("parked.jsonl")));
    };
    expect_accuracy();
    std::string program = scratch.text_of("classify.heddle");
    const auto task = program.find("find-section");
    const auto prompt = program.find("(instructions \"", task);
    ASSERT_TRUE(task != std::string::npos && prompt != std::string::npos) << program;
    program.insert(prompt + std::string("(instructions \"").size(), "Take care. ");
    scratch.file("classify.heddle", program);
    const std::string plan = run(batch + " --plan");
    const std::string number = " +([0-9,]+)";
    EXPECT_EQ(number_in(plan, "find-kind +[0-9,]+ +0 +0" + number), rows) << plan;
    EXPECT_EQ(number_in(plan, "find-section +[0-9,]+" + number + " +0 +0 "), rows) << plan;
    const std::size_t before = service.batches();
    std::string said;
    for (int rounds = 0; rounds < 4 && said.find("100 done") == std::string::npos; ++rounds)
        said = run(batch);
    EXPECT_NE(said.find("100 of 100 rows: 100 done"), std::string::npos) << said;
    EXPECT_EQ(service.batches(), before + 1) << "only find-section was asked again";
    EXPECT_EQ(service.direct_calls(), 0);
    expect_accuracy();
}

TEST(packages_page, does_what_it_shows_with_the_packages_of_this_machine) {
    const auto page = text_of(std::filesystem::path(heddle::test_paths::source_folder()) /
                              "docs/tutorial/03-packages.md");
    cli_test::scratch_directory scratch;
    // For the requests with --park, whose first look finds that a batch has ended.
    cli_test::batch_service service;
    service.end_after_polls(1);
    printed_texts shown;
    printed_texts printed;
    std::size_t rows = 0;
    for (const page_step& step : steps_of_page(page)) {
        SCOPED_TRACE("line " + std::to_string(step.line) + ":\n" + step.text);
        if (step.what == page_step::kind::write_file) scratch.file(step.name, step.text);
        if (step.what != page_step::kind::command) continue;
        std::string command = step.text;
        const auto count = command.find(rows_of_page);
        if (count != std::string::npos)
            command.replace(count, std::string(rows_of_page).size(), rows_of_test());
        const std::string text = output_of(command, scratch.path(), service.variables());
        EXPECT_TRUE(output_matches(form_of(step.expected), form_of(text)))
            << "the page shows:\n"
            << step.expected << "the command prints:\n"
            << text;
        shown.add(step.text, step.expected);
        printed.add(step.text, text);
        if (count == std::string::npos) continue;
        const std::string packages = scratch.text_of("packages.jsonl");
        rows = static_cast<std::size_t>(std::count(packages.begin(), packages.end(), '\n'));
        if (rows < 100) GTEST_SKIP() << rows << " packages are too few to measure anything";
    }
    ASSERT_GE(rows, 100U);
    expect_figures(shown, std::stoul(rows_of_page));
    expect_figures(printed, rows);
    EXPECT_EQ(service.batches(), 2U);
    EXPECT_EQ(service.direct_calls(), 0);
    const std::string parked = scratch.text_of("parked.jsonl");
    EXPECT_EQ(std::count(parked.begin(), parked.end(), '\n'), 100);
    EXPECT_EQ(right_results(scratch.text_of("results.jsonl")),
              number_in(printed.accuracies.at(1), "([0-9]+) of [0-9]+ are right"));
    edit_parked(scratch, service);
}

} // namespace
} // namespace heddle::docs_test
