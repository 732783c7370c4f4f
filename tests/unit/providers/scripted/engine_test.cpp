#include "../provider_testing.hpp"

#include <heddle/scripted/engine.hpp>

#include <gtest/gtest.h>
#include <boost/json/serialize.hpp>
#include <hang_guard.hpp>
#include <hard_numbers.hpp>

#include <algorithm>
#include <set>

namespace heddle::testing {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using ports::chat_role;
using scripted::engine;
using scripted::fault;
using scripted::outcome;
using scripted::rules_report;

std::shared_ptr<engine> load(std::string_view rules) {
    auto parsed = engine::parse(rules, "test.json");
    if (!parsed) throw std::runtime_error(parsed.error().message());
    return *parsed;
}

ports::chat_response reply(engine& model, const ports::chat_request& request) {
    outcome result = model.answer(request);
    if (const auto* failed = std::get_if<fault>(&result.response))
        throw std::runtime_error(failed->message);
    return std::get<ports::chat_response>(std::move(result.response));
}

std::string text_of(std::string_view rules, const std::string& prompt) {
    const auto model = load(rules);
    return reply(*model, user_request(prompt)).text;
}

std::string with_template(const std::string& text, const std::string& prompt,
                          const std::string& match = "(?s)(?P<all_of_it>.*)") {
    json::object rule{{"match", match}, {"template", text}};
    return text_of(json::serialize(json::object{{"rules", json::array{rule}}}), prompt);
}

std::vector<std::string> mistakes_of(std::string_view rules) {
    const auto parsed = engine::parse(rules, "test.json");
    std::vector<std::string> paths;
    if (parsed) return paths;
    const auto report =
        std::dynamic_pointer_cast<const rules_report>(parsed.error().info().payload);
    if (!report) return {"no report"};
    for (const auto& one : report->mistakes) paths.push_back(one.path + ": " + one.what);
    return paths;
}

TEST(scripted_engine, rules_are_tried_in_order_and_the_default_last) {
    const auto model = load(R"({"default":{"text":"d"},"rules":[
        {"match":"a.c","text":"1"},{"match":{"user":"abc","system":"^x$"},"text":"2"},
        {"match":{"model":"^big"},"text":"3"}]})");
    EXPECT_EQ(reply(*model, user_request("abc")).text, "1");
    EXPECT_EQ(reply(*model, user_request("zzz")).text, "d");
    EXPECT_EQ(reply(*model, user_request("zzz", "big-1")).text, "3");
    EXPECT_EQ(model->rule_count(), 4U);
}

TEST(scripted_engine, calls_have_the_numbers_of_the_rules) {
    const auto model =
        load(R"({"rules":[{"match":"a","tool_calls":[{"name":"f","arguments":{"n":)" +
             json_of_numbers(hard_numbers()) + "}}]}]}");
    const auto called = reply(*model, user_request("a"));
    EXPECT_EQ(bits_in(called.tool_calls.at(0).arguments_json), bits_of(hard_numbers()));
}

TEST(scripted_engine, each_part_of_a_prompt_can_be_matched) {
    const auto model = load(R"json({"rules":[
        {"match":{"tool":"temp\":(\\d+)"},"template":"It is {{1}} degrees."},
        {"match":{"user":"weather","tool":"^$"},"tool_calls":[{"name":"w","arguments":{"n":"{{words}}"}}]},
        {"match":{"system":"^a\nb$"},"text":"both"},
        {"match":{"prompt":"first\nanswer\nsecond"},"template":"{{user}}|{{model}}|{{chars@prompt}}"}]})json");
    ports::chat_request request = user_request("the weather?");
    const auto called = reply(*model, request);
    ASSERT_EQ(called.tool_calls.size(), 1U);
    EXPECT_EQ(called.tool_calls[0].arguments_json, R"({"n":2})");
    EXPECT_EQ(called.finish, ports::finish_reason::tool_calls);
    request.messages.push_back({chat_role::assistant, "", called.tool_calls, {}, {}});
    request.messages.push_back(
        {chat_role::tool, R"({"temp":18})", {}, called.tool_calls[0].id, "w"});
    EXPECT_EQ(reply(*model, request).text, "It is 18 degrees.");

    ports::chat_request systems = user_request("q");
    systems.messages.push_back({chat_role::system, "a", {}, {}, {}});
    systems.messages.push_back({chat_role::system, "b", {}, {}, {}});
    EXPECT_EQ(reply(*model, systems).text, "both");

    ports::chat_request turns = user_request("first", "m");
    turns.messages.push_back({chat_role::assistant, "answer", {}, {}, {}});
    turns.messages.push_back({chat_role::user, "second", {}, {}, {}});
    EXPECT_EQ(reply(*model, turns).text, "second|m|19");
}

TEST(scripted_engine, unmatched_prompt_names_the_file_and_shows_its_beginning) {
    const auto model = load(R"({"rules":[{"match":"^never$","text":"x"}]})");
    const outcome result =
        model->answer(user_request("Tell me\na \"story\" " + std::string(500, 'x')));
    const auto& failed = std::get<fault>(result.response);
    EXPECT_EQ(failed.status, 400);
    EXPECT_EQ(failed.code, "no_matching_rule");
    EXPECT_TRUE(failed.message.starts_with(
        R"(no rule of test.json matches the prompt that begins "Tell me a \"story\" xxx)"));
    EXPECT_LT(failed.message.size(), 200U);
}

TEST(scripted_engine, derivations_are_correct) {
    const std::string text = "one two\nthree żółć\n\nfour two\n";
    EXPECT_EQ(with_template("{{lines}} {{words}} {{chars}} {{bytes}}", text), "4 6 29 33");
    EXPECT_EQ(with_template("{{count:two}} {{count:^\\w}} {{count:nothing}}", text), "2 3 0");
    EXPECT_EQ(with_template("{{first:t\\w+}}/{{last:t\\w+}}/{{first:zzz}}", text), "two/two/");
    EXPECT_EQ(with_template("{{all:\\bt\\w+}}", text), "two, three");
    EXPECT_EQ(with_template("{{longest:\\w+}}/{{longest:^.*$}}", text), "three/three żółć");
    EXPECT_EQ(with_template("{{hash}}", "").size(), 16U);
    EXPECT_EQ(with_template("{{hash}}", "a"), "af63dc4c8601ec8c"); // FNV-1a's published value
    EXPECT_NE(with_template("{{hash}}", "a"), with_template("{{hash}}", "b"));
}

TEST(scripted_engine, expressions_may_hold_braces) {
    EXPECT_EQ(with_template("{{first:\\d{3}}}", "12 345"), "345");
    EXPECT_EQ(with_template("{\"n\":{{lines}}}", "x"), "{\"n\":1}");
    EXPECT_EQ(with_template("{\"n\":{{count:x}}}", "x"), "{\"n\":1}");
    EXPECT_EQ(with_template("{{count:[{}]}} {{count:\\{}} {{count:[]}]}}", "a{b}c]"), "2 1 2");
}

TEST(scripted_engine, groups_are_numbered_through_all_patterns) {
    EXPECT_EQ(text_of(R"json({"rules":[{"match":{"model":"(g)(p)t","user":"x(.)(?P<n>.)"},
        "template":"{{0}} {{1}}{{2}} {{3}}{{4}} {{n}}"}]})json",
                      "xyz"),
              "gpt gp yz z");
    EXPECT_EQ(
        text_of(R"json({"rules":[{"match":"a(b)?(c)","template":"[{{1}}][{{2}}]"}]})json", "ac"),
        "[][c]");
}

TEST(scripted_engine, json_responses_are_escaped_and_typed) {
    const std::string rules = R"json({"rules":[{"match":"(?s)^(?P<a>\\S+) (?P<text>.*)$","json":{
        "a":"{{a}}","s":"{{string@a}}","in":"<{{text}}>","n":"{{lines}}","l":"{{all:\\w+}}","k":[1.5,true,null,{}],
        "none":"{{first:zzz}}"}}]})json";
    const json::value read = json::parse(text_of(rules, "007 \"x\"\n\\y\t\x01"));
    EXPECT_EQ(read.at("a"), "007"); // no JSON number
    EXPECT_EQ(read.at("in"), "<\"x\"\n\\y\t\x01>");
    EXPECT_EQ(read.at("n"), 2);
    EXPECT_EQ(read.at("l"), (json::array{"x", "y"}));
    EXPECT_EQ(read.at("k"), (json::array{1.5, true, nullptr, json::object{}}));
    EXPECT_EQ(read.at("none"), "");
    const json::value number = json::parse(text_of(rules, "-3.50 x"));
    EXPECT_EQ(number.at("a").to_number<double>(), -3.5);
    EXPECT_EQ(number.at("s"), "-3.50");
    EXPECT_EQ(json::parse(text_of(rules, "1e99999 x")).at("a"), "1e99999");
}

TEST(scripted_engine, longest_block_ends_where_the_language_ends_it) {
    const std::string header = "^[ \\t]*(?:def|function|fn)\\s+(\\w+)";
    const auto longest = [&](const std::string& text) {
        return with_template(
            "{{longest-block:" + header + "}} {{longest-block-lines:" + header + "}}", text);
    };
    EXPECT_EQ(longest("def a():\n    1\n    2\n\nx = 3\ny = 4\nz = 5\ndef b():\n    1\n"), "a 3");
    EXPECT_EQ(longest("function a()\n  1\nend\nother\nother\nother\nfunction b()\n  1\n  2\nend\n"),
              "b 4");
    EXPECT_EQ(longest("fn a() {\n  if x {\n  }\n}\nstatic x;\nstatic y;\nstatic z;\n"), "a 4");
    EXPECT_EQ(longest("fn a() { }\nlet x;\nlet y;\n"), "a 1");
    EXPECT_EQ(longest("class X {\n    fn a() {\n#ifdef Y\n        1;\n#endif\n    }\n    fn b() "
                      "{\n    }\n};\n"),
              "a 5");
    EXPECT_EQ(longest("no header"), " 0");
    EXPECT_EQ(longest("fn a() {"), "a 1");
    EXPECT_EQ(longest("fn a() {\r\n}\r\n\r\n"), "a 2");
}

TEST(scripted_engine, errors_come_by_count_and_by_chance_of_the_seed) {
    const auto failures = [](const std::string& when, int calls) {
        const auto model = load(
            R"({"seed":3,"rules":[{"match":"","text":"ok","error":{"status":503,)" + when + "}}]}");
        std::string seen;
        for (int i = 0; i < calls; ++i) {
            const outcome result = model->answer(user_request("x"));
            seen += std::holds_alternative<fault>(result.response) ? 'x' : '.';
        }
        return seen;
    };
    EXPECT_EQ(failures(R"("times":2)", 5), "xx...");
    EXPECT_EQ(failures(R"("every":3)", 7), "..x..x.");
    EXPECT_EQ(failures(R"("message":"m")", 2), "xx");
    const std::string random = failures(R"("probability":0.3)", 1000);
    EXPECT_EQ(random, failures(R"("probability":0.3)", 1000));
    EXPECT_NEAR(static_cast<double>(std::count(random.begin(), random.end(), 'x')), 300, 60);
    EXPECT_EQ(failures(R"("probability":0)", 3), "...");
    EXPECT_EQ(failures(R"("probability":1)", 3), "xxx");
}

TEST(scripted_engine, delays_lie_in_their_range_and_repeat) {
    const std::string rules = R"({"seed":5,"rules":[{"match":"","text":"x","delay_ms":[10,20]}]})";
    const auto one = load(rules);
    const auto two = load(rules);
    std::set<std::int64_t> seen;
    for (int i = 0; i < 200; ++i) {
        const auto delay = one->answer(user_request("x")).delay;
        EXPECT_EQ(delay, two->answer(user_request("y")).delay);
        EXPECT_GE(delay, 10ms);
        EXPECT_LE(delay, 20ms);
        seen.insert(delay.count());
    }
    EXPECT_EQ(seen.size(), 11U);
}

TEST(scripted_engine, usage_is_estimated_given_or_left_out) {
    const auto model = load(
        R"({"rules":[{"match":"g","text":"x","usage":{"input":5,"cached":2,"output":4,"reasoning":3}},
        {"match":"n","text":"x","usage":null}],"default":{"text":"12345"}})");
    const auto given = reply(*model, user_request("g")).usage.value();
    EXPECT_EQ(given.input, 5);
    EXPECT_EQ(given.output, 4);
    EXPECT_EQ(given.cached, 2);
    EXPECT_EQ(given.cache_written, 0);
    EXPECT_EQ(given.reasoning, 3);
    EXPECT_FALSE(reply(*model, user_request("n")).usage);
    EXPECT_EQ(reply(*model, user_request("123456789")).usage.value().input, 3);
    EXPECT_EQ(reply(*model, user_request("123456789")).usage.value().output, 2);
}

TEST(scripted_engine, all_mistakes_are_reported_with_their_place) {
    const auto mistakes = mistakes_of(R"json({"seed":-1,"models":[],"colour":1,"rules":[
        {"match":"(","text":"x"}, {"text":"x"}, {"match":"a"}, {"match":{"usr":"a"},"text":"x"},
        {"match":"a","text":"x","template":"y"}, {"match":"a","template":"{{b}}"},
        {"match":"a","template":"{{count}}"}, {"match":"a","json":{"k":["{{first:(}}"]}},
        {"match":"a","text":1}, {"match":"a","text":"x","delay_ms":[5,1]},
        {"match":"a","text":"x","error":{"code":"c","times":1,"every":2}},
        {"match":"a","error":{"status":200}}, {"match":"a","tool_calls":[{"arguments":[]}]},
        {"match":"(?P<user>a)","text":"x"}, {"match":"a","text":"x","finish":"done"}, 7,
        {"match":"a","template":"{{1}} {{open"}, {"match":"a","error":{"status":500,"times":1}}
        ]})json");
    const std::vector<std::string> begins = {"colour: is not known here",
                                             "seed: must be",
                                             "models: must be",
                                             "rules[0].match: the expression",
                                             "rules[1]: lacks its match",
                                             "rules[2]: has no response",
                                             "rules[3].match.usr: is not known",
                                             "rules[4]: has more than one",
                                             "rules[5].template: unknown name",
                                             "rules[6].template: \"{{count}}\" lacks",
                                             "rules[7].json.k[0]: the expression",
                                             "rules[8].text: must be a string",
                                             "rules[8]: has no response",
                                             "rules[9].delay_ms: begins",
                                             "rules[10].error: lacks its status",
                                             "rules[10].error: has more than one",
                                             "rules[11].error.status: must be a number",
                                             "rules[12].tool_calls[0].name",
                                             "rules[12].tool_calls[0].arguments",
                                             "rules[13].match: the group name 'user' is taken",
                                             "rules[14].finish",
                                             "rules[15]: must be an object",
                                             "rules[16].template: there is no group 1",
                                             "rules[17]: fails at times"};
    for (const std::string& wanted : begins) {
        const bool reported =
            std::any_of(mistakes.begin(), mistakes.end(),
                        [&](const std::string& one) { return one.starts_with(wanted); });
        EXPECT_TRUE(reported) << wanted;
    }
    EXPECT_EQ(mistakes.size(), begins.size());
    const auto failed = engine::parse("{}", "empty.json");
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message(), "empty.json: has neither rules nor a default");
}

TEST(scripted_engine, hostile_files_end_in_an_error) {
    EXPECT_EQ(mistakes_of("{\n\"rules\": [\n,]}")[0].substr(0, 18), "line 3: is not JSO");
    EXPECT_EQ(mistakes_of("").size(), 1U);
    EXPECT_EQ(mistakes_of("{} x").size(), 1U);
    EXPECT_EQ(mistakes_of("[]").size(), 1U);
    EXPECT_EQ(mistakes_of(std::string(100000, '[')).size(), 1U);
    EXPECT_EQ(mistakes_of("{\"rules\":[{\"match\":\"\xff\",\"text\":\"x\"}]}").size(), 1U);
    std::string groups = R"({"rules":[{"match":")";
    for (int i = 0; i < 70; ++i) groups += "(a)?";
    EXPECT_EQ(mistakes_of(groups + R"(","template":"{{69}}"}]})").size(), 2U);
    std::string many = R"({"rules":[)";
    for (int i = 0; i < 500; ++i) many += "1,";
    EXPECT_LE(mistakes_of(many + "1]}").size(), 100U);
}

// Minutes, if each piece looked through all of the rest.
TEST(scripted_engine, pieces_of_a_long_text_without_blanks_are_made_at_once) {
    const std::string text(16'000'000, 'x');
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(scripted::stream_pieces(text).size(), text.size() / 64);
    EXPECT_LT(std::chrono::steady_clock::now() - began, hang_guard::limit);
}

TEST(scripted_engine, stream_pieces_join_to_the_text_and_cut_no_character) {
    std::string text = "The loom holds the warp threads under tension.\n\nŻółć ";
    for (int i = 0; i < 100; ++i) text += "日本語";
    std::string joined;
    for (const auto piece : scripted::stream_pieces(text)) {
        EXPECT_FALSE(piece.empty());
        EXPECT_LE(piece.size(), 66U);
        EXPECT_NE(static_cast<unsigned char>(piece[0]) & 0xC0, 0x80);
        joined += piece;
    }
    EXPECT_EQ(joined, text);
    EXPECT_TRUE(scripted::stream_pieces("").empty());
}

/// Runs the blocks of a page: rules, and prompts with what they must give.
TEST(scripted_engine, the_reference_page_is_true) {
    const std::string page = read_file(source_file("docs/reference/scripted-model.md"));
    std::shared_ptr<engine> model;
    std::optional<outcome> given;
    int rules = 0;
    int checked = 0;
    for (std::size_t at = 0; (at = page.find("```", at)) != std::string::npos;) {
        const std::size_t line = page.find('\n', at);
        const std::string kind = page.substr(at + 3, line - at - 3);
        const std::size_t end = page.find("\n```", line);
        const std::string block = page.substr(line + 1, end - line - 1);
        at = page.find('\n', end + 1);
        SCOPED_TRACE(block);
        if (kind == "json rules") {
            model = load(block);
            ++rules;
        } else if (kind == "text prompt") {
            ASSERT_TRUE(model);
            given = model->answer(user_request(block + "\n"));
        } else if (kind == "text reply" || kind == "json reply") {
            ASSERT_TRUE(given && std::holds_alternative<ports::chat_response>(given->response));
            const std::string text = std::get<ports::chat_response>(given->response).text;
            if (kind == "text reply") {
                EXPECT_EQ(text, block);
            } else {
                EXPECT_EQ(json::parse(text), json::parse(block));
            }
            ++checked;
        } else if (kind == "text error") {
            ASSERT_TRUE(given && std::holds_alternative<fault>(given->response));
            const fault& failed = std::get<fault>(given->response);
            EXPECT_EQ(std::to_string(failed.status) + " " + failed.code + " " + failed.message,
                      block);
            ++checked;
        } else {
            ADD_FAILURE() << "unknown kind of block: " << kind;
        }
    }
    EXPECT_EQ(rules, 4);
    EXPECT_EQ(checked, 8);
}

} // namespace
} // namespace heddle::testing
