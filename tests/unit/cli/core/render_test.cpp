#include "render.hpp"

#include "call_counts.hpp"
#include "table.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/setup/display_text.hpp>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace heddle::cli {
namespace {

class render : public testing::Test {
protected:
    std::string shown(const std::string& json, unsigned columns = 0) {
        return render_result(lang::json_to_value(*memory, json).value(), columns).value();
    }
    /// Two names for the same part, at each of 60 levels.
    lang::value shared_map() {
        lang::value result = lang::json_to_value(*memory, R"({"a": 1})").value();
        for (int i = 0; i < 60; ++i) {
            lang::value level = lang::map_put(*memory, lang::value::empty_map(), "x", result);
            result = lang::map_put(*memory, std::move(level), "y", result);
        }
        return result;
    }
    lang::heap_owner memory{lang::heap::create()};
};

TEST_F(render, text_is_shown_as_it_is_with_one_line_end) {
    EXPECT_EQ(shown("\"a\\nb\""), "a\nb\n");
    EXPECT_EQ(shown("\"a\\n\""), "a\n");
    EXPECT_EQ(shown("null"), "");
    EXPECT_EQ(shown("[1, \"x\", 2.5]"), "(1 \"x\" 2.5)\n");
}

TEST_F(render, a_task_result_is_shown_as_its_content) {
    EXPECT_EQ(shown(R"({"status": "COMPLETE", "content": "said", "notes": {}})"), "said\n");
}

TEST_F(render, a_map_is_shown_member_by_member) {
    EXPECT_EQ(shown(R"({"n": 1, "none": [], "names": ["a", "b"], "rows": [{"x": 1}]})"),
              "n: 1\nnone: none\nnames:\n  - a\n  - b\n\nrows:\n\nx\n-\n1\n\n");
}

TEST_F(render, control_codes_in_cells_are_harmless) {
    EXPECT_EQ(shown("[{\"a\": \"x\\ny\\u001b[31m\"}]"), "a\n--------\nx y?[31m\n");
}

TEST_F(render, columns_are_aligned_whatever_the_script) {
    EXPECT_EQ(shown(R"([{"a": "日本", "b": "x"}, {"a": "abc", "b": "y"}])"),
              "a     b\n----  -\n日本  x\nabc   y\n");
}

TEST_F(render, a_table_fits_the_terminal) {
    const std::string row = R"([{"file": "a/very/long/path/to/a/file.cpp", "n": 12,
                                 "advice": "a sentence that is much too long for the line"}])";
    const std::string table = shown(row, 50);
    for (std::size_t at = 0; at < table.size();) {
        const std::size_t end = table.find('\n', at);
        EXPECT_LE(utf8::count(std::string_view(table).substr(at, end - at)), 50U) << table;
        at = end + 1;
    }
    EXPECT_NE(table.find("…"), std::string::npos);
    EXPECT_NE(table.find("12"), std::string::npos);
}

TEST_F(render, a_result_without_end_is_refused) {
    const lang::value shared = shared_map();
    const lang::value table = lang::make_list(*memory, std::vector<lang::value>{shared});
    const lang::value mixed = lang::make_list(*memory, std::vector<lang::value>{shared, {}});
    const lang::value member = lang::map_put(*memory, lang::value::empty_map(), "list", mixed);
    for (const lang::value& each : {shared, table, mixed, member}) {
        const auto text = render_result(each, 0);
        ASSERT_FALSE(text);
        EXPECT_EQ(text.error().message(), "the result is longer than 64 MiB as text");
        EXPECT_NE(text.error().info().hint.find("--json"), std::string::npos);
    }
}

// It was written to the end at 268 MB, after the limits of the run had ended.
TEST_F(render, a_written_form_without_end_is_refused) {
    const auto text = render_written_form(shared_map());
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().message(), "the result is longer than 64 MiB as text");
    const lang::value small = lang::make_list(*memory, std::vector<lang::value>{lang::value()});
    EXPECT_EQ(render_written_form(small).value(), "(nil)\n");
    const lang::value alone = lang::make_string(*memory, std::string(70'000'000, 'x'));
    EXPECT_EQ(render_written_form(alone).value().size(), 70'000'003U);
}

TEST_F(render, a_long_text_is_shown_whole) {
    const std::string text(50'000'000, 'x');
    const lang::value alone = lang::make_string(*memory, text);
    EXPECT_EQ(render_result(alone, 80).value(), text + "\n");
    const lang::value member = lang::map_put(*memory, lang::value::empty_map(), "all", alone);
    EXPECT_EQ(render_result(member, 80).value(), "all: " + text + "\n");
}

TEST_F(render, a_table_is_no_longer_than_its_cells) {
    // Not every row is as wide as the widest cell.
    std::string rows = "[{\"a\": \"" + std::string(100'000, 'x') + "\", \"b\": 2}";
    for (int i = 0; i < 5000; ++i) rows += ", {\"a\": 1, \"b\": 2}";
    const std::string table = shown(rows + "]");
    EXPECT_LT(table.size(), 2'000'000U);
    EXPECT_NE(table.find(std::string(100'000, 'x') + "  2\n"), std::string::npos);
    // Each row has a column of its own.
    rows = "[{\"first\": 1}";
    for (int i = 0; i < 5000; ++i) rows += ", {\"c" + std::to_string(i) + "\": 1}";
    EXPECT_FALSE(render_result(lang::json_to_value(*memory, rows + "]").value(), 0));
}

TEST(call_counts, report_waits_estimates_and_earlier_turns) {
    call_counts counts;
    for (int i = 0; i < 3; ++i) counts.on_task_started({"t", "p", "m"});
    counts.on_budget_wait(true);
    EXPECT_EQ(counts.summary(), "0 calls done, 2 running, 1 waiting for the budget");
    counts.on_budget_wait(false);
    counts.on_limit_wait(true);
    counts.on_limit_wait(true);
    EXPECT_EQ(counts.summary(), "0 calls done, 1 running, 2 waiting for a limit");
    counts.on_limit_wait(false);
    counts.on_limit_wait(false);
    tasks::task_finished event;
    event.usage.input = 10;
    event.cost_usd = 0.5;
    event.estimated = true;
    event.earlier_turns = 2;
    counts.on_task_finished(event);
    event.estimated = false;
    counts.on_task_finished(event);
    EXPECT_EQ(counts.summary(),
              "2 calls done, 1 running, 20 tokens in, 0 out, $1.00 (the usage of 1 "
              "call is estimated), 2 calls carried 4 earlier turns");
}

TEST(call_counts, count_kept_responses_apart_from_calls) {
    call_counts counts;
    for (int i = 0; i < 3; ++i) counts.on_task_started({"t", "p", "m"});
    tasks::task_finished event;
    event.cost_usd = 0;
    event.of_cache = true;
    counts.on_task_finished(event);
    counts.on_task_finished(event);
    EXPECT_TRUE(counts.any());
    EXPECT_EQ(counts.summary(), "0 calls done, 2 without a request, 1 running");
    counts.sources.cache = true;
    EXPECT_EQ(counts.summary(), "0 calls done, 2 from the cache, 1 running");
    const call_counts before = counts;
    event.of_cache = false;
    counts.on_task_finished(event);
    EXPECT_EQ(counts.summary(), "1 call done, 2 from the cache");
    EXPECT_EQ(counts.since(before).kept, 0U);
    counts.sources.journal = true;
    EXPECT_EQ(counts.summary(), "1 call done, 2 from the journal or the cache");
    counts.sources.batches = true;
    EXPECT_EQ(counts.summary(), "1 call done, 2 from batches, the journal or the cache");
    counts.sources = {};
    counts.replayed = true;
    EXPECT_EQ(counts.summary(), "1 response of the recording, 2 without a request");
}

TEST(display, cuts_at_characters) {
    EXPECT_EQ(setup::cut_to_width("äöü", 3), "äöü");
    EXPECT_EQ(setup::cut_to_width("äöüß", 3), "äö…");
    EXPECT_EQ(setup::cut_to_width("abc", 0), "");
    EXPECT_EQ(setup::cut_to_width("日本語", 6), "日本語");
    EXPECT_EQ(setup::cut_to_width("日本語", 5), "日本…");
    EXPECT_EQ(setup::cut_to_width("日本語", 4), "日…");
    EXPECT_EQ(utf8::count("äöü"), 3U);
}

TEST(display, groups_digits) {
    EXPECT_EQ(setup::grouped(0), "0");
    EXPECT_EQ(setup::grouped(999), "999");
    EXPECT_EQ(setup::grouped(1234567), "1,234,567");
    EXPECT_EQ(setup::grouped(-1234), "-1,234");
    EXPECT_EQ(setup::counted(1, "call"), "1 call");
    EXPECT_EQ(setup::counted(2000, "call"), "2,000 calls");
}

TEST(counts, leave_out_what_is_zero) {
    call_counts counts;
    EXPECT_EQ(counts.summary(), "0 calls done");
    EXPECT_FALSE(counts.any());
    counts.on_task_started({});
    counts.on_task_started({});
    tasks::task_finished ended;
    ended.usage.input = 1200;
    ended.usage.output = 34;
    counts.on_task_finished(ended);
    EXPECT_EQ(counts.summary(), "1 call done, 1 running, 1,200 tokens in, 34 out, cost unknown");
    ended.cost_usd = 0; // a local model
    ended.outcome = tasks::task_outcome::failed;
    counts.on_task_finished(ended);
    EXPECT_EQ(counts.summary(), "1 call done, 1 failed, 2,400 tokens in, 68 out, cost unknown");
}

TEST(counts, report_what_was_spent_and_what_is_not_known) {
    call_counts counts;
    tasks::task_finished ended;
    ended.usage.input = 1;
    ended.cost_usd = 0;
    counts.on_task_started({});
    counts.on_task_finished(ended);
    EXPECT_EQ(counts.summary(), "1 call done, 1 token in, 0 out");
    const auto add = [&](std::optional<double> cost) {
        ended.cost_usd = cost;
        counts.on_task_started({});
        counts.on_task_finished(ended);
        const std::string all = counts.summary();
        return all.substr(all.find(" out") + 4);
    };
    EXPECT_EQ(add(0.00123), ", $0.00123");
    EXPECT_EQ(add(0.1), ", $0.1012");
    EXPECT_EQ(add(1234.5), ", $1234.60");
    EXPECT_EQ(add(std::nullopt), ", $1234.60 and 1 call of unknown cost");
    EXPECT_EQ(add(std::nullopt), ", $1234.60 and 2 calls of unknown cost");
}

TEST(counts, json_has_costs_as_people_write_them) {
    call_counts counts;
    for (int i = 0; i < 60; ++i) counts.cost_usd += 0.0012;
    EXPECT_NE(render_counts_json(counts, exit_code::done).find("\"cost_usd\":0.072,"),
              std::string::npos);
}

TEST(counts, json_has_null_for_a_cost_that_is_not_known) {
    call_counts counts;
    counts.unpriced = 2;
    const error failure(errc::internal, "x");
    EXPECT_NE(render_error_json(failure, {}, exit_code::failed, counts)
                  .find("\"cost_usd\":null,\"unpriced\":2"),
              std::string::npos);
    counts.unpriced = 0;
    EXPECT_NE(render_error_json(failure, {}, exit_code::failed, counts).find("\"cost_usd\":0"),
              std::string::npos);
}

} // namespace
} // namespace heddle::cli
